"""kill -9 while the owner is told something: nothing is told twice, and a doubt says so."""

import json
import signal
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from tests import forks
from tests.engine import notices_worker
from tests.engine.lives import ended, environ

WORKER = str(Path(notices_worker.__file__))
PLACES = [
    f"{verb}:{when}"
    for verb in ("decide", "claim_notices", "settle_notices")
    for when in ("before", "after")
]
IN_A_SEND = ["notice:claimed", "request:half", "request:accepted", "notice:answered"]
# Whoever is killed there does not know whether it arrived.
CUT = {*IN_A_SEND, "claim_notices:after", "settle_notices:before"}

BEFORE = {"decide:before", "decide:after", "claim_notices:before"}

pytestmark = pytest.mark.soak


class Life:
    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir()

    def lives(self, failpoint: str = "") -> int:
        env = environ(REMIT_FAILPOINT=failpoint)
        process = forks.start(WORKER, str(self.home), env=env, stderr=subprocess.PIPE)
        errors = ended(process)
        assert process.returncode in (0, -signal.SIGKILL), errors
        return process.returncode or 0

    def notices(self) -> dict[str, tuple[str, str]]:
        """Those that went by the channel: the state of each, and what it is about."""
        with closing(sqlite3.connect(self.home / "agent.db")) as connection:
            found = connection.execute(
                "SELECT id, state, about FROM notices WHERE way = 'outbox'"
            ).fetchall()
        return {str(ident): (str(state), str(about)) for ident, state, about in found}

    def accepted(self) -> Counter[str]:
        path = self.home / "provider.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return Counter(json.loads(line)["key"] for line in lines)

    def judge(self) -> list[str]:
        """Each once at most, none forgotten; return the states."""
        told, accepted = self.notices(), self.accepted()
        assert len({about for _, about in told.values()}) == len(notices_worker.REFS)
        assert len(told) == len(notices_worker.REFS)
        assert set(accepted.values()) <= {1}
        assert accepted.keys() <= told.keys()
        for ident, (state, _) in told.items():
            assert accepted[ident] in {"sent": (1,), "unknown": (0, 1)}[state], (ident, state)
        return [state for state, _ in told.values()]

    def turns(self) -> list[int]:
        """How often each thing was said in a conversation."""
        with closing(sqlite3.connect(self.home / "agent.db")) as connection:
            sql = "SELECT COUNT(*) FROM turns WHERE key LIKE 'event:%' GROUP BY key"
            return [row[0] for row in connection.execute(sql)]


@pytest.mark.parametrize("place", [*PLACES, *IN_A_SEND])
def test_a_kill_around_a_notice_tells_nothing_twice(tmp_path: Path, place: str) -> None:
    life = Life(tmp_path / "life")
    assert life.lives(f"{place}:1") == -signal.SIGKILL, "a failpoint that does not fire is no test"
    assert life.lives() == 0

    states = life.judge()
    assert "unknown" in states or place not in CUT
    assert "unknown" not in states or place not in BEFORE
    assert set(life.turns()) <= {1}


def test_a_kill_after_a_kill_tells_nothing_twice(tmp_path: Path) -> None:
    life = Life(tmp_path / "life")
    for place in ("notice:claimed:1", "doubt_claimed:after:1", "request:accepted:1"):
        assert life.lives(place) == -signal.SIGKILL
    assert life.lives() == 0

    assert life.judge().count("unknown") >= 2
