"""The pieces an act falls into. Whoever reads one gathers them so that no word is left out."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from remit.intake.grammar.acts import Act
from remit.intake.grammar.heads import hidden_request
from remit.intake.grammar.phrases import words_of
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spoken import Spoken
from remit.intake.lexicon.shape import Link, Verb
from remit.intake.recipients import About, Channel, Contact, Question
from remit.language.tokens import Kind

_MARKS: Final = frozenset(",;:.!?¿¡-–—…")
_CLOSERS: Final = frozenset(")]}%€$£°\"'+#*")  # marks that belong to the word before them
_LONGEST_LINK: Final = 3


class Sort(StrEnum):
    """What a piece of a sentence is."""

    LINK = "link"
    VERB = "verb"
    PERSON = "person"
    WAY = "way"
    LETTER = "letter"
    TIME = "time"
    LIMIT = "limit"
    CONDITION = "condition"
    OBJECT = "object"
    RESULT = "result"
    PRONOUN = "pronoun"
    NEGATED = "negated"


_LOOSE: Final = (Sort.LIMIT, Sort.CONDITION, Sort.NEGATED)  # marks behind them are not theirs


@dataclass(frozen=True, slots=True)
class Piece:
    """Some tokens of a sentence and what they are; a `question` says what is unclear about them."""

    start: int
    end: int
    sort: Sort
    question: Question | None = None
    spoken: Spoken | None = None
    person: Contact | None = None
    channel: Channel | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """An act and its pieces, in the order they were said."""

    act: Act
    pieces: tuple[Piece, ...]

    def of(self, *sorts: Sort) -> tuple[Piece, ...]:
        return tuple(piece for piece in self.pieces if piece.sort in sorts)

    @property
    def verb(self) -> Verb | None:
        return self.act.head.verb if self.act.head else None

    @property
    def negated(self) -> bool:
        return bool(self.act.head and self.act.head.negated)


@dataclass(slots=True)
class Pieces:
    """Pieces as they are found; words between them gather into things."""

    said: Said
    end: int  # of the act: no piece goes beyond it
    found: list[Piece] = field(default_factory=list)
    sorts: set[Sort] = field(default_factory=set)
    pending: int | None = None  # where words began to gather
    sort: Sort = Sort.OBJECT  # of what is gathering
    enough: int = 0  # where a result or a pronoun is complete

    def add(self, piece: Piece) -> int:
        """Keep a piece, and say where it ends."""
        self.flush(piece.start)
        piece = replace(piece, end=min(piece.end, self.end))
        last = self._without_marks(piece) if piece.sort in _LOOSE else piece.end
        self._keep(replace(piece, end=last))
        self._keep(Piece(last, piece.end, Sort.LINK))
        return piece.end

    def skip(self, start: int, end: int) -> int:
        return self.add(Piece(start, end, Sort.LINK))

    def gather(self, start: int, end: int) -> int:
        if self.pending is None:
            self.pending, self.sort = start, Sort.OBJECT
        return min(end, self.end)

    def begin(self, start: int, end: int, sort: Sort) -> int:
        """Gather from a result ("the list") or a pronoun ("that") on; it may go on as a thing."""
        self.flush(start)
        self.pending, self.sort, self.enough = start, sort, end
        return min(end, self.end)

    def flush(self, end: int) -> None:
        """Turn gathered words into a thing; links and marks at its edges stay outside."""
        start, self.pending = self.pending, None
        if start is None:
            return
        first, last = trimmed(self.said, start, end)
        if all(token.kind is Kind.MARK for token in self.said.tokens[first:last]):
            first = last  # a bracket left over
        self._keep(Piece(start, first, Sort.LINK))
        self._keep(Piece(first, last, self._sort_of(first, last)))
        self._keep(Piece(last, end, Sort.LINK))

    def has(self, *sorts: Sort) -> bool:
        return not self.sorts.isdisjoint(sorts)

    def people(self) -> Iterable[Piece]:
        return (piece for piece in self.found if piece.sort is Sort.PERSON)

    def _sort_of(self, first: int, last: int) -> Sort:
        """Tell the list of hotels, which is still the list, from a list of hotels and that book."""
        if self.sort is Sort.OBJECT or last <= self.enough:
            return self.sort
        made = self.sort is Sort.RESULT and self.said.keys[first] not in self.said.language.one
        return Sort.RESULT if made else Sort.OBJECT

    def _without_marks(self, piece: Piece) -> int:
        end = piece.end
        while end > piece.start and self.said.keys[end - 1] in _MARKS:
            end -= 1
        return end

    def _keep(self, piece: Piece) -> None:
        if piece.end > piece.start:
            self.found.append(piece)
            self.sorts.add(piece.sort)


def time_piece(spoken: Spoken) -> Piece:
    return Piece(spoken.start, spoken.end, Sort.TIME, spoken=spoken)


def condition(said: Said, start: int, end: int) -> Piece:
    """What something depends on; asked about where a request may hide in it."""
    hidden = hidden_request(said, start, end)
    if hidden is None:
        return Piece(start, end, Sort.CONDITION)
    sentence = f"Is {words_of(said, hidden, end)!r} to be done, or part of the condition?"
    options = ("it is to be done", "it is part of the condition")
    return Piece(start, end, Sort.CONDITION, question=Question(About.TASK, sentence, options))


def event_time(said: Said, spoken: Spoken) -> Piece:
    """A time that may be when something takes place, and not when to do what is asked."""
    words = words_of(said, spoken.start, spoken.end)
    sentence = f"Is {words!r} when to do it, or when it takes place?"
    question = Question(About.TIME, sentence, ("when to do it", "when it takes place"))
    return Piece(spoken.start, spoken.end, Sort.TIME, question=question, spoken=spoken)


def trimmed(said: Said, start: int, end: int) -> tuple[int, int]:
    """Leave out links and marks at both edges."""
    while start < end and (step := after_link(said, start)):
        start = min(step, end)
    while end > start and (step := before_link(said, start, end)):
        end = step
    return start, end


def after_link(said: Said, at: int) -> int | None:
    """Step over a link or a mark that starts here."""
    if link := said.language.links.at(said.keys, at):
        return link[1]
    token = said.tokens[at]
    return at + 1 if token.kind is Kind.MARK and token.text in _MARKS else None


def before_link(said: Said, start: int, end: int, *, too: bool = True) -> int | None:
    """Step back over a link or a mark that ends here; without `too` not over an "as well"."""
    if said.tokens[end - 1].kind is Kind.MARK:
        return end - 1 if said.keys[end - 1] not in _CLOSERS else None
    for width in range(1, min(_LONGEST_LINK, end - start) + 1):
        link = said.language.links.at(said.keys, end - width)
        if link and link[1] == end:
            return end - width if too or link[0] is not Link.TOO else None
    return None
