"""A task as it will be admitted: what to work on, what to send whom, and when."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from remit.intake.grammar.pieces import Piece, Sort
from remit.intake.lexicon.shape import Does
from remit.intake.outgoing import Outgoing, forbidden, half, letter_text, outgoing, without
from remit.intake.recipients import About, Question
from remit.intake.schedule import Clockwork, Schedule, schedule
from remit.intake.sketch import Line, Sketch
from remit.intake.times import Moment, Now, Recurrence, When
from remit.model.delivery import Delivery
from remit.model.plan import Became, Item
from remit.model.task import TaskType

MOST_TITLE: Final = 120
_ONE_LINE: Final = " "

Key = tuple[int, int]  # the number of a sentence, and of the first token of a piece


@dataclass(frozen=True, slots=True)
class Judged:
    """A piece of a line and what became of it; without that it waits for an answer."""

    line: Line
    piece: Piece
    became: Became | None
    why: str | None = None
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One task, before its clauses are numbered."""

    title: str
    instructions: str
    work: tuple[Item, ...]
    deliveries: tuple[Delivery, ...]
    when: When | None
    is_scheduled: bool
    notes: tuple[str, ...]
    stays: bool = False  # the same message says not to send it

    @property
    def needs_brain(self) -> bool:
        return bool(self.work) or any(each.content is None for each in self.deliveries)

    @property
    def type(self) -> TaskType:
        return TaskType.SCHEDULED if self.is_scheduled else TaskType.IMMEDIATE


@dataclass(slots=True)
class _Bench:
    """What is found out about a task while it is put together."""

    text: str
    asked: dict[Key, Question] = field(default_factory=dict)  # about a piece nobody understands
    missing: dict[Key, list[Question]] = field(default_factory=dict)  # what one that is lacks
    notes: dict[Key, str] = field(default_factory=dict)
    work: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    waits: dict[Key, list[Delivery]] = field(default_factory=dict)  # for the answer about a piece
    judged: list[Judged] = field(default_factory=list)

    def words(self, line: Line, start: int, end: int) -> str:
        tokens = line.said.tokens
        return self.text[tokens[start].start : tokens[end - 1].end]


def make(task: Sketch, text: str, clock: Clockwork) -> tuple[list[Judged], list[Made]]:
    """Judge every piece of a task, and make the task; several times of day make several."""
    bench = _Bench(text)
    times = schedule(task, bench.text, clock)
    bench.asked.update(times.asked)
    bench.missing.update({key: [question] for key, question in times.missing.items()})
    bench.notes.update(times.notes)
    barred = forbidden(task)
    labours = any(line.of(Sort.CONDITION) for line in task.lines)
    for line in task.lines:
        _line(line, bench, labours=labours, barred=barred)
        labours = labours or not (line.sends or line.is_beside) or bool(bench.work)
    _ask_what(bench)
    made = [_made(task, bench, times, when) for when in times.answers or (None,)]
    return bench.judged, [replace(each, stays=barred is None) for each in made]


def _made(task: Sketch, bench: _Bench, times: Schedule, when: When | None) -> Made:
    work = bench.work or bench.conditions  # what depends on something must be looked at first
    notes = [when.note] if isinstance(when, Moment | Recurrence) and when.note else []
    return Made(
        title=_title(task, bench),
        instructions=_instructions(task, bench),
        work=tuple(Item(each) for each in work),
        deliveries=tuple(bench.deliveries),
        when=None if isinstance(when, Now) else when,
        is_scheduled=times.is_scheduled,
        notes=tuple(notes),
    )


def _line(
    line: Line, bench: _Bench, *, labours: bool, barred: frozenset[str | None] | None
) -> None:
    if line.note or line.reading.negated or line.refuses:
        _judge(line, bench, lambda _: Became.CONSTRAINT)
    elif not line.sends:
        _work(line, bench)
    elif barred is None:
        _withheld(line, bench)
    else:
        _send(line, bench, labours=labours, barred=barred)
    bench.conditions += [bench.words(line, c.start, c.end) for c in line.of(Sort.CONDITION)]


def _work(line: Line, bench: _Bench) -> None:
    objects = line.of(Sort.OBJECT)
    if objects:
        bench.work.append(" ".join(bench.words(line, each.start, each.end) for each in objects))
    for n, way in enumerate(line.of(Sort.WAY)):
        if way.question:
            lacking = half(Delivery(way.channel.name if way.channel else ""), line, n)
            bench.waits.setdefault((line.number, way.start), []).append(lacking)
        elif way.channel:
            bench.deliveries.append(Delivery(way.channel.name))
    _judge(line, bench, lambda piece: _WORKING[piece.sort])


def _withheld(line: Line, bench: _Bench) -> None:
    """The same message says not to send: what was to be written is written, and stays here."""
    verb = line.reading.verb
    if verb is not None and verb.composes:
        act = line.reading.act
        bench.work.append(bench.words(line, act.head.start if act.head else act.start, act.end))
        _judge(line, bench, lambda piece: _ASIDE.get(piece.sort, Became.WORK))
    else:
        why = "The same message says not to send it."
        _judge(line, bench, lambda piece: _ASIDE.get(piece.sort, Became.DECLINED), why=why)


def _send(line: Line, bench: _Bench, *, labours: bool, barred: frozenset[str | None]) -> None:
    found = outgoing(line, bench.text)
    bench.deliveries += without(found.deliveries, barred)
    for piece, question in found.questions:
        bench.asked[line.number, piece.start] = question
    for piece, lacking in found.waits:
        if lacking.recipient is None or lacking.recipient not in barred:
            bench.waits.setdefault((line.number, piece.start), []).append(lacking)
    things = _things(line, labours=labours)
    bench.work += [bench.words(line, start, end) for start, end in _stretches(things)]
    _ask_for_content(line, found, bench, labours=labours or bool(things))
    made = {each.start for each in things}
    _judge(line, bench, lambda p: Became.WORK if p.start in made else _SENDING[p.sort])


def _things(line: Line, *, labours: bool) -> tuple[Piece, ...]:
    """What a line sends that must be worked out first."""
    letters = line.of(Sort.LETTER)
    if labours:
        return () if letters else line.of(Sort.OBJECT)
    things = line.of(Sort.OBJECT, Sort.RESULT)
    if not letters:
        return things
    described = any(_is_described(line, thing, letters[0]) for thing in things)
    return () if described else line.of(Sort.OBJECT)


def _stretches(things: Iterable[Piece]) -> Iterator[tuple[int, int]]:
    """Put together what stands side by side: "a summary" "of my expenses" is one thing."""
    begun: tuple[int, int] | None = None
    for thing in things:
        if begun and begun[1] == thing.start:
            begun = begun[0], thing.end
            continue
        if begun:
            yield begun
        begun = thing.start, thing.end
    if begun:
        yield begun


def _is_described(line: Line, thing: Piece, letter: Piece) -> bool:
    """Whether a thing is the text itself: "a greeting: …", not "the report, with the text …"."""
    said = line.said
    colon = ":" in said.keys[thing.end : letter.start + 1]
    return colon or said.keys[thing.start] in said.language.one


def _ask_for_content(line: Line, found: Outgoing, bench: _Bench, *, labours: bool) -> None:
    """Ask what is to be sent, where nothing says it."""
    if labours or line.of(Sort.LETTER):
        return
    lacking = (*found.deliveries, *dict.fromkeys(each for _, each in found.waits))
    pronoun = next(iter(line.of(Sort.PRONOUN)), None)
    if pronoun:
        words = bench.words(line, pronoun.start, pronoun.end)
        question = Question(About.CONTENT, f"What is meant by {words!r}?", waits=lacking)
        bench.asked[line.number, pronoun.start] = question
        return
    reminds = line.does is Does.REMIND
    sentence = "What is the reminder about?" if reminds else "What is to be sent?"
    key = line.number, line.first.start
    question = Question(About.CONTENT, sentence, waits=lacking, letter=reminds)
    bench.missing.setdefault(key, []).append(question)


def _ask_what(bench: _Bench) -> None:
    """Ask what is to be done, where only a time or a no was said."""
    done = bench.work or bench.conditions or bench.deliveries
    if bench.judged and not done and not any(each.questions for each in bench.judged):
        question = Question(About.TASK, "What is to be done?")
        bench.judged[0] = replace(bench.judged[0], questions=(question,))


def _judge(
    line: Line, bench: _Bench, became: Callable[[Piece], Became], *, why: str | None = None
) -> None:
    for piece in line.reading.pieces:
        if piece.sort is Sort.LINK:
            continue
        key = line.number, piece.start
        open_question = piece.question or bench.asked.get(key)
        if open_question and key in bench.waits:
            open_question = replace(open_question, waits=tuple(bench.waits[key]))
        questions = (open_question, *bench.missing.get(key, ()))
        fate = None if open_question else became(piece)
        asked = tuple(question for question in questions if question)
        bench.judged.append(Judged(line, piece, fate, why or bench.notes.get(key), asked))


_ASIDE: Final = {
    Sort.TIME: Became.TIME,
    Sort.LIMIT: Became.CONSTRAINT,
    Sort.CONDITION: Became.CONSTRAINT,
    Sort.NEGATED: Became.CONSTRAINT,
}
_WORKING: Final = {
    **dict.fromkeys(Sort, Became.WORK),
    **_ASIDE,
    Sort.WAY: Became.DELIVERY,
}
_SENDING: Final = {**dict.fromkeys(Sort, Became.DELIVERY), **_ASIDE}


# Words about it -----------------------------------------------------------------------------------


def _title(task: Sketch, bench: _Bench) -> str:
    """The owner's own words for it, on one line."""
    title = next((each for each in _titles(task, bench) if each.strip()), bench.text)
    line = headed(_ONE_LINE.join(title.split()))
    return line if len(line) <= MOST_TITLE else line[: MOST_TITLE - 3].rstrip() + "..."


def headed(title: str) -> str:
    """A title with a capital first letter; a first word that is no plain word stays as it is."""
    first = title.partition(" ")[0].rstrip(",;:.!?")
    plain = first.replace("'", "").replace("’", "").replace("-", "")
    return title[:1].upper() + title[1:] if plain.isalpha() and plain.islower() else title


def _titles(task: Sketch, bench: _Bench) -> Iterator[str]:
    if task.listed:
        yield from (_whole(line, bench) for line in task.lines if line.note)
    yield from bench.work
    for line in task.lines:
        yield from (letter_text(line, each, bench.text) for each in line.of(Sort.LETTER))
    yield from (_whole(line, bench) for line in task.lines)


def _instructions(task: Sketch, bench: _Bench) -> str:
    """All that was said about the task, to the letter."""
    return "\n".join(each for each in _slices(task.lines, bench) if each)


def _slices(lines: Iterable[Line], bench: _Bench) -> Iterator[str]:
    """The stretches of the message that belong to a task; what was said in one breath stays so."""
    begun: Line | None = None
    last: Line | None = None
    for line in lines:
        if (
            last
            and begun
            and (line.number, line.reading.act.lead) == (last.number, last.reading.act.end)
        ):
            last = line
            continue
        if begun and last:
            yield _between(begun, last, bench)
        begun = last = line
    if begun and last:
        yield _between(begun, last, bench)


def _between(first: Line, last: Line, bench: _Bench) -> str:
    start, end = first.reading.act.start, last.reading.act.end
    return bench.words(first, start, end) if end > start else ""


def _whole(line: Line, bench: _Bench) -> str:
    return _between(line, line, bench)
