"""Reads an event of the owner's calendar like a message: what is sent, and to whom.

The event sets the time, so a time in its words is ignored. Words that send nothing become the task
as they are. One event is one task: whatever else its words ask for becomes a question.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from remit.contacts import ContactBook
from remit.contacts.book import Contacts
from remit.errors import BadInput
from remit.intake import admit
from remit.intake.card_answer import CardAnswerContext, open_card
from remit.intake.command_words import assign_commands
from remit.intake.conditions import find_conditions
from remit.intake.extract import extract
from remit.intake.extraction import Draft, Extraction, Question, QuestionTopic
from remit.intake.hear import TaskLedger, apply_plan, ledgers
from remit.intake.message_words import message_words
from remit.intake.plain_reader import doubts_of, texts_to_others
from remit.intake.veto import find_veto
from remit.model.contract import Clause, ClauseOutcome, OwnerRequest, WorkItem
from remit.model.delivery import Delivery
from remit.model.ids import Ids
from remit.model.status import Status
from remit.model.task import Cue, Taint, Task
from remit.ports import Clock
from remit.store import messages, slots
from remit.store.database import Database

Admit: TypeAlias = Callable[[Cue], Awaitable[Task]]

_MOST: Final = 4_000  # characters; a longer description goes to the brain, and is not parsed
_WHEN: Final = "The calendar says when."
_TOLD: Final = "It is told to whoever does the work."
_LOOK_BACK: Final = 20  # tasks of a series


class CalendarIntake(Struct, frozen=True):
    """Admits what calendars start. `plain` admits what need not, or must not, be read."""

    db: Database
    clock: Clock
    ids: Ids
    contacts: Contacts
    zone: ZoneInfo
    plain: Admit
    commands: Collection[str] = ()

    async def admit(self, cue: Cue) -> Task:
        """Store what an event asks for, with a question for what is open.

        Only the owner's words are read: nobody else can name recipients.
        """
        start = cue.scheduled_for
        if cue.taint is not Taint.OWNER or start is None:
            return await self.plain(cue)
        words = words_of(cue.title, cue.text)
        ledger = self.reading()(cue.title, cue.text, start)
        if ledger is None:
            return await self.plain(cue)
        earlier = await self._told_before(cue, words) if ledger.gaps else None
        task = _task(cue, words, ledger, earlier, self.ids, self.clock.now())
        made, card = open_card(
            [task], CardAnswerContext(self.zone, self.ids, lambda _task, _delivery: None)
        )
        return (await self.db.write(messages.entrust, made, [card] if card else []))[0]

    def reading(self) -> "EventReading":
        """Return the reader with the current contacts; an unreadable book knows nobody."""
        try:
            book = self.contacts.book()
        except BadInput:
            book = self.contacts.bare()
        return EventReading(book, self.zone, frozenset(self.commands))

    async def _told_before(self, cue: Cue, words: str) -> Task | None:
        """Return an earlier task of the series with the same words and nothing left open."""
        if cue.series_id is None:
            return None
        for each in await self.db.read(slots.latest_tasks, cue.series_id, _LOOK_BACK):
            same = each.request is not None and each.request.text == words
            if same and not each.gaps and each.status is not Status.CANCELLED:
                return each
        return None


class EventReading(Struct, frozen=True):
    """Reads the words of an event; None if they send nothing and become the task as they are."""

    book: ContactBook
    zone: ZoneInfo
    commands: frozenset[str] = frozenset()

    def __call__(self, title: str, text: str, start: datetime) -> TaskLedger | None:
        words = words_of(title, text)
        found = assign_commands(
            extract(words, now=start, zone=self.zone, book=self.book), self.commands
        )
        if not found.tasks or not _sends(found):
            return None
        found = _join_into_one(_with_rest(_without_other_times(found, start)))
        (ledger, *_) = ledgers(apply_plan(found, None, self.book.home))
        # At the start nobody is asked about words that hold it back; before a send the owner is.
        texts = texts_to_others(found, message_words(words, self.book))
        veto = (*find_veto(words, self.book, texts), *doubts_of(found, words, self.book))
        limits = find_conditions(words, self.book, start, self.zone, texts)
        return replace(ledger, veto=veto, conditions=limits)

    def speaks(self, title: str, text: str, start: datetime) -> bool:
        """Whether the words of an event send something."""
        return self(title, text, start) is not None


def words_of(title: str, text: str) -> str:
    """Return all words of an event; only the title of a long one."""
    more = text.strip()
    whole = title if more in ("", title) else f"{title}\n{more}"
    return whole if len(whole) <= _MOST else title


def _sends(found: Extraction) -> bool:
    asked = {each.about for each in found.questions}
    return (
        any(draft.agent for draft in found.tasks)
        or any(clause.became is ClauseOutcome.DELIVERY for clause in found.clauses)
        or bool(asked & {QuestionTopic.RECIPIENT, QuestionTopic.CHANNEL, QuestionTopic.CONTENT})
    )


def _without_other_times(found: Extraction, start: datetime) -> Extraction:
    """Decline every other time: the event says when."""
    same = any(draft.scheduled_for == start for draft in found.tasks)
    left = tuple(each for each in found.questions if each.about is not QuestionTopic.TIME)
    when = {each.clause for each in found.questions} - {each.clause for each in left}
    clauses = [
        replace(clause, became=ClauseOutcome.DECLINED, why=_WHEN)
        if (clause.became is ClauseOutcome.TIME and not same)
        or (clause.became is None and at in when)
        else clause
        for at, clause in enumerate(found.clauses)
    ]
    drafts = tuple(
        replace(each, scheduled_for=None, recurrence=None, scheduled=True) for each in found.tasks
    )
    return _with_clauses(replace(found, tasks=drafts, questions=left), clauses)


def _with_rest(found: Extraction) -> Extraction:
    """Pass the rest of the description to the brain, if the brain does the work."""
    if not any(draft.needs_brain for draft in found.tasks):
        return found
    loose = {each.clause for each in found.questions if each.about is QuestionTopic.TASK}
    left = tuple(each for each in found.questions if each.clause not in loose)
    clauses = [
        replace(clause, became=ClauseOutcome.CONSTRAINT, why=_TOLD) if at in loose else clause
        for at, clause in enumerate(found.clauses)
    ]
    return _with_clauses(replace(found, questions=left), clauses)


def _join_into_one(found: Extraction) -> Extraction:
    """Return one task: all joined if the recipients are the same, else the first."""
    first, *others = found.tasks
    ways = {_ways(found, draft) for draft in found.tasks}
    if len(ways) == 1:
        return replace(found, tasks=(_join_drafts(found.tasks),))
    at = [n for n, clause in enumerate(found.clauses) if any(clause in d.clauses for d in others)]
    heads = {found.clauses.index(draft.clauses[0]) for draft in others if draft.clauses}
    clauses = [
        replace(clause, became=None if n in heads else ClauseOutcome.DECLINED, why=None)
        if n in at
        else clause
        for n, clause in enumerate(found.clauses)
    ]
    kept = tuple(each for each in found.questions if each.clause not in at)
    asked = tuple(_another(found, draft) for draft in others if draft.clauses)
    one = replace(first, clauses=tuple(found.clauses))
    return _with_clauses(replace(found, tasks=(one,), questions=(*kept, *asked)), clauses)


def _ways(found: Extraction, draft: Draft) -> frozenset[tuple[str, str | None, str | None]]:
    waits = [half for each in found.questions_about(draft) for half in each.waits]
    every = (*draft.deliveries, *waits)
    return frozenset((each.channel, each.recipient, each.content) for each in every)


def _join_drafts(drafts: Sequence[Draft]) -> Draft:
    """Join tasks with the same recipients: all of the work, and each send once."""
    first = drafts[0]
    return replace(
        first,
        work=tuple(dict.fromkeys(item for draft in drafts for item in draft.work)),
        deliveries=tuple(dict.fromkeys(each for draft in drafts for each in draft.deliveries)),
        instructions="\n".join(dict.fromkeys(each.instructions for each in drafts)),
        clauses=tuple(clause for draft in drafts for clause in draft.clauses),
    )


def _another(found: Extraction, draft: Draft) -> Question:
    text = " ".join(clause.text for clause in draft.clauses)
    sentence = (
        f"An event is one task, and {text!r:.100} is another. "
        'Write it as an event of its own, and say "leave it out" here.'
    )
    return Question(
        QuestionTopic.TASK, sentence, ("leave it out",), found.clauses.index(draft.clauses[0])
    )


def _with_clauses(found: Extraction, clauses: Sequence[Clause]) -> Extraction:
    now = dict(zip(found.clauses, clauses, strict=True))
    drafts = tuple(
        replace(draft, clauses=tuple(now[clause] for clause in draft.clauses))
        for draft in found.tasks
    )
    return replace(found, tasks=drafts, clauses=tuple(clauses))


def _task(
    cue: Cue, words: str, ledger: TaskLedger, earlier: Task | None, ids: Ids, now: datetime
) -> Task:
    draft = ledger.draft
    # Told to the brain whole: a description may say how, and no clause of it is left out.
    cue_read = replace(
        cue,
        title=draft.title,
        text=words,
        instructions=words,
        work=draft.work,
        delivery=draft.deliveries,
        assigned_agent=draft.agent,
        veto=ledger.veto,
        conditions=ledger.conditions,
    )
    request = OwnerRequest(words, ledger.clauses)
    gaps = ledger.gaps
    if earlier is not None and earlier.request is not None:
        cue_read, request, gaps = _cue_as_answered(cue_read, earlier), earlier.request, ()
    return replace(admit.make(cue_read, ids, now), request=request, gaps=gaps)


def _cue_as_answered(cue: Cue, earlier: Task) -> Cue:
    """Return the task as the owner answered last time."""
    whole = [each for each in earlier.delivery if not each.part]
    return replace(
        cue,
        title=earlier.title,
        instructions=earlier.instructions,
        work=tuple(WorkItem(item.description) for item in earlier.work),
        delivery=tuple(Delivery(each.channel, each.recipient, each.content) for each in whole),
    )
