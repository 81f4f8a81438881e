"""kill -9 at every place where something is written or sent: nothing is lost, nothing is doubled.

In `make test` every third failpoint is hit, in `make soak` each one, and 500 kills come at random,
several in a row. Rule of three: no failure in 500 kills means less than 0.6 % per kill, at 95 %
confidence.
"""

import random
from pathlib import Path

import pytest

from tests.engine.lives import Life
from tests.soak import SOAK, first_of, one_in

SEEDS = 100 if SOAK else 1
KILLS_A_SEED = 5

# Every write there is in a life, and every moment of a send.
VERBS = [
    "admit",
    "pause",
    "beat",
    "release_orphans",
    "rank_page",
    "claim",
    "record_steps",
    "say",
    "move",
    "finish",
    "claim_send",
    "settle_send",
    "post",
    "decide",
    "resume",
    "hasten",
    "cancel",
    "delete",
    "undelete",
    "leave",
]
AROUND_WRITES = [f"{verb}:{when}" for verb in VERBS for when in ("before", "after")]
IN_A_SEND = ["send:claimed", "request:half", "request:accepted", "send:answered"]
AFTER_A_CUT = ["doubt:before", "doubt:after"]
KNOWN = {*AROUND_WRITES, *IN_A_SEND, *AFTER_A_CUT}

# Twice in a row, and not at the first time that it is passed.
LATER = [
    ("finish:before:9", "claim:after:2"),
    ("settle_send:before:7", "release_orphans:after:1"),
]

pytestmark = pytest.mark.soak


@one_in(3)
@pytest.mark.parametrize("place", [*AROUND_WRITES, *IN_A_SEND])
def test_a_kill_loses_nothing_and_repeats_nothing(tmp_path: Path, place: str) -> None:
    life = Life(tmp_path / "life")

    assert life.killed_at(f"{place}:1"), "a failpoint that does not fire proves nothing"
    life.lives_on()

    life.judge()
    if place in IN_A_SEND or place in ("claim_send:after", "settle_send:before"):
        assert life.cut
    if place in ("request:accepted", "send:answered"):
        assert life.accepted()


@one_in(2)
@pytest.mark.parametrize("place", AFTER_A_CUT)
def test_a_kill_while_a_doubt_is_written_down_changes_nothing(tmp_path: Path, place: str) -> None:
    life = Life(tmp_path / "life")

    assert life.killed_at("request:accepted:1")
    assert life.killed_at(f"{place}:1")
    life.lives_on()

    life.judge()
    assert life.cut


@pytest.mark.parametrize("places", first_of(LATER), ids=" then ".join)
def test_kills_in_a_row(tmp_path: Path, places: tuple[str, ...]) -> None:
    life = Life(tmp_path / "life", fresh=True)

    for place in places:
        assert life.killed_at(place)
    life.lives_on()

    life.judge()


def test_every_failpoint_of_a_normal_life_and_of_one_after_a_cut_is_known(tmp_path: Path) -> None:
    """A new verb that writes must be killed too: add it above."""
    normal, cut = Life(tmp_path / "normal"), Life(tmp_path / "cut")
    passed = set(normal.lives_on())
    assert cut.killed_at("request:half:1")
    passed |= set(cut.lives_on())

    assert passed == KNOWN
    normal.judge()
    assert normal.cut == set()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_kills_at_random(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a seed that failed can be tried again
    passed = Life(tmp_path / "census").lives_on()
    kills, lives = 0, 0
    while kills < KILLS_A_SEED:
        lives += 1
        life = Life(tmp_path / f"life-{lives}")
        in_a_row = min(chance.randint(1, 4), KILLS_A_SEED - kills)
        while life.kills < in_a_row and _killed(life, passed, chance):
            pass
        life.lives_on()
        life.judge()
        kills += life.kills


def _killed(life: Life, passed: dict[str, int], chance: random.Random) -> bool:
    """Kill from outside or at a failpoint; False if the life had come to its end before."""
    if chance.random() < 0.3:
        return life.killed_after(chance.uniform(0.1, 0.4))
    place = chance.choice(sorted(passed))
    return life.killed_at(f"{place}:{chance.randint(1, passed[place])}")
