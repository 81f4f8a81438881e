"""Changes one line of a card before it is confirmed: time, person, channel or text."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from remit.intake import answers
from remit.intake.answered_question import AnsweredQuestion, cannot_reach
from remit.intake.answers import NamedRecipients
from remit.language.time.resolve import Moment, Now, Recurrence, When
from remit.language.time.which_day import TimeDoubt
from remit.model.delivery import Delivery
from remit.model.series import Repeats
from remit.model.task import Task, TaskType


def with_change(asked: AnsweredQuestion) -> Task | None:
    """The task with what an answer changes, still to be confirmed; None if it changes nothing."""
    found = answers.when(asked.answer, "", now=asked.now, zone=asked.zone)
    if found and len(found) == 1 and not isinstance(found[0], TimeDoubt):
        return timed(asked.task, found[0])
    others = [each for each in asked.task.delivery if each.recipient is not None]
    text = answers.letter(asked.answer)
    if text and all(each.content for each in others):
        return _with_sends(asked.task, others, lambda each: replace(each, content=text))
    named = answers.named(asked.answer, asked.book)
    if named is None or named.doubt or len(others) != 1:
        return None
    return _readdressed(asked, others[0], named)


def _readdressed(asked: AnsweredQuestion, send: Delivery, named: NamedRecipients) -> Task | None:
    """The one send to another person, or by another channel."""
    people, ways = named.people, named.channels
    if len(people) > 1 or len(ways) > 1 or asked.book.owner in people:
        return None
    made = replace(
        send,
        recipient=people[0].name if people else send.recipient,
        channel=ways[0].name if ways else send.channel,
    )
    if made == send or cannot_reach(made, asked.book):
        return None
    return _with_sends(asked.task, [send], lambda _: made)


def _with_sends(task: Task, gone: Sequence[Delivery], made: Callable[[Delivery], Delivery]) -> Task:
    sends = (made(each) if each in gone else each for each in task.delivery)
    return replace(task, delivery=tuple(sends))


def timed(task: Task, when: When) -> Task:
    """The task at another time, or with another rule of repetition."""
    match when:
        case Moment(at=at):
            return replace(task, type=TaskType.SCHEDULED, scheduled_for=at, repeats=None)
        case Recurrence(rule=rule, zone=zone, first=first):
            series = Repeats(rule, zone, first)
            return replace(task, type=TaskType.SCHEDULED, scheduled_for=first, repeats=series)
        case Now() | TimeDoubt():
            return replace(task, type=TaskType.IMMEDIATE, scheduled_for=None, repeats=None)
