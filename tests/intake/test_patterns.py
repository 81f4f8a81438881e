"""Messages that a closed pattern covers are read as they are meant; the others are asked about."""

import pytest

from remit.intake.extraction import Draft
from tests.intake.labelled import Expected, Message, messages

MESSAGES = messages()
ACTS = [message for message in MESSAGES if not message.asks]
ASKS = [message for message in MESSAGES if message.asks]


def read(draft: Draft) -> Expected:
    sends = tuple((each.channel, each.recipient, each.content) for each in draft.deliveries)
    rule = draft.recurrence.rule if draft.recurrence else None
    return Expected(bool(draft.work), draft.scheduled_for, rule, sends)


def plain(task: Expected) -> Expected:
    """A task whose texts differ in the marks at their ends alone is the same."""
    sends = ((way, to or "", (text or "").casefold().rstrip(".!?")) for way, to, text in task.sends)
    return Expected(task.work, task.at, task.every, tuple(sorted(sends)))


@pytest.mark.parametrize("message", ACTS, ids=lambda message: message.say[:40])
def test_a_message_that_a_pattern_covers_is_read_as_it_is_meant(message: Message) -> None:
    found = message.read()

    assert [plain(read(draft)) for draft in found.tasks] == [plain(each) for each in message.tasks]
    assert not found.questions


@pytest.mark.parametrize("message", ASKS, ids=lambda message: message.say[:40])
def test_a_message_that_leaves_something_open_is_asked_about(message: Message) -> None:
    assert message.read().questions
