"""A question about a request with its answer, and how the answer changes the task.

Before the card is confirmed, an answer may also change its time, person, channel or text.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from remit.contacts import Contact, ContactBook
from remit.intake import answers
from remit.intake.answers import NamedRecipients
from remit.intake.extraction import Question, QuestionTopic, way_to
from remit.language.time.resolve import Moment, Now, Recurrence, TimeDoubt, When
from remit.model.contract import Clause, ClauseOutcome, Gap, OwnerRequest
from remit.model.delivery import Delivery
from remit.model.recurrence import Repeats
from remit.model.review import SettledTask
from remit.model.task import Task, TaskType

LEAVE_OUT: Final = 'Or say "leave it out".'
_LIKE: Final = {
    QuestionTopic.TIME: 'Say a time like "tomorrow at 9:30".',
    QuestionTopic.CHANNEL: "Name a channel.",
    QuestionTopic.RECIPIENT: "Name someone from your contacts, or add them first.",
    QuestionTopic.CONTENT: "Say only what it is; put a text that is sent as it is in quotes.",
    QuestionTopic.TASK: "Say one thing to do.",
    QuestionTopic.CONFIRM: 'Say "yes" or "no".',
}


class AnsweredQuestion(Struct, frozen=True):
    """A question and its answer, with all that is needed to understand it."""

    task: Task
    gap: Gap
    answer: str
    now: datetime
    zone: ZoneInfo
    book: ContactBook

    @property
    def clause(self) -> Clause:
        return request_of(self.task).clauses[self.gap.clause - 1]

    def again(self, why: str = "", options: tuple[str, ...] = ()) -> SettledTask:
        """Refuse the answer, and say what was not understood."""
        about = QuestionTopic(self.gap.about)
        sentence = why or f"{self.answer!r:.100} cannot be read as an answer. {_LIKE[about]}"
        gap = replace(self.gap, options=options or self.gap.options)
        gaps = tuple(gap if each is self.gap else each for each in self.task.gaps)
        return SettledTask(replace(self.task, gaps=gaps), f"{sentence} {LEAVE_OUT}")

    def asks(self, task: Task, gap: Gap, sentence: str) -> SettledTask:
        """Return the task with this gap open."""
        others = tuple(each for each in task.gaps if each.key != gap.key)
        return SettledTask(replace(task, gaps=(*others, replace(gap, question=sentence))))

    def closed(self, became: ClauseOutcome, task: Task | None = None) -> Task:
        """Return the task without this gap; its clause became what the owner said."""
        task = task or self.task
        gaps = tuple(each for each in task.gaps if each.key != self.gap.key)
        others = any(each.clause == self.gap.clause for each in gaps)
        before = self.clause.became
        fate = before if before or others else became
        if became is ClauseOutcome.DECLINED:
            fate = became
        why = f"You said: {self.answer}"
        return replace(task, gaps=gaps, request=_with_outcome(task, self.gap.clause, fate, why))


def _with_outcome(task: Task, n: int, became: ClauseOutcome | None, why: str) -> OwnerRequest:
    """Return the request with the outcome of one clause, counted from 1."""
    request = request_of(task)
    clause = replace(request.clauses[n - 1], became=became, why=why)
    return replace(request, clauses=(*request.clauses[: n - 1], clause, *request.clauses[n:]))


def without_gaps(task: Task, gone: Sequence[Gap], why: str) -> Task:
    """Return the task without some gaps; their clauses are declined."""
    for gap in gone:
        if request_of(task).clauses[gap.clause - 1].became is None:
            task = replace(
                task, request=_with_outcome(task, gap.clause, ClauseOutcome.DECLINED, why)
            )
    keys = {gap.key for gap in gone}
    return replace(task, gaps=tuple(gap for gap in task.gaps if gap.key not in keys))


def request_of(task: Task) -> OwnerRequest:
    assert task.request is not None  # noqa: S101 - a gap is one of a request
    return task.request


def send(task: Task, whole: Iterable[Delivery], asked: AnsweredQuestion) -> SettledTask:
    """Plan the complete sends; ask about one that cannot go by its channel."""
    sent, lost = list(task.delivery), []
    question: Question | None = None
    for half in whole:
        way = _way(half, asked.book)
        if isinstance(way, Question):
            question = way
            lost.append(half)
        elif not any(_is_same_delivery(each, half, way) for each in sent):
            sent.append(Delivery(way, half.recipient, half.content))
    task = replace(task, delivery=tuple(sent))
    if question is None:
        return SettledTask(task)
    gap = Gap(asked.gap.clause, question.about.value, question.options, tuple(lost))
    return asked.asks(task, gap, question.sentence)


def _is_same_delivery(one: Delivery, half: Delivery, way: str) -> bool:
    return (one.channel, one.recipient, one.content) == (way, half.recipient, half.content)


def _way(half: Delivery, book: ContactBook) -> str | Question:
    person = _person(half.recipient, book)
    channel = next((each for each in book.channels if each.name == half.channel), None)
    if person is None:
        sentence = f"{half.recipient} is no longer in your contacts. Who should get it?"
        return Question(QuestionTopic.RECIPIENT, sentence)
    return way_to(person, channel, book)


def cannot_reach(half: Delivery, book: ContactBook) -> bool:
    """Whether the named channel does not reach the recipient."""
    return _way(half, book) != half.channel


def _person(name: str | None, book: ContactBook) -> Contact | None:
    if name is None:
        return book.owner
    return next((each for each in book.contacts if each.name == name), None)


def without_halves(task: Task, gone: Sequence[Delivery]) -> Task:
    names = {half.id for half in gone if half.id}
    gaps = tuple(
        replace(gap, waits=tuple(half for half in gap.waits if half.id not in names))
        for gap in task.gaps
    )
    return replace(task, gaps=gaps)


def at_home(task: Task, book: ContactBook) -> Task:
    """Send the result of work to the owner, if nobody else gets it."""
    waits = any(gap.waits for gap in task.gaps)
    if task.delivery or waits or not task.work:
        return task
    return replace(task, delivery=(Delivery(book.home),))


def with_change(asked: AnsweredQuestion) -> Task | None:
    """Return the task as an answer changes it, still to be confirmed; None: no change."""
    found = answers.when(asked.answer, "", now=asked.now, zone=asked.zone)
    if found and len(found) == 1 and not isinstance(found[0], TimeDoubt):
        return with_time(asked.task, found[0])
    others = [each for each in asked.task.delivery if each.recipient is not None]
    text = answers.letter(asked.answer)
    if text and all(each.content for each in others):
        return _with_sends(asked.task, others, lambda each: replace(each, content=text))
    named = answers.find_recipients(asked.answer, asked.book)
    if named is None or named.doubt or len(others) != 1:
        return None
    return _change_address(asked, others[0], named)


def _change_address(asked: AnsweredQuestion, send: Delivery, named: NamedRecipients) -> Task | None:
    """Return the task with its one send to another person or channel."""
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


def with_time(task: Task, when: When) -> Task:
    """Return the task with another time or repetition."""
    match when:
        case Moment(at=at):
            return replace(task, type=TaskType.SCHEDULED, scheduled_for=at, repeats=None)
        case Recurrence(rule=rule, zone=zone, first=first):
            series = Repeats(rule, zone, first)
            return replace(task, type=TaskType.SCHEDULED, scheduled_for=first, repeats=series)
        case Now() | TimeDoubt():
            return replace(task, type=TaskType.IMMEDIATE, scheduled_for=None, repeats=None)
