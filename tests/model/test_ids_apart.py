"""Attack 52: two processes make many names in one millisecond, and none of them twice."""

import subprocess
import sys
from itertools import pairwise
from typing import Final

from tests.soak import SOAK

MANY: Final = 100_000 if SOAK else 20_000
MAKE: Final = f"""
import secrets
from datetime import UTC, datetime
from remit.model.ids import Ids
START = datetime(2026, 2, 22, tzinfo=UTC)  # the same millisecond for all: the worst of clocks
ids = Ids(lambda: START, secrets.randbits)
print("\\n".join(ids.ulid() for _ in range({MANY})))
"""


def test_two_processes_in_the_same_millisecond_never_make_the_same_name() -> None:
    both = [
        subprocess.Popen([sys.executable, "-c", MAKE], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    made = [each.communicate()[0].split() for each in both]

    assert [each.returncode for each in both] == [0, 0]
    assert [len(each) for each in made] == [MANY, MANY]
    assert all(each == sorted(each) for each in made)
    assert len({*made[0], *made[1]}) == 2 * MANY


def test_what_comes_next_is_not_the_number_after_it() -> None:
    """Who has seen one name cannot count on to the next."""
    told = subprocess.run(
        [sys.executable, "-c", MAKE.replace(str(MANY), "200")], stdout=subprocess.PIPE, check=True
    )
    letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    numbers = [
        sum(letters.index(each) << 5 * n for n, each in enumerate(reversed(name)))
        for name in told.stdout.decode().split()
    ]
    steps = {later - one for one, later in pairwise(numbers)}

    assert len(steps) > 190
    assert min(steps) > 1
