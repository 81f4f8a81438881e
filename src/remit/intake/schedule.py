"""When a task is to happen: its times put together, reckoned, or asked about."""

from dataclasses import dataclass, field, replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

from remit.intake.days import Doubt
from remit.intake.grammar.dates import Offset
from remit.intake.grammar.ends import names_end
from remit.intake.grammar.phrases import is_topic, words_of
from remit.intake.grammar.pieces import Piece, Sort
from remit.intake.grammar.spoken import Spoken, combine
from remit.intake.lexicon.shape import Does
from remit.intake.recipients import About, Question
from remit.intake.sketch import Line, Sketch
from remit.intake.times import Moment, Now, Recurrence, When, reckon

Key = tuple[int, int]


@dataclass(slots=True)
class Clockwork:
    """From where times are reckoned; `days` are those named in a sentence, for a later "at 9"."""

    now: datetime
    zone: ZoneInfo
    days: dict[int, date] = field(default_factory=dict)


@dataclass(slots=True)
class Schedule:
    """The times of a task. Without any it happens at once, or `is_scheduled` and asked about."""

    answers: tuple[When, ...] = ()
    is_scheduled: bool = False
    asked: dict[Key, Question] = field(default_factory=dict)  # about a time nobody understands
    missing: dict[Key, Question] = field(default_factory=dict)  # about a time nobody named
    notes: dict[Key, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Said:
    line: Line
    piece: Piece
    spoken: Spoken

    @property
    def key(self) -> Key:
        return self.line.number, self.piece.start


def schedule(task: Sketch, text: str, clock: Clockwork) -> Schedule:
    """Find out when a task is to happen."""
    found = [
        _Said(line, piece, piece.spoken)
        for line in task.lines
        for piece in line.of(Sort.TIME)
        if piece.spoken
    ]
    made = Schedule(is_scheduled=bool(found))
    found = [each for each in found if each.piece.question is None]
    reminds = next((line for line in task.lines if line.does is Does.REMIND), None)
    spoken, words, first = _together(found, task, text, made)
    if spoken is None:
        if reminds and not made.is_scheduled:
            _ask(made, None, reminds, Doubt("When is the reminder due?"))
        return made
    line = first.line if first else task.lines[-1]
    if first and reminds and _is_of_event(first):
        options = ("when to remind", "when it takes place")
        doubt = Doubt(f"Is {words!r} when to remind, or when it takes place?", options)
        return _ask(made, first, line, doubt)
    if not reminds and _is_today(spoken):
        return replace(made, is_scheduled=False)
    if spoken.every and not spoken.until and _may_end(task):
        sentence = f"Until when is {words!r} to go on? Say it again if it has no end."
        return _ask(made, first, line, Doubt(sentence, (words,)))
    day = clock.days.get(line.number)
    answers = reckon(spoken, words, now=clock.now, zone=clock.zone, day=day)
    return _settled(made, first, line, answers, clock)


def _together(
    found: list[_Said], task: Sketch, text: str, made: Schedule
) -> tuple[Spoken | None, str, _Said | None]:
    """Put the times of a task together; two that are no halves of one are asked about."""
    if not found:
        given = task.given
        words = words_of(task.lines[-1].said, given.start, given.end) if given else ""
        return given, words, None
    first, *others = found
    spoken, words = first.spoken, _words(first, text)
    for other in others:
        if other.spoken == spoken:
            continue
        joined = combine(spoken, other.spoken)
        if joined is None:
            sentence = f"Is it to happen {words!r} or {_words(other, text)!r}? A task has one time."
            made.asked[other.key] = Question(About.TIME, sentence)
            made.is_scheduled = True
            return None, words, first
        spoken, words = joined, f"{words} {_words(other, text)}"
    return spoken, words, first


def _settled(
    made: Schedule, first: _Said | None, line: Line, answers: tuple[When, ...], clock: Clockwork
) -> Schedule:
    made.is_scheduled = not all(isinstance(answer, Now) for answer in answers)
    for answer in answers:
        if isinstance(answer, Doubt):
            return _ask(made, first, line, answer)
        if isinstance(answer, Moment) and answer.day:
            clock.days[line.number] = answer.day
        if isinstance(answer, Moment | Recurrence) and answer.note and first:
            made.notes[first.key] = answer.note
    made.answers = answers
    return made


def _ask(made: Schedule, first: _Said | None, line: Line, doubt: Doubt) -> Schedule:
    """Ask about the time that was said, or where none was about what was to happen then."""
    made.is_scheduled = True
    question = Question(About.TIME, doubt.why, doubt.options)
    if first:
        made.asked[first.key] = question
    else:
        made.missing[line.number, line.first.start] = question
    return made


def _may_end(task: Sketch) -> bool:
    """Whether some words of a task may say how long it goes on, and nobody can tell."""
    return any(
        names_end(line.said, at)
        for line in task.lines
        if line.said.tongue is not None
        for piece in line.reading.pieces
        if piece.sort is not Sort.TIME and piece.text is None
        for at in range(piece.start, piece.end)
    )


def _is_of_event(first: _Said) -> bool:
    """Whether a time stands behind something that has one of its own: "the meeting at 3pm"."""
    line = first.line
    before = line.said.keys[first.piece.start - 1] if first.piece.start else ""
    after_text = any(letter.end <= first.piece.start for letter in line.of(Sort.LETTER))
    return after_text and before in line.said.language.events and is_topic(line.said, first.spoken)


def _is_today(spoken: Spoken) -> bool:
    """Whether "today" is all that is said: today begins now."""
    plain = isinstance(spoken.day, Offset) and spoken.day == Offset(0)
    return plain and not (spoken.clocks or spoken.part or spoken.every or spoken.vague)


def _words(said: _Said, text: str) -> str:
    tokens = said.line.said.tokens
    return text[tokens[said.piece.start].start : tokens[said.piece.end - 1].end]
