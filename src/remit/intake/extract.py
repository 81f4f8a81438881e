"""What a message asks for, read without a model: tasks, questions to ask back, and every clause.

Nothing is dropped in silence: each character of the message lies in one clause, or in one of the
connectives between them; each clause became something, or has a question.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from remit.intake.address import without_address
from remit.intake.corrected import Unsettled, Woven, corrected
from remit.intake.drafts import Judged, Made, make
from remit.intake.grammar.pieces import Piece, Sort
from remit.intake.grammar.sentences import sentences
from remit.intake.lexicon.shape import Talk
from remit.intake.recipients import About, Book, Question
from remit.intake.schedule import Clockwork
from remit.intake.sketch import Line, sketch
from remit.intake.times import Moment, Recurrence
from remit.language.tokens import Token, tokenize
from remit.model.condition import Condition
from remit.model.delivery import Delivery
from remit.model.plan import Became, Clause, Item
from remit.model.task import TaskType
from remit.model.veto import VetoCue


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A task as the owner's words make it. Times are in UTC; `clauses` are those of its own."""

    title: str
    instructions: str
    work: tuple[Item, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    type: TaskType = TaskType.IMMEDIATE
    scheduled_for: datetime | None = None
    recurrence: Recurrence | None = None
    needs_brain: bool = False
    stays: bool = False  # the same message says not to send it
    agent: str | None = None  # who does it, if no brain is to
    notes: tuple[str, ...] = ()
    clauses: tuple[Clause, ...] = ()


@dataclass(frozen=True, slots=True)
class Connective:
    """What stands between clauses: blanks, marks, and words like "and" or "please"."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Extraction:
    """`answer` is the sort of talk that wants an answer or none, but makes no task."""

    tasks: tuple[Draft, ...]
    questions: tuple[Question, ...]
    answer: Talk | None
    clauses: tuple[Clause, ...]
    connectives: tuple[Connective, ...]
    veto: tuple[VetoCue, ...] = ()  # words that hold it back from everybody but the owner
    conditions: tuple[Condition, ...] = ()  # limits that the owner set

    def questions_about(self, draft: Draft) -> tuple[Question, ...]:
        """The questions that must be settled before a draft may run."""
        return tuple(q for q in self.questions if self.clauses[q.clause] in draft.clauses)


def extract(text: str, *, now: datetime, zone: ZoneInfo, book: Book) -> Extraction:
    """Read a message of the owner. `now` is a moment with its offset, `zone` the owner's own."""
    clock = Clockwork(now, zone)
    text = without_address(text, book)
    tokens = tokenize(text)
    woven = corrected(text, tokens, book)
    if woven is None:
        return _read(text, tokens, clock, book)
    return _rebound(_read(woven.text, tokenize(woven.text), clock, book), woven, text)


def _read(text: str, tokens: Sequence[Token], clock: Clockwork, book: Book) -> Extraction:
    message = sketch(sentences(tokens, book))
    judged: list[tuple[Judged, int]] = [
        (each, -1) for line in message.loose for each in _loose(line)
    ]
    made: list[list[Made]] = []
    for number, task in enumerate(message.tasks):
        pieces, tasks = make(task, text, clock)
        judged += [(piece, number) for piece in pieces]
        made.append(tasks)
    marked = sorted(_merged(judged, text), key=lambda each: each[0].start)
    clauses = tuple(clause for clause, _, _ in marked)
    owned: list[list[Clause]] = [[] for _ in made]
    for clause, _, owner in marked:
        if owner >= 0:
            owned[owner].append(clause)
    return Extraction(
        tasks=tuple(
            _draft(each, tuple(mine))
            for tasks, mine in zip(made, owned, strict=True)
            for each in tasks
        ),
        questions=tuple(
            replace(question, clause=at)
            for at, (_, questions, _) in enumerate(marked)
            for question in questions
        ),
        answer=_answer(message.loose, made),
        clauses=clauses,
        connectives=tuple(_gaps(clauses, len(text))),
    )


def _draft(made: Made, clauses: tuple[Clause, ...]) -> Draft:
    when = made.when
    recurrence = when if isinstance(when, Recurrence) else None
    at = when.at if isinstance(when, Moment) else recurrence.first if recurrence else None
    return Draft(
        title=made.title,
        instructions=made.instructions,
        work=made.work,
        deliveries=made.deliveries,
        type=made.type,
        scheduled_for=at,
        recurrence=recurrence,
        needs_brain=made.needs_brain,
        stays=made.stays,
        notes=made.notes,
        clauses=clauses,
    )


def _loose(line: Line) -> Iterator[Judged]:
    """Judge a line that belongs to no task: talk is declined, what is about a task is asked."""
    pieces = [piece for piece in line.reading.pieces if piece.sort is not Sort.LINK]
    if not pieces:
        return
    whole = Piece(pieces[0].start, pieces[-1].end, Sort.OBJECT)
    if (line.talk and line.talk is not Talk.CONTROL) or line.ticked or line.note:
        why = "It is ticked already." if line.ticked else "It asks for no task."
        yield Judged(line, whole, Became.DECLINED, why)
    else:
        pasted = "What is to be done with this text?"
        question = Question(About.TASK, pasted if line.said.pasted else "Which task is this about?")
        yield Judged(line, whole, None, None, (question,))


def _answer(loose: Sequence[Line], made: Sequence[object]) -> Talk | None:
    """What wants an answer: a question always, other talk only where it is all there is."""
    sorts = [_sort(line) for line in loose]
    if Talk.QUESTION in sorts:
        return Talk.QUESTION
    if made:
        return None
    first = (Talk.CONTROL, Talk.THANKS, Talk.STATEMENT, Talk.GREETING)
    return next((sort for sort in first if sort in sorts), Talk.CHATTER)


def _sort(line: Line) -> Talk:
    if line.talk:
        return line.talk
    if line.note or line.ticked:
        return Talk.STATEMENT
    return Talk.CONTROL


def _merged(
    judged: Iterable[tuple[Judged, int]], text: str
) -> Iterator[tuple[Clause, tuple[Question, ...], int]]:
    """Join neighbours of one kind into one clause; what is asked about stays by itself."""
    run: list[Judged] = []
    owner = -1
    for each, number in judged:
        if run and not (number == owner and _goes_on(run[-1], each)):
            yield *_clause(run, text), owner
            run = []
        run.append(each)
        owner = number
    if run:
        yield *_clause(run, text), owner


def _goes_on(before: Judged, after: Judged) -> bool:
    if before.line is not after.line or before.became is not after.became:
        return False
    if before.questions or after.questions or before.why != after.why:
        return False
    return before.piece.end == after.piece.start


def _clause(run: Sequence[Judged], text: str) -> tuple[Clause, tuple[Question, ...]]:
    first, last = run[0], run[-1]
    start = first.line.said.tokens[first.piece.start].start
    end = last.line.said.tokens[last.piece.end - 1].end
    clause = Clause(text[start:end], start, end, first.became, first.why)
    return clause, first.questions


def _gaps(clauses: Sequence[Clause], length: int) -> Iterator[Connective]:
    at = 0
    for clause in clauses:
        if clause.start > at:
            yield Connective(at, clause.start)
        at = clause.end
    if length > at:
        yield Connective(at, length)


# Corrections --------------------------------------------------------------------------------------


def _rebound(found: Extraction, woven: Woven, message: str) -> Extraction:
    """Put what was read of the message as it was meant back to where it stands in the message."""
    asked = {each.clause: each.about for each in found.questions}
    places = [
        _placed(clause, woven, message, asked.get(at)) for at, clause in enumerate(found.clauses)
    ]
    gone = [
        Clause(message[each.start : each.end], each.start, each.end, Became.DECLINED, each.why)
        for each in woven.struck
    ]
    clauses = tuple(sorted((*gone, *(c for some in places for c in some)), key=lambda c: c.start))
    where = dict(zip(found.clauses, places, strict=True))
    tasks = [
        replace(draft, clauses=tuple(c for clause in draft.clauses for c in where[clause]))
        for draft in found.tasks
    ]
    if tasks:
        at = _corrected(tasks, woven)
        mine = tuple(sorted((*tasks[at].clauses, *gone), key=lambda c: c.start))
        tasks[at] = replace(tasks[at], clauses=mine, notes=(*tasks[at].notes, *woven.notes))
    questions = tuple(
        replace(each, clause=clauses.index(_main(places[each.clause]))) for each in found.questions
    )
    bound = replace(
        found,
        tasks=tuple(tasks),
        questions=questions,
        clauses=clauses,
        connectives=tuple(_gaps(clauses, len(message))),
    )
    for doubt in woven.unsettled:
        bound = _asked(bound, doubt)
    return bound


def _placed(clause: Clause, woven: Woven, message: str, about: About | None) -> tuple[Clause, ...]:
    """A clause where its words stand; what was moved may stand in two places.

    Of one that is asked about a part stays open; the others are what they would be without.
    """
    spans = [
        (start, end)
        for start, end in woven.places(clause.start, clause.end)
        if any(letter.isalnum() for letter in message[start:end])
    ] or list(woven.places(clause.start, clause.end))
    parts = tuple(
        replace(clause, text=message[start:end].strip(), start=start, end=end)
        for start, end in (_stripped(message, *span) for span in spans)
    )
    if about is None or clause.became is not None:
        return parts
    fate = Became.TIME if about is About.TIME else Became.DELIVERY
    return tuple(each if each is _main(parts) else replace(each, became=fate) for each in parts)


def _main(parts: Sequence[Clause]) -> Clause:
    """The part that a question is about: the open one, else the longest."""
    return max(parts, key=lambda each: (each.became is None, len(each.text)))


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _corrected(tasks: Sequence[Draft], woven: Woven) -> int:
    """Which task was corrected: the last that begins before what was taken back."""
    first = min(each.start for each in woven.struck)
    begun = [n for n, task in enumerate(tasks) if task.clauses and task.clauses[0].start <= first]
    return begun[-1] if begun else 0


def _asked(found: Extraction, doubt: Unsettled) -> Extraction:
    """Ask what a correction corrects: until then nothing of it happens."""
    at = next((n for n, c in enumerate(found.clauses) if c.start < doubt.end <= c.end), None)
    if at is None or any(each.clause == at for each in found.questions):
        return found
    before = found.clauses[at]
    clause = replace(before, became=None)
    clauses = (*found.clauses[:at], clause, *found.clauses[at + 1 :])
    tasks, waits = [], tuple[Delivery, ...]()
    for task in found.tasks:
        mine = before in task.clauses
        held = tuple(clause if each == before else each for each in task.clauses)
        kept = replace(task, clauses=held)
        if mine and doubt.about is About.TIME:
            kept = replace(kept, scheduled_for=None, recurrence=None, type=TaskType.SCHEDULED)
        elif mine:
            waits = tuple(dict.fromkeys(Delivery("", None, d.content) for d in task.deliveries))
            kept = replace(kept, deliveries=())
        tasks.append(kept)
    question = Question(doubt.about, doubt.sentence, clause=at, waits=waits)
    return replace(
        found, tasks=tuple(tasks), clauses=clauses, questions=(*found.questions, question)
    )
