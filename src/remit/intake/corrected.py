"""What the owner takes back in the same breath: the last word counts, and what it replaced is told.

"On Tuesday… no wait, make that Thursday" is read as if Thursday had been said at once. Nothing is
lost: what was taken back stands in the ledger, declined, with the word that counts instead.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from remit.intake.grammar.sentences import Said, sentences
from remit.intake.grammar.takes import Found, find_old
from remit.intake.grammar.turned import Turn, find_turns
from remit.intake.lexicon.turns import TURNS
from remit.intake.recipients import About, Book
from remit.language.tokens import Token, keys_of, tokenize

_MOST: Final = 4  # times somebody changes his mind in one message
_SWALLOWED: Final = frozenset(",.…;:-–—(")
_WORDS: Final = tuple(each for turn in TURNS.values() for each in (turn.strong, turn.weak))
_FIRSTS: Final = frozenset[str]().union(*(each.firsts for each in _WORDS))


@dataclass(frozen=True, slots=True)
class Struck:
    """A stretch of the message that was taken back, and why it counts no more."""

    start: int
    end: int
    why: str


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A correction of which nobody can tell what it replaces; it is asked at that place."""

    start: int
    end: int
    about: About
    sentence: str


@dataclass(frozen=True, slots=True)
class Woven:
    """The message as it was meant; `origin` says where each letter of it stands in the message."""

    text: str
    origin: tuple[int, ...]
    struck: tuple[Struck, ...] = ()
    notes: tuple[str, ...] = ()
    unsettled: tuple[Unsettled, ...] = ()

    def places(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The stretches of the message that some letters of the text come from."""
        run: list[int] = []
        for place in (*self.origin[start:end], None):
            if run and (place is None or place != run[-1] + 1):
                yield run[0], run[-1] + 1
                run = []
            if place is not None and place >= 0:
                run.append(place)

    def cut(self, start: int, end: int) -> tuple[str, tuple[int, ...]]:
        return self.text[start:end], self.origin[start:end]


def corrected(message: str, tokens: Sequence[Token], book: Book) -> Woven | None:
    """Read a message as it was meant in the end; None when nothing was taken back."""
    if not _may_turn(keys_of(tokens)):
        return None
    woven = Woven(message, tuple(range(len(message))))
    for _ in range(_MOST):
        mended = _once(woven, message, book)
        if mended is None:
            break
        woven = mended
    return woven if woven.struck else None


def _may_turn(keys: Sequence[str]) -> bool:
    """Look for the words of a turn in any language first, for most messages hold none."""
    return any(
        key in _FIRSTS and any(each.at(keys, at) for each in _WORDS) for at, key in enumerate(keys)
    )


def _once(woven: Woven, message: str, book: Book) -> Woven | None:
    said = sentences(tokenize(woven.text), book)
    for number, sentence in enumerate(said):
        before = said[number - 1] if number else None
        for turn in find_turns(sentence) if sentence.tongue else ():
            found = find_old(sentence, before if before and before.tongue else None, turn)
            if found is not None:
                return _rewoven(woven, message, sentence, turn, found)
    return None


def _rewoven(woven: Woven, message: str, said: Said, turn: Turn, found: Found) -> Woven:
    """The text with the new word in the place of the old, and without the turn."""
    tokens = said.tokens
    new = _span(said, found.start, found.end)
    cut = _from(woven.text, tokens[turn.start].start), tokens[turn.stop(found.stop) - 1].end
    old = [_span(found.said, start, end) for start, end in found.old]
    words = woven.text[slice(*new)]
    was = " ".join(woven.text[slice(*each)] for each in old)
    why = f"You corrected it: {words!r} counts."
    lost = [*old, (cut[0], new[0]), (new[1], cut[1])]
    struck = [Struck(*place, why) for each in lost for place in _told(woven, message, *each)]
    if found.unclear:
        why = found.unclear
        held = next(woven.places(*old[-1]), (0, 0))
        told = tuple(
            Struck(*place, f"It is asked what {words!r} corrects.")
            for place in _told(woven, message, *cut)
        )
        text, origin = _joined(woven, [(0, cut[0]), (cut[1], len(woven.text))])
        doubts = (*woven.unsettled, Unsettled(*held, found.about, why))
        return Woven(text, origin, (*woven.struck, *told), woven.notes, doubts)
    parts: list[tuple[int, int]] = [(0, old[0][0]), new]
    ends = [*(start for start, _ in old[1:]), cut[0]]
    parts += [(gone[1], end) for gone, end in zip(old, ends, strict=True)]
    text, origin = _joined(woven, [*parts, (cut[1], len(woven.text))])
    notes = (*woven.notes, f"You corrected {was!r} to {words!r}.")
    return Woven(text, origin, (*woven.struck, *struck), notes, woven.unsettled)


def _joined(woven: Woven, parts: Sequence[tuple[int, int]]) -> tuple[str, tuple[int, ...]]:
    """Put stretches of the text side by side, with a blank where two words would touch."""
    text, origin = "", tuple[int, ...]()
    for start, end in parts:
        more, whence = woven.cut(start, end)
        if text and more and text[-1].isalnum() and more[0].isalnum():
            text, origin = text + " ", (*origin, -1)
        text, origin = text + more, origin + whence
    return text, origin


def _span(said: Said, start: int, end: int) -> tuple[int, int]:
    return said.tokens[start].start, said.tokens[end - 1].end


def _from(text: str, start: int) -> int:
    """Take the marks and blanks before a turn with it."""
    while start and (text[start - 1].isspace() or text[start - 1] in _SWALLOWED):
        start -= 1
    return start


def _told(woven: Woven, message: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretches of the message some letters come from, without blanks and marks around."""
    outside: Callable[[str], bool] = lambda letter: not letter.isalnum()  # noqa: E731
    for first, last in woven.places(start, end):
        while first < last and outside(message[first]):
            first += 1  # noqa: PLW2901
        while last > first and outside(message[last - 1]):
            last -= 1  # noqa: PLW2901
        if last > first:
            yield first, last
