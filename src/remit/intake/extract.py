"""Reads a message with closed patterns: tasks, questions, and the outcome of every clause.

Nothing is dropped silently: each character belongs to one clause or to a connective between
clauses; each clause became something or has a question.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from remit.contacts import ContactBook
from remit.intake.extraction import (
    Draft,
    Extraction,
    Question,
    QuestionTopic,
    as_title,
    connectives_between,
)
from remit.intake.message_words import MessageWords, message_words
from remit.intake.patterns import MessageUnit, UnitKind
from remit.intake.patterns.groups import FoundDeliveries, UnitGroup, group_units, plan_sends
from remit.intake.patterns.units import read_units
from remit.intake.reading_ledger import ClauseLabels, clauses_of
from remit.language.files import words_in_all
from remit.language.order_words import SmallTalk
from remit.language.time import DayPart
from remit.language.time.clock_time import ClockTime
from remit.language.time.phrase import TimePhrase, combine
from remit.language.time.resolve import Moment, Now, Recurrence, TimeDoubt, When, resolve_time
from remit.language.tokens import fold, keys_of, tokenize
from remit.model.contract import Clause, ClauseOutcome, WorkItem
from remit.model.delivery import Delivery


def without_address(text: str, book: ContactBook) -> str:
    """Return the message with the assistant's leading name blanked; positions stay.

    Without a greeting or a comma, a contact's name is the contact's: "Nina: come home".
    """
    name = book.assistant
    found = re.match(rf"(\s*(?:(\w+)\s+)?)({re.escape(name)})(\s*,|(?=\s))", text, re.IGNORECASE)
    if not name or found is None:
        return text
    greeting, comma = fold(found[2] or ""), found[4].strip()
    if greeting and greeting not in words_in_all("talk", "greetings"):
        return text
    if not greeting and not comma and book.people.at(keys_of(tokenize(name)), 0):
        return text
    blank = " " * (found.end() - len(found[1]))
    return found[1] + blank + text[found.end() :]


MAX_TITLE: Final = 120
USUAL_HOUR: Final = ClockTime(9)
FIRST_HOUR: Final = 6  # from then on people are awake: "tomorrow at 5" is in the afternoon
USUAL_HOURS: Final = {
    DayPart.AFTERNOON: ClockTime(16),
    DayPart.EVENING: ClockTime(20),
    DayPart.NIGHT: ClockTime(22),
}
_FIRST_TALK: Final = (
    *(SmallTalk.FORBIDDEN, SmallTalk.TAKEN_BACK, SmallTalk.CONTROL),
    *(SmallTalk.THANKS, SmallTalk.STATEMENT, SmallTalk.GREETING),
)


def extract(text: str, *, now: datetime, zone: ZoneInfo, book: ContactBook) -> Extraction:
    """Read a message of the owner. `now` has an offset, `zone` is the owner's."""
    words = message_words(without_address(text, book), book)
    groups = group_units(read_units(words), words)
    asked: list[tuple[int, Question]] = []  # each with the token that it is about
    labels = ClauseLabels(words)
    clock = _Clock(now, zone, usual=False, days={})
    made = [_make(group, words, labels, asked, clock) for group in groups]
    marked = list(clauses_of(labels, [at for at, _ in asked]))
    clauses = tuple(clause for clause, _ in marked)
    numbers = [_clause_at(marked, words, at) for at, _ in asked]
    questions = (replace(each, clause=n) for (_, each), n in zip(asked, numbers, strict=True))
    owners = [owner for _, owner in marked]
    drafts = [
        replace(draft, clauses=tuple(c for c, o in zip(clauses, owners, strict=True) if o == n))
        for n, some in enumerate(made)
        for draft in some
    ]
    return Extraction(
        tasks=tuple(drafts),
        questions=tuple(sorted(questions, key=lambda each: each.clause)),
        answer=_answer(groups, drafts),
        clauses=clauses,
        connectives=connectives_between(clauses, len(words.text)),
    )


def _clause_at(marked: Sequence[tuple[Clause, int]], words: MessageWords, at: int) -> int:
    start = words.tokens[min(at, len(words.tokens) - 1)].start
    return next((n for n, (clause, _) in enumerate(marked) if clause.end > start), len(marked) - 1)


def _answer(groups: Sequence[UnitGroup], drafts: Sequence[Draft]) -> SmallTalk | None:
    """Return the talk that wants an answer: a question always, other talk only if it is all."""
    sorts = [group.main.talk or SmallTalk.CONTROL for group in groups if not group.is_task]
    if SmallTalk.QUESTION in sorts:
        return SmallTalk.QUESTION
    if drafts:
        return None
    if any(group.taken_back for group in groups):
        sorts = [SmallTalk.TAKEN_BACK, *(sort for sort in sorts if sort is SmallTalk.FORBIDDEN)]
    return next((sort for sort in _FIRST_TALK if sort in sorts), SmallTalk.CHATTER)


# A task -------------------------------------------------------------------------------------------


def _make(
    group: UnitGroup,
    words: MessageWords,
    labels: ClauseLabels,
    asked: list[tuple[int, Question]],
    clock: "_Clock",
) -> list[Draft]:
    if not group.is_task:
        _label_loose(group, labels, asked)
        return []
    before = len(asked)
    sends = _sends(group, words, asked)
    for unit in group.units:
        labels.unit(unit, group.number, reminds=group.reminds)
    free = not sends.waits and not any(each.recipient for each in sends.deliveries)
    wakes = any(unit.order.wakes for unit in group.units)
    whens = _whens(group, words, asked, replace(clock, usual=free, wakes=wakes))
    for when in whens:
        if isinstance(when, Moment | Recurrence) and when.note and group.times:
            labels.note(group.times[0].start, when.note)
    work = tuple(WorkItem(each) for each in _work(group, words))
    if not work and not sends.deliveries and len(asked) == before:
        asked.append((group.asked_at, Question(QuestionTopic.TASK, "What is to be done?")))
    return [_draft(group, words, sends, work, when) for when in whens]


def _draft(
    group: UnitGroup,
    words: MessageWords,
    sends: FoundDeliveries,
    work: tuple[WorkItem, ...],
    when: When | None,
) -> Draft:
    recurrence = when if isinstance(when, Recurrence) else None
    at = when.at if isinstance(when, Moment) else recurrence.first if recurrence else None
    scheduled = when is not None and not isinstance(when, Now)
    note = when.note if isinstance(when, Moment | Recurrence) else None
    return Draft(
        title=_title(group, words, work),
        instructions="\n".join(_unit_text(unit, words) for unit in group.units),
        work=work,
        deliveries=sends.deliveries,
        scheduled=scheduled,
        scheduled_for=at,
        recurrence=recurrence,
        stays=group.stays,
        needs_brain=bool(work) or any(each.content is None for each in sends.deliveries),
        notes=tuple(each for each in (note, *_corrections(group, words)) if each),
    )


def _corrections(group: UnitGroup, words: MessageWords) -> Iterator[str]:
    for unit in group.units:
        spans = [unit.order.corrected] if unit.order.corrected else []
        spans += [(unit.order.start, unit.order.end)] if unit.corrects else []
        for span in spans:
            yield f"{words.slice(*span)!r} stands instead of what you said before."


def _unit_text(unit: MessageUnit, words: MessageWords) -> str:
    return words.slice(unit.start, unit.end).strip(" \n,;-–—")


def _title(group: UnitGroup, words: MessageWords, work: Sequence[WorkItem]) -> str:
    texts = [unit.text for unit in group.units if unit.text]
    if group.heading:
        texts.insert(0, group.heading)
        work = ()
    title = next((each for each in (*(item.description for item in work), *texts)), "")
    title = title or _unit_text(group.main, words)
    line = as_title(" ".join(title.split()))
    return line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 3].rstrip() + "..."


def _work(group: UnitGroup, words: MessageWords) -> Iterator[str]:
    for unit in group.units:
        made = unit.kind in (UnitKind.WORK, UnitKind.COMPOSE) and not group.reminds
        if made and (text := words.slice(*unit.body)):
            yield text
    if group.waits_for_limit:
        yield words.slice(*group.units[0].body)


def _sends(
    group: UnitGroup, words: MessageWords, asked: list[tuple[int, Question]]
) -> FoundDeliveries:
    """Return what is sent to whom; ask about what is missing."""
    deliveries: list[Delivery] = []
    waits: list[Delivery] = []
    for unit in [] if group.stays else group.units:
        content = _content(group, unit, words)
        if unit.kind is UnitKind.WORK and not unit.order.channels:
            continue
        if unit.kind in (UnitKind.PASTED, UnitKind.LIMIT, UnitKind.CORRECT) or (
            content is _NOTHING and unit.kind is UnitKind.TALK
        ):
            continue
        found = plan_sends(unit, content or None, words)
        deliveries += [each for each in found.deliveries if each not in deliveries]
        waits += found.waits
        asked += found.asked
        _ask_content(group, unit, found, words, asked)
    return FoundDeliveries(tuple(deliveries), waits, [])


_NOTHING: Final = ""


def _content(group: UnitGroup, unit: MessageUnit, words: MessageWords) -> str | None:
    """Return the owner's own text that a unit sends; None if it must be written."""
    if unit.kind is UnitKind.REMIND and unit.text is None and not group.waits_for_limit:
        before = [each for each in group.units if each is not unit]
        texts = [each.text or words.slice(*each.body) for each in before]
        return " ".join(each for each in texts if each) or _NOTHING
    return unit.text if unit.kind in (UnitKind.SEND, UnitKind.REMIND, UnitKind.NOTE) else _NOTHING


def _ask_content(
    group: UnitGroup,
    unit: MessageUnit,
    found: FoundDeliveries,
    words: MessageWords,
    asked: list[tuple[int, Question]],
) -> None:
    """Ask what to send, if nothing says it."""
    lacking = (*found.deliveries, *dict.fromkeys(found.waits))
    known = any(each.content for each in lacking)
    made = any(each.kind in (UnitKind.WORK, UnitKind.COMPOSE) for each in group.units)
    if known or group.waits_for_limit or (made and unit.kind is not UnitKind.REMIND):
        return
    if unit.order.it is not None:
        at = unit.order.it
        sentence = f"What is meant by {words.slice(*at)!r}?"
        asked.append((at[0], Question(QuestionTopic.CONTENT, sentence, waits=lacking)))
        return
    reminds = unit.kind is UnitKind.REMIND
    sentence = "What is the reminder about?" if reminds else "What is to be sent?"
    question = Question(QuestionTopic.CONTENT, sentence, waits=lacking, letter=reminds)
    asked.append((max(unit.order.verb_at, unit.start), question))


# When ---------------------------------------------------------------------------------------------


def _whens(
    group: UnitGroup,
    words: MessageWords,
    asked: list[tuple[int, Question]],
    clock: "_Clock",
) -> tuple[When | None, ...]:
    """Return the times of a task, joined and resolved, or a question."""
    times = group.times
    if not times:
        if group.reminds:
            at = next(u.order.verb_at for u in group.units if u.kind is UnitKind.REMIND)
            asked.append((max(at, group.main.start), Question(QuestionTopic.TIME, _DUE)))
            return (TimeDoubt(_DUE),)
        return (None,)
    phrase, text = times[0], words.slice(times[0].start, times[0].end)
    for other in times[1:]:
        joined = combine(phrase, other)
        if joined is None:
            second = words.slice(other.start, other.end)
            sentence = f"Is it to happen {text!r} or {second!r}? A task has one time."
            asked.append((other.start, Question(QuestionTopic.TIME, sentence)))
            return (TimeDoubt(sentence),)
        phrase, text = joined, f"{text} {words.slice(other.start, other.end)}"
    if phrase.every and not phrase.until and _names_end(group, words):
        sentence = f"Until when is {text!r} to go on? Say it again if it has no end."
        asked.append((group.asked_at, Question(QuestionTopic.TIME, sentence, (text,))))
        return (TimeDoubt(sentence),)
    answers = clock.resolve(phrase, text, group.main.line.number)
    if isinstance(doubt := answers[0], TimeDoubt):
        question = Question(QuestionTopic.TIME, doubt.why, doubt.options)
        asked.append((group.asked_at, question))
    return answers


def _names_end(group: UnitGroup, words: MessageWords) -> bool:
    """Whether words of a task may say how long it lasts; words of a text do not."""
    return any(
        words.names_end(
            unit.body[1] if unit.marked and unit.kind is UnitKind.SEND else unit.start, unit.end
        )
        for unit in group.units
    )


class _Clock(Struct, frozen=True):
    """The base of times; a missing hour or half of the day is `usual` if only the owner waits."""

    now: datetime
    zone: ZoneInfo
    usual: bool
    days: dict[int, date]  # those that were named in a line, for a later "at 9"
    wakes: bool = False  # an early hour is meant

    def resolve(self, phrase: TimePhrase, text: str, line: int) -> tuple[When, ...]:
        named = self.days.get(line)
        if self.usual and self.wakes and phrase.clocks and not (phrase.day or named):
            named = (self.now.astimezone(self.zone) + timedelta(days=1)).date()
        answers = resolve_time(phrase, text, now=self.now, zone=self.zone, day=named)
        if isinstance(first := answers[0], Moment) and first.day:
            self.days[line] = first.day
        if not (self.usual and isinstance(first, TimeDoubt)) or phrase.vague:
            return answers
        if phrase.clocks and not (phrase.day or phrase.every or named):
            return answers
        hour = self._usual(phrase)
        usual = resolve_time(hour, text, now=self.now, zone=self.zone, day=named)
        return tuple(_with_note(each, text, self.zone) for each in usual)

    def _usual(self, phrase: TimePhrase) -> TimePhrase:
        """Return a time with the hour, or the half of the day, that most people mean."""
        part = phrase.part_of_day
        if not phrase.clocks:
            hour = USUAL_HOURS.get(part, USUAL_HOUR) if part else USUAL_HOUR
            return replace(phrase, clocks=(hour,), part=None)
        early = self.wakes or all(clock.hour >= FIRST_HOUR for clock in phrase.clocks)
        return replace(phrase, part=part or (DayPart.MORNING if early else DayPart.AFTERNOON))


def _with_note(when: When, text: str, zone: ZoneInfo) -> When:
    """Return a time that was not said, with a note on what was assumed."""
    if not isinstance(when, Moment | Recurrence):
        return when
    at = when.at if isinstance(when, Moment) else when.first
    return replace(when, note=f"{text!r} is taken as {at.astimezone(zone):%A %Y-%m-%d %H:%M}.")


_DUE: Final = "When is the reminder due?"


# What belongs to no task --------------------------------------------------------------------------


def _label_loose(group: UnitGroup, labels: ClauseLabels, asked: list[tuple[int, Question]]) -> None:
    """Label units without a task: talk is declined, controls and pasted text are asked."""
    unit = group.main
    why = "You said not to." if unit.talk is SmallTalk.FORBIDDEN else "It asks for no task."
    why = "It is ticked already." if unit.line.ticked else why
    why = "You took it back." if group.taken_back else why
    alone = unit.kind is UnitKind.RETRACT and group.number == 0
    declined = unit.kind in (UnitKind.TALK, UnitKind.RETRACT) and not alone
    if group.taken_back:
        for each in group.units:
            labels.loose(replace(each, body=(each.start, each.end)), ClauseOutcome.DECLINED, why)
        return
    labels.loose(unit, ClauseOutcome.DECLINED if declined else None, why if declined else None)
    if not declined and unit.end > unit.start:
        pasted = unit.kind is UnitKind.PASTED
        sentence = "What is to be done with this text?" if pasted else "Which task is this about?"
        asked.append((unit.body[0], Question(QuestionTopic.TASK, sentence)))
