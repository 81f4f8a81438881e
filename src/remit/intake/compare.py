"""A model's reading held against code's own: what it leaves out is asked, what it adds is dropped.

The order of trust is the owner's words, then how code read them, then the model. A time, a send or
a text to the letter is never taken from a model; where its plan lacks what code read, or says
otherwise, the owner is asked before anything runs, and code's reading is the first thing offered.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final
from zoneinfo import ZoneInfo

from remit.intake.compare_matter import LEAVE_OUT, Ground, Matter, matters, opened, show, shown
from remit.intake.compare_sends import (
    Doubted,
    Planned,
    added_sends,
    ask_sends,
    ask_unread,
    named,
    own_texts,
)
from remit.intake.compare_taken import ask_loose_sends, settle_ways, take
from remit.intake.compare_times import ask_time, ask_unread_time, is_timed, told
from remit.intake.extract import Draft, Extraction
from remit.intake.proposed import Proposal, ProposedTask
from remit.intake.recipients import About, Book, Question
from remit.model.delivery import Delivery
from remit.model.plan import Became
from remit.model.task import TaskType

YES: Final = "yes"
_GO_OUT: Final = "it is to go out"  # what `settle` reads as: as it was said
_MOST_NOTES: Final = 6


def compare(
    text: str, found: Extraction, plan: Proposal, *, zone: ZoneInfo, book: Book
) -> Extraction:
    """Join what code read with what a model proposed. Every doubt is a question on a clause."""
    found = settle_ways(found, plan, text, book)
    ground = Ground.of(text, found, book, zone)
    everything = matters(ground, plan)
    asked: list[Question] = []
    drafts: list[Draft] = []
    for matter in everything:
        held = _held(matter, ground)
        asked += held.questions
        notes = (*held.notes, *_notes(matter, everything, plan, ground))[:_MOST_NOTES]
        drafts += (replace(each, notes=(*each.notes, *notes)) for each in held.drafts)
    questions = sorted((*found.questions, *asked), key=lambda question: question.clause)
    joined = replace(found, tasks=tuple(drafts), questions=tuple(questions))
    return opened(joined, {question.clause for question in asked if _leaves_open(question, ground)})


def _leaves_open(question: Question, ground: Ground) -> bool:
    """Whether nobody knows what becomes of the clause until it is answered."""
    became = ground.found.clauses[question.clause].became
    return question.about is not About.TASK and became in (Became.DELIVERY, Became.TIME)


@dataclass(slots=True)
class _Held:
    """The drafts of a matter, without what they wait for, and the questions about that."""

    drafts: tuple[Draft, ...]
    questions: list[Question] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def let_wait(self, *deliveries: Delivery) -> None:
        self.drafts = tuple(
            replace(draft, deliveries=tuple(d for d in draft.deliveries if d not in deliveries))
            for draft in self.drafts
        )


def _held(matter: Matter, ground: Ground) -> _Held:
    held = _Held(tuple(take(draft, matter, ground) for draft in matter.drafts))
    if not matter.tasks:
        held.questions.append(_ask_whole(matter))
        return held
    _hold_sends(held, matter, ground)
    _hold_time(held, ask_time(matter, ground))
    _hold_unread(held, matter, ground)
    if not any(question.about is About.CHANNEL for question in held.questions):
        held.questions += ask_loose_sends(matter, ground)
    done = {question.clause for question in (*held.questions, *ground.found.questions)}
    for at in matter.clauses:
        sentence = None if at in done else _doubt(at, matter, ground)
        if sentence:
            held.questions.append(_confirm(sentence, at))
    return held


def _confirm(sentence: str, at: int) -> Question:
    """Ask whether what code read shall be done; until then it stays in the draft as it is."""
    return Question(About.TASK, sentence, (YES, LEAVE_OUT), at)


def _hold_sends(held: _Held, matter: Matter, ground: Ground) -> None:
    """Let each doubted send wait in a question about it. One answer never fills two of them."""
    asked = {question.clause for question in ground.found.questions}
    waiting = [half for question in ground.found.questions for half in question.waits]
    doubts: dict[int, list[Doubted]] = {}
    for each in ask_sends(matter, ground):
        at = each.question.clause
        if at in asked or each.delivery in waiting:  # code asks about this already
            held.notes.append(each.question.sentence)
        else:
            doubts.setdefault(at, []).append(each)
    for at, here in doubts.items():
        held.let_wait(*(each.delivery for each in here))
        held.questions.append(here[0].question if len(here) == 1 else _ask_all(here, at))


def _ask_all(doubts: list[Doubted], at: int) -> Question:
    """Ask about several sends of one clause at once: as they were said, or not at all."""
    sentence = " ".join(each.question.sentence for each in doubts)
    whole = tuple(named(each.delivery, at, n) for n, each in enumerate(doubts))
    return Question(About.CHANNEL, sentence, (_GO_OUT,), at, whole)


def _hold_time(held: _Held, question: Question | None) -> None:
    """Let a task wait for its time; of two times of day none may be lost to one answer."""
    if question is None:
        return
    if len(held.drafts) > 1:
        held.questions.append(_confirm(question.sentence, question.clause))
        return
    held.questions.append(question)
    held.drafts = (replace(held.drafts[0], scheduled_for=None, recurrence=None),)


def _hold_unread(held: _Held, matter: Matter, ground: Ground) -> None:
    """Ask about what the model reads in words that code cannot read."""
    if not matter.unread:
        return
    sends = (send for task in matter.tasks for send in added_sends(task, (matter,), ground.book))
    asked = (ask_unread(send, matter, ground) for send in sends)
    if not matter.asks(ground, About.CHANNEL):
        held.questions += list(filter(None, asked))[:1]
    timed = next((task for task in matter.tasks if is_timed(task)), None)
    if timed and not _has_time(matter, ground):
        held.questions.append(ask_unread_time(timed, matter, ground))
        held.drafts = tuple(replace(each, type=TaskType.SCHEDULED) for each in held.drafts)


# What the plan lacks ------------------------------------------------------------------------------


def _ask_whole(matter: Matter) -> Question:
    """Ask about all of it, where the model made no task of it."""
    why = next((each.why for each in matter.mapped if each.why), None)
    because = f" because {show(why)}" if why else ""
    title = show(matter.draft.title)
    sentence = f"The plan of the model leaves out {title}{because}. Shall it be done? Else decline."
    return Question(About.TASK, sentence, (YES,), matter.clauses[0])


def _doubt(at: int, matter: Matter, ground: Ground) -> str | None:
    """Say what is wrong with the fate of a clause, if anything is."""
    clause = ground.found.clauses[at]
    if clause.became not in (Became.WORK, Became.CONSTRAINT):
        return None  # its sends and its time were held against the plan already
    declined = matter.declined(ground, clause.became)
    if at in declined:
        return f"The model would leave out {shown(clause)}{declined[at]}. Shall it be done?"
    if not matter.fates(at):
        plan = "the plan of the model does not say what becomes of it"
        return f"You said {shown(clause)}; {plan}. Shall it be done?"
    lacking = matter.planned(ground).lacks(ground.wording(clause.text))
    if not lacking or ground.is_heading(clause):
        return None
    words = ", ".join(show(word) for word in lacking[:3])
    return f"You said {shown(clause)}; the plan of the model has no {words}. Shall it be done?"


# What the plan adds -------------------------------------------------------------------------------


def _notes(
    matter: Matter, everything: tuple[Matter, ...], plan: Proposal, ground: Ground
) -> Iterator[str]:
    """Say what the model added and nobody asked for; all of it is dropped."""
    for task in dict.fromkeys(plan.tasks):
        owners = tuple(each for each in everything if task in each.tasks)
        if not owners and matter is everything[0]:
            yield f"The model would also have made a task {show(task.title)}; nobody asked for it."
        if owners and owners[0] is matter:
            yield from _notes_on(task, owners, ground)


def _notes_on(task: ProposedTask, owners: tuple[Matter, ...], ground: Ground) -> Iterator[str]:
    asked = owners[0].unread  # then the owner is asked about what can be meant
    for send in added_sends(task, owners, ground.book):
        if not (asked and ask_unread(send, owners[0], ground)):
            yield f"The model would also have sent it to {_where(send)}; nobody asked for that."
    for send in own_texts(task, owners, ground.book):
        yield f"The model wrote a text of its own for {_where(send)}; it is not sent."
    if is_timed(task) and not asked and not any(_has_time(owner, ground) for owner in owners):
        yield f"The model would have set a time, {told(task, ground.zone)}; you named none."


def _where(send: Planned) -> str:
    return f"{show(send.recipient) if send.recipient else 'you'} by {show(send.channel)}"


def _has_time(matter: Matter, ground: Ground) -> bool:
    """Whether a time was said, or is asked for."""
    return matter.draft.scheduled_for is not None or matter.asks(ground, About.TIME)
