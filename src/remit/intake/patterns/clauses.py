"""Groups the words of a message into clauses by what became of them."""

from collections.abc import Collection, Iterator

from msgspec import Struct
from msgspec.structs import replace

from remit.intake.message_words import MessageWords
from remit.intake.patterns.spoken_order import MessageUnit, UnitKind
from remit.language.order_words import order_words
from remit.language.tokens import TokenKind, is_sign
from remit.model.contract import Clause, ClauseOutcome

_EDGES = frozenset(",;:.!?¿¡-–—…()")


class _Label(Struct, frozen=True):
    owner: int  # the number of a task, or -1
    unit: int
    became: ClauseOutcome | None
    why: str | None = None


class ClauseLabels:
    """The outcome of each token; None is a connective."""

    def __init__(self, words: MessageWords) -> None:
        self.words = words
        self.found: list[_Label | None] = [None] * len(words.tokens)

    def unit(self, unit: MessageUnit, owner: int, *, reminds: bool) -> None:
        """Label the words of a unit that is part of a task."""
        works = unit.kind in (UnitKind.WORK, UnitKind.COMPOSE, UnitKind.PASTED) and not reminds
        self._put(unit, unit.start, unit.end, owner, ClauseOutcome.DELIVERY)
        became = ClauseOutcome.WORK if works else ClauseOutcome.DELIVERY
        became = ClauseOutcome.CONSTRAINT if unit.kind is UnitKind.LIMIT else became
        self._put(unit, *unit.body, owner, became)
        if unit.kind is UnitKind.WORK:
            for (start, end), _ in unit.order.channels:
                self._put(unit, start - 1, end, owner, ClauseOutcome.DELIVERY)
        for phrase in unit.times:
            self._put(unit, phrase.start, phrase.end, owner, ClauseOutcome.TIME)
        self._free_edges(unit)

    def loose(self, unit: MessageUnit, became: ClauseOutcome | None, why: str | None) -> None:
        """Label a unit that belongs to no task."""
        label = _Label(-1, unit.start, became, why)
        for at in range(*unit.body):
            self.found[at] = label
        self._free_edges(unit)

    def note(self, at: int, why: str) -> None:
        """Set the reason for all words with the same label as a token."""
        label = self.found[at]
        self.found = [
            replace(each, why=why) if each is not None and each == label else each
            for each in self.found
        ]

    def _put(
        self, unit: MessageUnit, start: int, end: int, owner: int, became: ClauseOutcome
    ) -> None:
        for at in range(start, end):
            self.found[at] = _Label(owner, unit.start, became)

    def _free_edges(self, unit: MessageUnit) -> None:
        """Make words like "and" or "please" at the edges connectives."""
        kept = range(*unit.body)
        for at in [*range(unit.start, unit.end), *range(unit.end - 1, unit.start - 1, -1)]:
            token = self.words.tokens[at]
            if token.kind is TokenKind.LINE:
                self.found[at] = None
        at = unit.start
        while at < unit.end and at not in kept and (step := self._link(at)):
            for n in range(at, min(step, unit.end)):
                self.found[n] = None
            at = step
        at = unit.end
        while at > unit.start and at - 1 not in kept and self.words.tokens[at - 1].text in _EDGES:
            at -= 1
            self.found[at] = None

    def _link(self, at: int) -> int | None:
        known, keys = order_words(), self.words.keys
        for table in (known.frames, known.links, known.polite):
            if found := table.at(keys, at):
                return found[1]
        token = self.words.tokens[at]
        if token.kind is TokenKind.MARK and not is_sign(token.text):
            return at + 1
        return (
            at + 2 if token.kind is TokenKind.NUMBER and keys[at + 1 : at + 2] == (")",) else None
        )


def clauses_of(labels: ClauseLabels, asked: Collection[int]) -> list[tuple[Clause, int]]:
    """Return the clauses in order, each with the task it belongs to.

    What is asked about is a clause of its own, and open unless its outcome is known.
    """
    return list(_runs(labels, frozenset(asked)))


def _behind_edges(words: MessageWords, start: int, end: int) -> int:
    """Return the place after the commas at the start of some words."""
    while start + 1 < end and words.tokens[start].text in _EDGES:
        start += 1
    return start


def _runs(labels: ClauseLabels, asked: frozenset[int]) -> Iterator[tuple[Clause, int]]:
    words = labels.words
    start = 0
    while start < len(labels.found):
        label = labels.found[start]
        if label is None:
            start += 1
            continue
        end = start + 1
        while end < len(labels.found) and labels.found[end] == label:
            end += 1
        start = _behind_edges(words, start, end)
        is_open = label.became is ClauseOutcome.TIME and any(
            at in asked for at in range(start, end)
        )
        text = words.slice(start, end)
        first = words.tokens[start].start
        became = None if is_open else label.became
        yield Clause(text, first, first + len(text), became, label.why), label.owner
        start = end
