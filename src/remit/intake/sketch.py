"""Which of the things said belong to one task, which are tasks of their own, and which to none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from remit.intake.clauses import read_act
from remit.intake.grammar.acts import Act, read_acts
from remit.intake.grammar.endings import read_ending
from remit.intake.grammar.heads import label_end, skip_leading
from remit.intake.grammar.pieces import Piece, Reading, Sort, time_piece
from remit.intake.grammar.repeats import comes_back
from remit.intake.grammar.sentences import Box, Said
from remit.intake.grammar.spoken import Spoken
from remit.intake.grammar.talk import is_statement_at, talk_of
from remit.intake.lexicon.shape import Does, Link, Talk
from remit.language.phrases import words

_LISTS: Final = words(
    "todo todos to do todo-list list lists tasks aufgaben liste pendientes tareas lista hoy"
)  # a line of these alone announces what is below it
_BESIDE: Final = (Sort.LIMIT, Sort.CONDITION, Sort.LINK)


@dataclass(slots=True)
class Line:
    """One reading in its sentence. A `note` is told, not asked: it stays with the task as it is."""

    said: Said
    reading: Reading
    number: int  # of the sentence
    talk: Talk | None = None
    note: bool = False
    ticked: bool = False

    def of(self, *sorts: Sort) -> tuple[Piece, ...]:
        return self.reading.of(*sorts)

    @property
    def first(self) -> Piece:
        """Its verb, or the first piece that says something."""
        said = [piece for piece in self.reading.pieces if piece.sort is not Sort.LINK]
        return next(iter(self.of(Sort.VERB)), next(iter(said), self.reading.pieces[0]))

    @property
    def does(self) -> Does | None:
        verb = self.reading.verb
        return verb.does if verb and not self.reading.negated else None

    @property
    def sends(self) -> bool:
        return self.does in (Does.SEND, Does.REMIND)

    @property
    def links(self) -> frozenset[Link]:
        return self.reading.act.links

    @property
    def refuses(self) -> bool:
        """Whether it seems to send and says not to: "schick es nicht an Bob"."""
        no = next(iter(self.of(Sort.NEGATED)), None)
        if no is None or not self.sends:
            return False
        before = [piece for piece in self.of(Sort.PERSON) if piece.end <= no.start]
        plain = self.said.language.nots.at(self.said.keys, no.start)
        return not before or (plain is not None and plain[1] >= no.end)

    @property
    def leading_time(self) -> Spoken | None:
        """A time said before the request itself, which may hold for the whole sentence."""
        head = self.reading.act.head
        first = next(iter(self.of(Sort.TIME)), None)
        leads = first is not None and head is not None and first.end <= head.start
        return first.spoken if first and leads else None

    @property
    def is_beside(self) -> bool:
        """Whether it only narrows, forbids or remarks."""
        if self.reading.negated or self.note or self.refuses:
            return True
        pieces = self.reading.pieces
        return self.does is None and all(p.sort in _BESIDE or _only_ends(p) for p in pieces)


def _only_ends(piece: Piece) -> bool:
    """Whether a time says no more than how long something goes on."""
    return piece.spoken is not None and piece.spoken.until is not None and not piece.spoken.every


@dataclass(slots=True)
class Sketch:
    """The lines of one task, and what is known of it so far."""

    given: Spoken | None = None  # a time said earlier in the sentence, for all of it
    listed: bool = False  # from a checklist
    lines: list[Line] = field(default_factory=list)
    labours: bool = False  # work is asked for by name
    works: bool = False  # work is asked for, or something to be sent that must be worked out
    sends: bool = False
    has_time: bool = False

    def add(self, *lines: Line) -> None:
        for line in lines:
            thing = line.of(Sort.OBJECT, Sort.RESULT) and not line.of(Sort.LETTER)
            self.labours = self.labours or not (line.sends or line.is_beside)
            self.works = self.works or self.labours or bool(line.sends and thing)
            self.sends = self.sends or line.sends
            self.has_time = self.has_time or bool(self.given or line.of(Sort.TIME))
            self.lines.append(line)


@dataclass(slots=True)
class Message:
    """What a whole message comes to: tasks, and lines that belong to none."""

    tasks: list[Sketch] = field(default_factory=list)
    loose: list[Line] = field(default_factory=list)


def sketch(sentences: Sequence[Said]) -> Message:
    """Read all sentences, and put what belongs together into one task each."""
    made = Message()
    lines = tuple(_lines(sentences))
    asked = {line.number: at for at, line in enumerate(lines) if _asks(line)}
    waiting: list[Line] = []  # limits and remarks said before what they are about
    given: dict[int, Spoken] = {}
    for at, line in enumerate(lines):
        if line.talk or line.ticked or line.does is Does.STOP:
            made.loose.append(line)
        elif not line.is_beside:
            task = _task_for(line, made, given)
            task.add(*waiting, line)
            waiting.clear()
        elif made.tasks and asked.get(line.number, at) <= at:
            made.tasks[-1].add(line)
        else:
            waiting.append(line)
    made.loose += waiting
    pasted = next((line for line in waiting if line.said.pasted), None)
    if pasted and not made.tasks:
        pasted.note = False  # nothing was asked for: it must be said what to do with it
    return made


def _asks(line: Line) -> bool:
    return not (line.talk or line.ticked or line.is_beside)


# Lines --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sentence:
    said: Said
    acts: tuple[Act, ...] = ()
    talk: Talk | None = None
    label: Act | None = None  # words that only announce what follows them

    @property
    def asks(self) -> bool:
        """Whether a verb asks for something."""
        return self.talk is None and any(act.head for act in self.acts)


def _sentence(said: Said) -> _Sentence:
    if said.tongue is None or said.heading or said.pasted or said.box is Box.TICKED:
        return _Sentence(said, talk=Talk.CHATTER if said.says_nothing else None)
    said = replace(said, recurs=comes_back(said))
    start = label_end(said)
    acts = read_acts(said, start)
    label = Act(said.marks, said.marks, start) if start > said.marks else None
    return _Sentence(said, acts, talk_of(said, start, acts), label)


def _lines(sentences: Sequence[Said]) -> Iterator[Line]:
    read = [_sentence(said) for said in sentences]
    torn = False  # whether the sentence before may go on in this one
    recurs = False  # whether what was asked before comes back
    for number, one in enumerate(read):
        if one.said.pasted:
            yield _whole(one, number, note=True)
            continue
        if recurs and (ending := _ending(one, number)):
            yield ending
            continue
        recurs = one.said.recurs and one.asks
        follows = read[number + 1] if number + 1 < len(read) else None
        heading = _is_heading(one, follows)
        if torn and not one.asks:
            yield _whole(one, number, note=True)
            continue
        torn = follows is not None and _is_torn(one, follows)
        if one.talk or heading or not one.acts:
            yield _whole(one, number, note=heading or one.talk is Talk.STATEMENT)
            continue
        if one.label:
            yield Line(one.said, _unread(one.label, one.label.end - 1), number, note=True)
        for act in one.acts:
            last = replace(act, unsure=act.unsure or (torn and act is one.acts[-1]))
            note = act.head is None and is_statement_at(one.said, act.start, act.end)
            yield Line(one.said, read_act(one.said, last), number, act.talk, note)


def _ending(one: _Sentence, number: int) -> Line | None:
    """A sentence that only says how long the habit before it goes on."""
    said = one.said
    spoken = read_ending(said) if said.tongue and not said.marks else None
    if spoken is None:
        return None
    act = Act(said.marks, said.marks, len(said.tokens))
    return Line(said, Reading(act, (time_piece(spoken),)), number)


def _is_torn(one: _Sentence, follows: _Sentence) -> bool:
    """Whether an unquoted text may go on in the next sentence of its line."""
    last = one.acts[-1] if one.acts and not one.talk else None
    if last is None or last.text is None or last.head is None or follows.asks:
        return False
    thanked = follows.talk in (Talk.THANKS, Talk.QUESTION) and one.said.keys[last.text.lead] != ":"
    same_line = follows.said.line == one.said.line
    return same_line and last.head.verb.does is Does.SEND and not thanked


def _whole(one: _Sentence, number: int, *, note: bool) -> Line:
    """A sentence that is not taken apart."""
    said, end = one.said, len(one.said.tokens)
    reading = _unread(Act(said.marks, said.marks, end), end)
    ticked = said.box is Box.TICKED
    return Line(said, reading, number, None if note else one.talk, note, ticked)


def _unread(act: Act, end: int) -> Reading:
    return Reading(act, (Piece(act.start, end, Sort.OBJECT),) if end > act.start else ())


def _is_heading(one: _Sentence, follows: _Sentence | None) -> bool:
    """Whether a line only announces the list below it."""
    said = one.said
    if said.heading or said.marks or follows is None:
        return said.heading
    below = follows.said.line > said.line
    if below and _LISTS.issuperset(key for key in said.keys if key.isalnum()):
        return True
    if said.tongue and below and skip_leading(said, 0, len(said.keys))[0] >= len(said.keys):
        return one.talk is None  # "todo"
    if not follows.said.marks:
        return False
    announces = bool(said.keys) and said.keys[-1] == ":"
    return below and (announces or not (one.asks or one.talk))


# Tasks --------------------------------------------------------------------------------------------


def _task_for(line: Line, made: Message, given: dict[int, Spoken]) -> Sketch:
    last = made.tasks[-1] if made.tasks else None
    if line.leading_time:
        given.setdefault(line.number, line.leading_time)
    if last is not None and _belongs(line, last):
        return last
    early = None if line.of(Sort.TIME) else given.get(line.number)
    task = Sketch(given=early, listed=line.said.box is Box.OPEN)
    asked = made.loose[-1] if made.loose else None
    if asked and asked.talk is Talk.QUESTION and _means(line, asked):
        made.loose.pop()
        asked.talk = None
        task.add(asked)
    made.tasks.append(task)
    return task


def _means(line: Line, asked: Line) -> bool:
    """Whether "send it to me" means the answer to the question just asked."""
    refers = line.does is Does.SEND and not line.of(Sort.OBJECT, Sort.LETTER)
    return refers and bool(line.of(Sort.PRONOUN, Sort.RESULT)) and asked.number == line.number - 1


def _belongs(line: Line, task: Sketch) -> bool:
    """Whether a line goes on with the task before it."""
    if line.does is Does.REMIND:
        return False
    same = task.lines[-1].number == line.number
    if line.does is Does.SEND:
        return _send_belongs(line, task, same=same)
    if task.listed and line.said.box is Box.OPEN:
        return not line.leading_time
    if not task.labours or task.sends or Link.ALSO in line.links:
        return False
    near = line.said.line - task.lines[-1].said.line <= 1
    timed = line.leading_time or (line.of(Sort.TIME) and (task.has_time or not same))
    return near and not timed


def _send_belongs(line: Line, task: Sketch, *, same: bool) -> bool:
    if line.of(Sort.LETTER):
        return same and Link.THEN in line.links and task.labours
    if task.listed and line.said.box is Box.OPEN:
        return True
    if line.of(Sort.OBJECT):
        return same and task.labours and not task.sends and Link.ALSO not in line.links
    return task.labours or (task.works and bool(line.of(Sort.PRONOUN)))
