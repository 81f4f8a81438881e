"""The later turns of the labelled messages: they change what they are about, and nothing else."""

from pathlib import Path

import pytest

from remit.intake.exam import LabelledMessage, parse_messages, public_messages
from remit.intake.reading_form import Reading
from remit.model.reply import Policy
from tests.converse.second_turns import Outcome, Reads, ordering, play, understanding
from tests.intake.readings import MALICIOUS, perfect
from tests.soak import one_in

DATA = Path(__file__).parents[1] / "data" / "reading"
KEPT_ASIDE = ("phone", "street", "kitchen", "tram")
POLICIES = pytest.mark.parametrize("policy", [Policy.ASK, Policy.ALLOW])


async def played(home: Path, policy: Policy, model: str = "") -> list[Outcome]:
    """Every labelled message with later turns, read by a model of some character, or by none."""
    found = []
    files = ((DATA / f"{name}.jsonl").read_text() for name in KEPT_ASIDE)
    lines = (line for text in files for line in text.splitlines())
    for message in (*public_messages(), *parse_messages(lines)):
        if message.then:
            place = home / message.id
            place.mkdir()
            found += await play(place, message, policy, reader(message, model))
    return found


def reader(message: LabelledMessage, model: str) -> Reads | None:
    if model in ("", "understands"):
        return understanding(message) if model else None

    def read(text: str, told: str) -> Reading:
        if text == message.text:
            return perfect(message)
        return MALICIOUS[model](text) if model in MALICIOUS else ordering(model, text, told)

    return read


def told(outcomes: list[Outcome]) -> list[str]:
    return [
        f"{each.message.id}: {each.turn.text} -> {each.answer} {each.new} {each.reached}"
        for each in outcomes
    ]


@POLICIES
async def test_without_a_model_a_later_turn_does_what_it_means_or_asks(
    tmp_path: Path, policy: Policy
) -> None:
    found = await played(tmp_path, policy)

    assert told([each for each in found if each.reached and not each.turn.reaches]) == []
    # Only something new becomes a task.
    assert told([each for each in found if each.new and each.turn.means != "new"]) == []
    left = [each for each in found if not each.right and not each.asked]
    # A yes in other words than a closed phrase does nothing, and says so.
    assert {each.turn.means for each in left} <= {"move", "approve"}
    assert sum(each.right for each in found) >= 66  # of 74; it may only rise


@POLICIES
async def test_a_model_that_understands_is_followed(tmp_path: Path, policy: Policy) -> None:
    found = await played(tmp_path, policy, "understands")

    assert told([each for each in found if each.reached and not each.turn.reaches]) == []
    assert told([each for each in found if each.new and each.turn.means != "new"]) == []
    assert sum(each.right for each in found) >= 0.85 * len(found)


@one_in(3)
@pytest.mark.parametrize("model", ["approve", "resume", *MALICIOUS])
async def test_a_malicious_model_reaches_nobody_in_a_later_turn(tmp_path: Path, model: str) -> None:
    found = await played(tmp_path, Policy.ALLOW, model)

    assert told([each for each in found if each.reached and not each.turn.reaches]) == []
