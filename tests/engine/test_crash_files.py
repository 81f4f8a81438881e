"""kill -9 around a message that carries a file: nothing goes twice, and doubts are asked about."""

from pathlib import Path

import pytest

from tests.engine.channels_town import ACCEPTED, KINDS, Life, Town
from tests.engine.channels_worker import FILE
from tests.live.proxy import Trap, half_of

# The name of a moment, its failpoint, and whether what was under way is in doubt after it.
MOMENTS = {
    "the file is frozen": ("split:after:1", False),
    "claimed, and nothing sent": ("send:claimed:2", True),
    "the answer is read, and not written down": ("send:answered:2", True),
    "between the words and the file": ("settle_send:after:1", False),
}
UPLOADED = ("send:uploaded:1", "send:uploaded:2")
HALF_A_FILE = {
    "whatsapp": Trap(half_of(b'"document"'), up=True),
    "email": Trap(half_of(b"Content-Disposition: attachment"), up=True),
    "telegram": Trap(half_of(b"Prices.csv"), up=True),
    "webhook": Trap(half_of(b'"files"'), up=True),
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_around_a_file_repeats_nothing_and_loses_nothing(
    tmp_path: Path, kind: str, moment: str
) -> None:
    place, doubts = MOMENTS[moment]
    with Town(kind) as town:
        life = Life(tmp_path / "life", town, files=True)
        died = life.killed_at(place)
        life.lives_on()

        life.judge()
        assert died or kind in ("email", "webhook")  # one message: there is no second
        assert bool(life.cut) == (doubts and died)
        assert set(town.contents()) <= {FILE}


@pytest.mark.parametrize("place", UPLOADED)
def test_a_kill_after_an_upload_leaves_no_doubt_because_nothing_was_sent(
    tmp_path: Path, place: str
) -> None:
    with Town("whatsapp") as town:
        life = Life(tmp_path / "life", town, files=True)
        assert life.killed_at(place)
        life.lives_on()

        life.judge()
        assert life.cut == set()
        rows = life.ask("SELECT status FROM deliveries")
        assert [status for (status,) in rows] == ["sent"] * 4


@pytest.mark.parametrize("cut", ["half", "accepted"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_was_cut_on_the_line_is_asked_about(
    tmp_path: Path, kind: str, cut: str
) -> None:
    with Town(kind) as town:
        life = Life(tmp_path / "life", town, files=True)
        assert life.killed_on_the_line(HALF_A_FILE[kind] if cut == "half" else ACCEPTED[kind])
        life.lives_on()

        life.judge()
        assert life.cut
