"""The later turns of the labelled messages: they change what they are about, and nothing else."""

from pathlib import Path

import pytest

from remit.intake.exam.labelled import public_messages
from remit.model.reply import Policy
from tests.converse.second_turns import play


@pytest.mark.parametrize("policy", [Policy.ASK, Policy.ALLOW])
async def test_without_a_model_a_later_turn_reaches_nobody_who_must_not_be_reached(
    tmp_path: Path, policy: Policy
) -> None:
    messages = [each for each in public_messages() if each.then]
    found = []
    for message in messages:
        home = tmp_path / message.id
        home.mkdir()
        found += await play(home, message, policy)

    told = {each: f"{each.message.id}: {each.turn.text} -> {each.answer}" for each in found}
    assert [told[each] for each in found if each.reached and not each.turn.reaches] == []
    # Only something new becomes a task.
    assert [told[each] for each in found if each.new and each.turn.means != "new"] == []
    assert [told[e] for e in found if not e.right and not e.asked and e.turn.means != "move"] == []
    assert sum(each.right for each in found) >= 35  # of 43; it may only rise
