"""A message read without a model: what a closed pattern covers acts, anything else is asked.

Work that reaches nobody but the owner acts, too. Work that may be meant for somebody else, because
a verb sends or some words hold it back, does not become the owner's instead.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from remit.intake import answers
from remit.intake.extract import Draft, Extraction, extract
from remit.intake.message_words import MessageWords
from remit.intake.recipients import About, Book, Question
from remit.intake.times import Moment, Recurrence, When
from remit.intake.veto import find_veto, reaches_others
from remit.model.plan import Became
from remit.model.task import TaskType
from remit.model.veto import VetoCue, VetoKind

_PAUSES: Final = (",", ". ", "; ", "! ", "? ", "\n", "...", "…")


def read_plainly(text: str, *, now: datetime, zone: ZoneInfo, book: Book) -> Extraction:
    """Read a message by the closed patterns alone."""
    found = _with_usual_times(extract(text, now=now, zone=zone, book=book), now, zone, book)
    message = MessageWords(text, book)
    if not any(_named(message)):
        return found
    asked = [_question(found, draft, message) for draft in found.tasks]
    questions = tuple(each for each in asked if each is not None)
    veto = (*found.veto, *doubts_of(found, text, book))
    return replace(found, questions=(*found.questions, *questions), veto=veto)


def doubts_of(found: Extraction, text: str, book: Book) -> tuple[VetoCue, ...]:
    """What makes it uncertain that a text is to go to somebody, as the patterns read it."""
    message = MessageWords(text, book)
    return (*_mixed(found), *_uncovered(found, message), *_unclear(found, message))


def _with_usual_times(found: Extraction, now: datetime, zone: ZoneInfo, book: Book) -> Extraction:
    """A time of day that was only hinted at is taken as usual, where nobody else is concerned."""
    for question in [each for each in found.questions if each.about is About.TIME]:
        clause = found.clauses[question.clause]
        drafts = [draft for draft in found.tasks if clause in draft.clauses]
        held = [q for draft in drafts for q in found.questions_about(draft)]
        alone = len(drafts) == 1 == len(held) and not reaches_others(drafts[0].deliveries)
        around = [each.text for each in found.clauses if each != clause]
        if alone and answers.lacks_only_the_hour(clause.text, around, book):
            ends = [c.text for c in drafts[0].clauses if c.became is Became.TIME and c != clause]
            usual = answers.when(
                _usual(question), clause.text, now=now, zone=zone, book=book, elsewhere=ends
            )
            found = _timed(found, question, drafts[0], usual or (), zone)
    return found


def _usual(question: Question) -> str:
    return question.options[-1] if question.options else "09:00"


def _timed(
    found: Extraction, question: Question, draft: Draft, usual: Sequence[When], zone: ZoneInfo
) -> Extraction:
    """The reading with a time for a draft, which is echoed; as it is, if that is none."""
    when = usual[0] if len(usual) == 1 else None
    if not isinstance(when, Moment | Recurrence):
        return found
    at = when.at if isinstance(when, Moment) else when.first
    before = found.clauses[question.clause]
    clause = replace(before, became=Became.TIME) if before.became is None else before
    note = f"{clause.text!r} is taken as {at.astimezone(zone):%A %Y-%m-%d %H:%M}."
    timed = replace(
        draft,
        type=TaskType.SCHEDULED,
        scheduled_for=at,
        recurrence=when if isinstance(when, Recurrence) else None,
        notes=(*draft.notes, note),
        clauses=tuple(clause if each == before else each for each in draft.clauses),
    )
    return replace(
        found,
        tasks=tuple(timed if each is draft else each for each in found.tasks),
        clauses=tuple(clause if each == before else each for each in found.clauses),
        questions=tuple(each for each in found.questions if each is not question),
    )


class PlainReader:
    """The closed patterns alone: no model is asked."""

    async def read(self, text: str, now: datetime, zone: ZoneInfo, book: Book) -> Extraction:
        return read_plainly(text, now=now, zone=zone, book=book)


def _named(message: MessageWords) -> Iterator[str]:
    """Whom the message names, beside the owner."""
    for at in range(len(message.keys)):
        found = message.book.people.at(message.keys, at)
        for person in found[0] if found else ():
            if person is not message.book.owner:
                yield person.name


def _question(found: Extraction, draft: Draft, message: MessageWords) -> Question | None:
    """Ask whether work is meant for somebody else, where words speak for it."""
    if reaches_others(draft.deliveries) or found.questions_about(draft) or not draft.work:
        return None
    own = [n for n, clause in enumerate(found.clauses) if clause in draft.clauses]
    spans = [(found.clauses[n].start, found.clauses[n].end) for n in own]
    inside = [
        n
        for n, token in enumerate(message.tokens)
        if any(start <= token.start < end for start, end in spans)
    ]
    named = [n for n in inside if n in message.people]
    sends = any(message.sends_at(n) for n in inside)
    if not named or not (sends or find_veto(message.text, message.book)):
        return None
    who = " and ".join(dict.fromkeys(message.tokens[n].text for n in named))
    sentence = f"Is something to be sent to {who}? Say what, in quotation marks, or say what to do."
    return Question(About.TASK, sentence, clause=own[0])


def _mixed(found: Extraction) -> Iterator[VetoCue]:
    """Work beside a text to somebody: it may be that the work is to be done to the text."""
    if not any(reaches_others(draft.deliveries) for draft in found.tasks):
        return
    for draft in found.tasks:
        alone = not draft.deliveries
        if draft.work and alone and draft.clauses:
            clause = draft.clauses[0]
            yield VetoCue(VetoKind.UNCOVERED, clause.text, clause.start, clause.end)


def _uncovered(found: Extraction, message: MessageWords) -> Iterator[VetoCue]:
    """Words beside a text to somebody that no pattern covers: they may change what is meant."""
    texts = [span for each in _texts(found) for span in message.places(each)]
    if not texts:
        return
    others = (draft for draft in found.tasks if not reaches_others(draft.deliveries))
    own = [(clause.start, clause.end) for draft in others for clause in draft.clauses]
    times = [(c.start, c.end) for c in found.clauses if c.became is Became.TIME]
    for at, token in enumerate(message.tokens):
        inside = any(
            start < token.end and token.start < end for start, end in (*texts, *own, *times)
        )
        if not inside and not message.is_order_word(at) and not message.is_small_word(at):
            yield VetoCue(VetoKind.UNCOVERED, token.text, token.start, token.end)


def _unclear(found: Extraction, message: MessageWords) -> Iterator[VetoCue]:
    """A text without quotation marks or a colon that may be over at a comma."""
    for text in _texts(found):
        spans = list(message.places(text))
        marked = any(message.is_marked_text(span) for span in spans)
        if not marked and any(mark in text for mark in _PAUSES):
            start, end = spans[0] if spans else (0, 0)
            yield VetoCue(VetoKind.TEXT, text[:60], start, end)


def _texts(found: Extraction) -> list[str]:
    """The owner's own texts to somebody else."""
    sends = (each for draft in found.tasks for each in draft.deliveries)
    return [each.content for each in sends if each.recipient and each.content]
