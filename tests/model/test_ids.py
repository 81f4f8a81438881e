"""Names never repeat and never sort before an earlier one, whatever the clock does."""

import re
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from itertools import pairwise
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import BadInput
from remit.model.ids import RANDOM_BITS, Ids, encode, review_id, task_id
from tests.model.values import MOMENTS
from tests.soak import SOAK
from tests.tables import for_each

MOST = 2**RANDOM_BITS - 1
CHANCES = st.integers(0, MOST)
START = datetime(2026, 2, 22, 15, 30, tzinfo=UTC)
ULID = "01JZ8Q4Y7N8WZ0V5T3K2M1P9RA"


class Scripted:
    """A clock and a die that show what they are told to; the last throw lasts for ever."""

    def __init__(self, throws: list[tuple[datetime, int]]) -> None:
        self._throws = throws
        self._next = 0

    def now(self) -> datetime:
        return self._throws[min(self._next, len(self._throws) - 1)][0]

    def chance(self, bits: int) -> int:
        thrown = self._throws[min(self._next, len(self._throws) - 1)][1]
        self._next += 1
        return thrown >> (RANDOM_BITS - bits)

    def ids(self) -> Ids:
        return Ids(self.now, self.chance)


@given(st.lists(st.tuples(MOMENTS, CHANCES), min_size=2, max_size=30))
def test_an_id_never_repeats_and_never_sorts_before_the_last(
    throws: list[tuple[datetime, int]],
) -> None:
    ids = Scripted(throws).ids()

    made = [ids.ulid() for _ in throws]

    assert made == sorted(set(made))
    assert all(task_id(ulid) == f"task-{ulid}" for ulid in made)


def test_a_clock_before_1970_still_gives_names() -> None:
    ids = Scripted([(datetime(1, 1, 1, tzinfo=UTC), 0)]).ids()

    assert ids.ulid() == "00000000000000000000000001"


def test_the_first_letters_tell_names_of_one_millisecond_apart() -> None:
    ids = Ids(lambda: START, Random(7).getrandbits)  # noqa: S311 - any throws will do

    made = [ids.ulid()[:16] for _ in range(100)]

    assert len(set(made)) == 100


@given(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1))
def test_names_sort_as_their_numbers_do(one: int, other: int) -> None:
    assert (one < other) is (encode(one) < encode(other))
    assert re.fullmatch("[0-7][0-9A-HJKMNP-TV-Z]{25}", encode(one))


def test_each_thing_has_its_prefix() -> None:
    ids = Scripted([(START, 0)]).ids()

    made = [ids.task(), ids.run(), ids.review(), ids.delivery(), ids.session(), ids.worker()]

    assert [name.split("-")[0] for name in made] == ["task", "run", "rev", "dlv", "ses", "wrk"]
    assert all(len(name.split("-")[1]) == 26 for name in made)


@for_each("text", [f"task-{ULID}", ULID, ULID.lower(), f" TASK-{ULID.lower()}\n"])
def test_an_id_is_read_as_people_write_it(text: str) -> None:
    assert task_id(text) == f"task-{ULID}"


def test_a_review_is_read_by_its_own_prefix() -> None:
    assert review_id(f"rev-{ULID}") == review_id(ULID) == f"rev-{ULID}"
    with pytest.raises(BadInput, match="is not a review id"):
        review_id(f"task-{ULID}")


@for_each("text", ["", "task-", "task-1", f"run-{ULID}", "U" * 26, "8" * 26])
def test_what_is_no_id_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadInput) as bad:
        task_id(text)

    assert str(bad.value) == f"{text!r} is not a task id; one looks like task-{ULID}."
    assert bad.value.field == "id"


def test_a_refused_id_is_shown_only_as_far_as_one_reads() -> None:
    with pytest.raises(BadInput) as bad:
        task_id("x" * 10_000)

    assert "x" * 57 + "...'" in str(bad.value)
    assert len(str(bad.value)) < 160


@given(st.text(max_size=40))
def test_whatever_is_typed_an_id_is_read_or_refused(text: str) -> None:
    try:
        read = task_id(text)
    except BadInput:
        return
    assert task_id(read) == read


def test_two_threads_never_draw_the_same_name() -> None:
    def chance(_: int) -> int:
        time.sleep(0)  # lets the other thread in, in the middle of a draw
        return 0

    ids = Ids(lambda: START, chance)
    drawn: list[list[str]] = [[], []]

    def draw(mine: list[str]) -> None:
        mine += [ids.ulid() for _ in range(2_000)]

    threads = [threading.Thread(target=draw, args=(mine,)) for mine in drawn]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len({*drawn[0], *drawn[1]}) == 4_000
    assert all(mine == sorted(mine) for mine in drawn)


# Two processes ------------------------------------------------------------------------------------

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
