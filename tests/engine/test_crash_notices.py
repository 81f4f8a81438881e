"""kill -9 while the owner is told something: nothing is told twice, and a doubt says so."""

from collections import Counter
from pathlib import Path

import pytest

from tests.engine import notices_worker
from tests.engine.lives import Home

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


class Life(Home):
    cut_sends = "SELECT id FROM notices WHERE state = 'claimed'"

    def lives(self, failpoint: str = "") -> bool:
        """Run until the failpoint, if it is reached, or to the end."""
        return not self.died(self.run(WORKER, str(self.home), failpoint=failpoint))

    def judge(self) -> list[str]:
        """Each once at most, none forgotten; return the states."""
        sql = "SELECT id, state, about FROM notices WHERE way = 'outbox'"
        told = {str(name): (str(state), str(about)) for name, state, about in self.ask(sql)}
        accepted = Counter(self.accepted())
        assert len({about for _, about in told.values()}) == len(notices_worker.REFS)
        assert len(told) == len(notices_worker.REFS)
        assert set(accepted.values()) <= {1}
        assert accepted.keys() <= told.keys()
        for ident, (state, _) in told.items():
            assert accepted[ident] in {"sent": (1,), "unknown": (0, 1)}[state], (ident, state)
        return [state for state, _ in told.values()]

    def turns(self) -> list[object]:
        """How often each thing was said in a conversation."""
        sql = "SELECT COUNT(*) FROM turns WHERE key LIKE 'event:%' GROUP BY key"
        return [row[0] for row in self.ask(sql)]


@pytest.mark.parametrize("place", [*PLACES, *IN_A_SEND])
def test_a_kill_around_a_notice_tells_nothing_twice(tmp_path: Path, place: str) -> None:
    life = Life(tmp_path / "life")
    assert not life.lives(f"{place}:1"), "a failpoint that does not fire is no test"
    assert life.lives()

    states = life.judge()
    assert "unknown" in states or place not in CUT
    assert "unknown" not in states or place not in BEFORE
    assert set(life.turns()) <= {1}


def test_a_kill_after_a_kill_tells_nothing_twice(tmp_path: Path) -> None:
    life = Life(tmp_path / "life")
    for place in ("notice:claimed:1", "doubt_claimed:after:1", "request:accepted:1"):
        assert not life.lives(place)
    assert life.lives()

    assert life.judge().count("unknown") >= 2
