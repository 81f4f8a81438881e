"""Turns a message of the owner into tasks, with one card for everything open.

All tasks of a message and its card are stored in one transaction, then acknowledged. The same
source twice gives the same tasks.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from remit.contacts import ContactBook
from remit.contacts.book import Contacts
from remit.contacts.permits import asks_first
from remit.errors import BadInput, KeyReused, StepFailed
from remit.intake import admit, conditions
from remit.intake.card import RequestCard, make_card, rule_question
from remit.intake.card_answer import Approve, CardAnswerContext, open_card, settle_card
from remit.intake.extraction import Draft, Extraction, Question, QuestionTopic
from remit.intake.message import MessageResult, OwnerMessage, heard_nothing
from remit.intake.plain_reader import PlainReader
from remit.intake.standing_wish import find_standing_wish
from remit.intake.veto import held_back
from remit.language.time.resolve import Recurrence
from remit.model.contract import Clause, Gap, OwnerRequest
from remit.model.conversation import TalkContext, TurnOrder
from remit.model.delivery import Delivery
from remit.model.ids import Ids
from remit.model.recurrence import Repeats
from remit.model.review import RULE, ContactRule, Review, Settle, SettledCard, rule_review
from remit.model.status import Status
from remit.model.task import Cue, Source, Taint, Task, TaskType
from remit.model.veto import Condition, VetoCue
from remit.ports import Clock
from remit.store import messages, permissions
from remit.store.database import Database


class RequestReader(Protocol):
    """Reads a message: tasks, questions, and the outcome of every clause."""

    async def read(
        self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook
    ) -> Extraction: ...


@runtime_checkable
class TurnReader(Protocol):
    """Reads a turn of a conversation, which may be about existing tasks or questions."""

    async def read_turn(
        self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook, talk: TalkContext
    ) -> Extraction | TurnOrder: ...


class MessageReader:
    """Reads the owner's messages with the owner's contacts and clock."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        ids: Ids,
        contacts: Contacts,
        zone: ZoneInfo,
        reader: RequestReader | None = None,
    ) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._contacts = contacts
        self._zone = zone
        self._reader = reader or PlainReader()
        self.approve: Approve = lambda _task, _delivery: None

    def approve_by(self, approve: Approve) -> None:
        """Set how a text to others is shown for approval; until then none is."""
        self.approve = approve

    async def hear(self, message: OwnerMessage) -> MessageResult:
        """Store what the message asks for, durably; return the outcome of every clause."""
        message = replace(message, text=message.text.strip())
        before = await self._db.read(messages.of_message, message.source)
        if before:
            return await self._again(message, before)
        if (rule := self._find_wish(message)) is not None:
            return await self._propose(message, rule)
        found = await self._read_turn(message)
        if isinstance(found, TurnOrder):
            return MessageResult((), order=found)
        if not found.tasks:
            return MessageResult((), (), found.answer, found.clauses, found.questions)
        return await self._store(message, found)

    async def _store(self, message: OwnerMessage, found: Extraction) -> MessageResult:
        made, asked = self.tasks_of(found, message, self._clock.now())
        stored = await self._db.write(messages.entrust, made, asked, message.said_at)
        if stored[0].id != made[0].id:
            return await self._again(message, stored)
        return MessageResult(
            tuple(stored), asked, found.answer, card=await self._card(stored, asked)
        )

    def _find_wish(self, message: OwnerMessage) -> ContactRule | None:
        """Return the rule, if the message is a standing wish and nothing else."""
        if message.scheduled_for or message.repeats or message.taint is not Taint.OWNER:
            return None
        return find_standing_wish(message.text, self._contacts.book())

    async def _propose(self, message: OwnerMessage, rule: ContactRule) -> MessageResult:
        """Ask whether a standing wish shall be a rule."""
        sentence = rule_question(rule, message.text)
        cue = Cue(
            source=message.source,
            title=sentence[: admit.MOST_TITLE],
            text=message.text,
            context=rule.context,
            assigned_agent=RULE,
        )
        task = admit.make(cue, self._ids, self._clock.now())
        asked = rule_review(task, rule, sentence)
        asked = replace(asked, id=self._ids.review(), resume_to=Status.NEW)
        stored = await self._db.write(messages.entrust, [task], [asked], message.said_at)
        if stored[0].id != task.id:
            return await self._again(message, stored)
        return MessageResult((), (asked,), wish=True)

    def tasks_of(
        self, found: Extraction, message: OwnerMessage, now: datetime, place: Task | None = None
    ) -> tuple[Sequence[Task], tuple[Review, ...]]:
        """Return the tasks of a reading, and the one card about them.

        The first replaces the stored task that waits to be read, if there is one.
        """
        drafted = [
            _task(each, message, n, self._ids, now) for n, each in enumerate(ledgers(found), 1)
        ]
        if place is not None and drafted:
            drafted[0] = replace(drafted[0], id=place.id, session_id=place.session_id)
        made, card = open_card(drafted, self._table)
        return made, (card,) if card else ()

    async def read(self, message: OwnerMessage, now: datetime | None = None) -> Extraction:
        """Return what the message would become at `now`; nothing is stored."""
        return await self._read_by(self._reader, message, now)

    async def read_plainly(self, message: OwnerMessage, now: datetime | None = None) -> Extraction:
        """Return what the message would become without a model."""
        return await self._read_by(PlainReader(), message, now)

    async def _read_by(
        self, reader: RequestReader, message: OwnerMessage, now: datetime | None
    ) -> Extraction:
        admit.check_text(message.text)
        book, now = self._book(message), now or self._clock.now()

        async def read(text: str) -> Extraction:
            try:
                return await reader.read(text, now, self._zone, book)
            except StepFailed:
                return await PlainReader().read(text, now, self._zone, book)

        found = await self._read_quietly(read, message, book, now)
        assert isinstance(found, Extraction)  # noqa: S101 - no turn was read
        return found

    async def _read_turn(self, message: OwnerMessage) -> Extraction | TurnOrder:
        """Return what a turn asks for: new tasks, or something about existing ones."""
        if message.talk is None or not isinstance(self._reader, TurnReader):
            return await self.read(message)
        admit.check_text(message.text)
        book, now, reader, talk = (
            self._book(message),
            self._clock.now(),
            self._reader,
            message.talk,
        )

        async def read(text: str) -> Extraction | TurnOrder:
            return await reader.read_turn(text, now, self._zone, book, talk)

        return await self._read_quietly(read, message, book, now)

    async def _read_quietly(
        self,
        read: Callable[[str], Awaitable[Extraction | TurnOrder]],
        message: OwnerMessage,
        book: ContactBook,
        now: datetime,
    ) -> Extraction | TurnOrder:
        """Read a message; words that ask for silence are found by code and left out for it."""
        quiet = conditions.find_quiet(message.text, book) if message.taint is Taint.OWNER else None
        if quiet is not None:
            rest = replace(message, text=conditions.without_quiet(message.text, quiet))
            found = await read(rest.text)
            if isinstance(found, TurnOrder):
                return found
            done = conditions.with_quiet(
                self._finish_reading(found, rest, book, now), quiet, message.text
            )
            if done is not None:
                return done
        found = await read(message.text)
        return (
            found
            if isinstance(found, TurnOrder)
            else self._finish_reading(found, message, book, now)
        )

    def _book(self, message: OwnerMessage) -> ContactBook:
        book = self._contacts.book()
        return book if message.home is None else book.with_home(message.home)

    def _finish_reading(
        self, found: Extraction, message: OwnerMessage, book: ContactBook, now: datetime
    ) -> Extraction:
        """Return a reading with the given time and place, vetoes and limits applied."""
        found = apply_plan(found, message.scheduled_for, book.home, message.repeats)
        found = held_back(found, message.text, book)
        limits = conditions.find_conditions(message.text, book, now, self._zone, found.texts)
        return conditions.apply_limits(found, limits)

    @property
    def _table(self) -> CardAnswerContext:
        return CardAnswerContext(self._zone, self._ids, self.approve)

    def settling(self) -> Settle:
        """Return the function that applies an answer, with the current contacts."""
        book: ContactBook | BadInput
        try:
            book = self._contacts.book()
        except BadInput as bad:
            book = bad
        return _Settling(book, self._table)

    async def _again(self, message: OwnerMessage, before: Sequence[Task]) -> MessageResult:
        request = before[0].request
        if request is None or request.text != message.text:
            raise KeyReused(message.source.ref)
        if before[0].status is Status.CANCELLED:
            record = await self._db.read(messages.reading_record, before[0])
            if (nothing := heard_nothing(record)) is not None:
                return nothing
        asked = await self._db.read(messages.questions, before)
        if before[0].assigned_agent == RULE:
            return MessageResult((), tuple(asked), wish=True)
        return MessageResult(tuple(before), tuple(asked), card=await self._card(before, asked))

    async def _card(self, made: Sequence[Task], asked: Sequence[Review]) -> RequestCard:
        """Return the receipt; it says "you are asked first" only where that is true."""
        standing = await self._db.read(permissions.list_permissions)
        sends = ((task, each) for task in made for each in task.delivery)
        asks = {each.id for task, each in sends if asks_first(task, each, self._contacts, standing)}
        return make_card(made, self._zone, asks_first=asks, reviews=asked)


class _Settling(Struct, frozen=True):
    book: ContactBook | BadInput
    table: CardAnswerContext

    def __call__(
        self, tasks: Sequence[Task], review: Review, answer: str, now: datetime
    ) -> SettledCard:
        if isinstance(self.book, BadInput):
            raise self.book
        return settle_card(tasks, review, answer, now, self.book, self.table)


# What was read, as it will be stored --------------------------------------------------------------


def apply_plan(
    found: Extraction, at: datetime | None, home: str, repeats: Repeats | None = None
) -> Extraction:
    """Return the reading with the time given besides the words, and a place for results."""
    at = repeats.first if repeats else at
    if at is not None:
        found = _apply_given_time(found, at, repeats)
    drafts = tuple(_at_home(draft, found, home) for draft in found.tasks)
    return replace(found, tasks=drafts)


def _apply_given_time(found: Extraction, at: datetime, repeats: Repeats | None) -> Extraction:
    """Apply the given time to all tasks; words with another time contradict it."""
    for clause in found.clauses:
        if clause.became == "time" or _asked_when(found, clause):
            sentence = (
                f"The words say when ({clause.text!r:.60}), and a time was given beside them; "
                "say it once."
            )
            raise BadInput(sentence, field="scheduled_for")
    often = Recurrence(repeats.rule, repeats.zone, repeats.first) if repeats else None
    drafts = tuple(
        replace(draft, scheduled_for=at, scheduled=True, recurrence=often) for draft in found.tasks
    )
    left = tuple(each for each in found.questions if each.about is not QuestionTopic.TIME)
    return replace(found, tasks=drafts, questions=left)


def _asked_when(found: Extraction, clause: Clause) -> bool:
    """Whether the clause names a time that cannot be resolved."""
    about = (
        found.clauses[each.clause] for each in found.questions if each.about is QuestionTopic.TIME
    )
    return clause.became is None and clause in about


def _at_home(draft: Draft, found: Extraction, home: str) -> Draft:
    """Send the result of work to the owner, unless the message says or forbids otherwise."""
    waits = any(question.waits for question in found.questions_about(draft))
    if draft.deliveries or draft.stays or waits or not draft.work:
        return draft
    return replace(draft, deliveries=(Delivery(home),))


class TaskLedger(Struct, frozen=True):
    """A task to create, with every clause it covers and what is open about them."""

    draft: Draft
    clauses: tuple[Clause, ...]
    gaps: tuple[Gap, ...]
    veto: tuple[VetoCue, ...] = ()
    conditions: tuple[Condition, ...] = ()


def ledgers(found: Extraction) -> list[TaskLedger]:
    """Assign every clause of a message to a task: its own, or the nearest."""
    return [_ledger(found, draft, n) for n, draft in enumerate(found.tasks)]


def _ledger(found: Extraction, draft: Draft, n: int) -> TaskLedger:
    own = [
        at
        for at, clause in enumerate(found.clauses)
        if clause in draft.clauses or _nearest(found, clause) == n
    ]
    gaps: dict[str, Gap] = {}
    for question in found.questions:
        if question.clause in own:
            gap = _gap(question, own.index(question.clause) + 1)
            before = gaps.get(gap.key)
            gaps[gap.key] = _join_gaps(before, gap) if before else gap
    clauses = tuple(found.clauses[at] for at in own)
    limits = conditions.conditions_of(found, draft)
    return TaskLedger(draft, clauses, tuple(gaps.values()), found.veto, limits)


def _nearest(found: Extraction, clause: Clause) -> int | None:
    """Return the last task before a clause that belongs to none; None if it belongs to one."""
    if any(clause in draft.clauses for draft in found.tasks):
        return None
    before = [
        n
        for n, draft in enumerate(found.tasks)
        if draft.clauses and draft.clauses[0].start < clause.start
    ]
    return before[-1] if before else 0


def _gap(question: Question, clause: int) -> Gap:
    about, sentence = question.about.value, question.sentence
    return Gap(clause, about, question.options, question.waits, question.letter, sentence)


def _join_gaps(before: Gap, gap: Gap) -> Gap:
    """Join two questions of one sort about one clause."""
    options = tuple(dict.fromkeys((*before.options, *gap.options)))
    waits = tuple(dict.fromkeys((*before.waits, *gap.waits)))
    letter, asked = before.letter or gap.letter, f"{before.question} {gap.question}"
    return replace(before, options=options, waits=waits, letter=letter, question=asked)


def _task(ledger: TaskLedger, message: OwnerMessage, n: int, ids: Ids, now: datetime) -> Task:
    draft, rule = ledger.draft, ledger.draft.recurrence
    cue = Cue(
        source=Source(message.source.kind, messages.nth(message.source.ref, n)),
        title=draft.title,
        text=message.text,
        instructions=draft.instructions or message.text,
        work=draft.work,
        delivery=draft.deliveries,
        priority=message.priority,
        scheduled_for=draft.scheduled_for,
        repeats=Repeats(rule.rule, rule.zone, rule.first) if rule else None,
        assigned_agent=draft.agent,
        context=message.context,
        taint=message.taint,
        veto=ledger.veto,
        conditions=(*ledger.conditions, *message.conditions),
    )
    task = admit.make(cue, ids, now)
    request = OwnerRequest(message.text, ledger.clauses)
    kind = TaskType.SCHEDULED if draft.scheduled else TaskType.IMMEDIATE
    return replace(task, type=kind, request=request, gaps=ledger.gaps)
