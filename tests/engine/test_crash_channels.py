"""kill -9 in the middle of a real message, letter or webhook, at every moment there is.

The providers are real servers on loopback that live on. After each kill Remit is started again, and
what the provider accepted is compared with what the database says. In `make test` each moment and
each channel has a kill, in `make soak` each pair of them.
"""

import random
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.channels_town import ACCEPTED, GIVEN, HALF, KINDS, Life, Town
from tests.engine.channels_worker import FILE
from tests.engine.lives import ended
from tests.live.proxy import Trap, half_of
from tests.soak import SOAK, each_value, one_in

SEEDS = 40 if SOAK else 1
KILLS_A_SEED = 4
STOPPED = 60.0 if SOAK else 0.0  # seconds that a process is stopped for
AN_HOUR = 3600.0

# The name of a moment, and the failpoint that lies there.
MOMENTS = {
    "before the claim": "claim_send:before:1",
    "claimed, and nothing sent": "send:claimed:1",
    "the answer is read, and not written down": "send:answered:2",
    "between two recipients": "settle_send:after:2",
}
NOT_CUT = {"before the claim", "between two recipients"}
AT_LENGTH = {
    "the claim is written": "claim_send:after:1",
    "before the record": "settle_send:before:3",
    "the task has ended": "finish:after:1",
}
if SOAK:
    MOMENTS |= AT_LENGTH
    NOT_CUT |= {"the task has ended"}
CUT_AT = {"claimed": "send:claimed:1", "answered": "send:answered:2"}
ANYWHERE = ("claim_send:before", "claim_send:after", "send:answered", "finish:after")
BETWEEN_PARTS = ["split:after:1", "settle_send:after:4", "send:claimed:5"]

pytestmark = pytest.mark.soak


@pytest.fixture(params=KINDS)
def life(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Life]:
    with Town(request.param) as town:
        yield Life(tmp_path / "life", town)


@each_value
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_at_any_moment_of_a_send_repeats_nothing_and_loses_nothing(
    life: Life, moment: str
) -> None:
    assert life.killed_at(MOMENTS[moment]), "a failpoint that does not fire proves nothing"
    life.lives_on()

    life.judge()
    assert bool(life.cut) == (moment not in NOT_CUT)


@one_in(2)
def test_half_a_request_is_not_a_message_and_is_asked_about(life: Life) -> None:
    assert life.killed_on_the_line(HALF[life.town.kind])
    assert life.accepted() == []
    life.lives_on()

    life.judge()
    assert life.cut


@one_in(2, start=1)
def test_what_was_accepted_and_never_read_is_asked_about_and_not_sent_again(life: Life) -> None:
    assert life.killed_on_the_line(ACCEPTED[life.town.kind])
    accepted = set(life.accepted())
    life.lives_on()

    life.judge()
    assert accepted & life.cut


@one_in(2)
def test_a_report_heals_what_was_cut(life: Life) -> None:
    assert life.killed_on_the_line(ACCEPTED[life.town.kind], grace=AN_HOUR)
    life.lives_on(grace=AN_HOUR)
    assert life.ask("SELECT id FROM reviews") == [], "within the grace nobody is asked"
    assert life.ask("SELECT id FROM tasks WHERE status = 'delivering'")

    arrived = life.cut & set(life.accepted())
    assert arrived
    life.lives_on(reports=tuple(arrived))

    life.cut -= arrived
    life.judge()


@each_value
@pytest.mark.parametrize("moment", [*CUT_AT, "half", "accepted"])
@pytest.mark.parametrize("kind", GIVEN)
def test_what_was_cut_is_given_again_where_its_key_is_known(
    tmp_path: Path, kind: str, moment: str
) -> None:
    traps = {"half": HALF[kind], "accepted": ACCEPTED[kind]}
    with Town(kind) as town:
        life = Life(tmp_path / "life", town)
        died = (
            life.killed_on_the_line(traps[moment])
            if moment in traps
            else life.killed_at(CUT_AT[moment])
        )
        assert died
        assert life.cut
        life.lives_on()

        healed, life.cut = life.cut, set()
        life.judge()
        assert healed <= set(town.accepted()), "without a question, and once"
        assert life.ask("SELECT id FROM reviews") == []


@one_in(3)
@pytest.mark.parametrize("place", BETWEEN_PARTS)
def test_a_kill_between_the_parts_of_a_long_text_repeats_none(tmp_path: Path, place: str) -> None:
    for kind in ("whatsapp", "telegram"):
        with Town(kind) as town:
            life = Life(tmp_path / kind, town)
            assert life.killed_at(place)
            life.lives_on()

            life.judge()
            assert len(life.ask("SELECT id FROM deliveries WHERE parts = 3")) == 3


@one_in(4)
def test_a_process_that_is_stopped_in_the_middle_of_a_send_keeps_its_directory(life: Life) -> None:
    """Nobody can take its work over while it is stopped; then it goes on."""
    stop = replace(ACCEPTED[life.town.kind], signal=signal.SIGSTOP)
    # Who is stopped for longer than he waits for an answer cannot know it, and would say so.
    process = life.watched(stop, patience=100)
    life.town.do(life.town.sprung())

    second = life.start()
    assert "HomeLocked" in ended(second)
    assert second.returncode == 1
    time.sleep(STOPPED)
    process.send_signal(signal.SIGCONT)
    errors = ended(process)

    assert process.returncode == 0, errors
    life.judge()
    assert life.cut == set()


if SOAK:  # it takes minutes

    @pytest.mark.parametrize("seed", range(SEEDS))
    def test_kills_at_random_moments(life: Life, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - a seed that failed can be tried again
        for _ in range(KILLS_A_SEED):
            place = chance.choice(ANYWHERE)
            if not life.killed_at(f"{place}:{chance.randint(1, 3)}"):
                break
        life.lives_on()

        life.judge()


# Messages that carry a file -----------------------------------------------------------------------

# The name of a moment, its failpoint, and whether what was under way is in doubt after it.
AROUND_A_FILE = {
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


@pytest.mark.parametrize("moment", AROUND_A_FILE)
@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_around_a_file_repeats_nothing_and_loses_nothing(
    tmp_path: Path, kind: str, moment: str
) -> None:
    place, doubts = AROUND_A_FILE[moment]
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
