"""A message cut into sentences, each with the language it is read in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from remit.intake.grammar.pasted import pasted_lines
from remit.intake.grammar.slips import mended, spoken
from remit.intake.lexicon import language_of
from remit.intake.lexicon.shape import Language, TimeWords, laughs
from remit.intake.recipients import Book
from remit.language.phrases import words
from remit.language.tokens import Kind, Token, keys_of


class Box(StrEnum):
    """A box to tick, as in a markdown checklist."""

    OPEN = "open"
    TICKED = "ticked"


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence. `marks` counts the tokens at its start that only point: a bullet, a box."""

    tokens: tuple[Token, ...]
    keys: tuple[str, ...]
    tongue: Language | None
    book: Book
    marks: int = 0
    box: Box | None = None
    heading: bool = False
    line: int = 0
    recurs: bool = False  # something in it comes back, which may end
    pasted: bool = False  # others wrote it
    times: dict[int, object] = field(default_factory=dict, compare=False, repr=False)  # as read

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def language(self) -> Language:
        """The language it is read in; only one that is known can be asked for."""
        assert self.tongue is not None, "nobody reads a sentence in an unknown language"  # noqa: S101
        return self.tongue

    @property
    def time(self) -> TimeWords:
        return self.language.time

    @property
    def says_nothing(self) -> bool:
        """Whether it holds no word at all: marks, an emoji, laughter."""
        return all(token.kind is Kind.MARK or laughs(token.key) for token in self.tokens)

    def is_word(self, at: int) -> bool:
        return at < len(self.tokens) and self.tokens[at].kind is Kind.WORD

    def number(self, at: int, most: int = 6) -> int | None:
        """Read digits at a place; a longer run is a number of something else."""
        if at >= len(self.tokens) or self.tokens[at].kind is not Kind.NUMBER:
            return None
        text = self.tokens[at].text
        return int(text) if len(text) <= most else None

    def is_tight(self, at: int, key: str) -> bool:
        """Whether this very token follows the one before it without a gap."""
        return at < len(self.keys) and self.keys[at] == key and self.tokens[at].tight


_ENDS: Final = frozenset(".!?…")
_SHORT: Final = words(
    """dr mr mrs ms prof st nr str ca bzw z b usw etc vs eg ie e g i d h max min no tel sr sra jr
    std sek ggf evtl inkl bspw approx hrs mins art abs"""
)
_NUMBERED: Final = 2  # tokens of `1)`, and digits of the longest number in a list
_BULLETS: Final = frozenset("-*+•–·▪")
_MONTHS: Final = words(
    """januar februar märz april mai juni juli august september oktober november dezember"""
)
_ORDINAL_BEFORE: Final = words("am vom zum den dem der jeden bis ab")


def sentences(tokens: Sequence[Token], book: Book) -> tuple[Said, ...]:
    """Cut tokens into sentences; line breaks, full stops and bullets end one."""
    pasted = pasted_lines(tokens)
    cuts = [cut for cut in _cuts(tokens) if cut.end > cut.start]
    whole = language_of(_own(tokens, cuts, pasted) if pasted else tokens)
    return tuple(
        replace(_said(tokens[cut.start : cut.end], cut, whole, book), pasted=cut.line in pasted)
        if pasted
        else _said(tokens[cut.start : cut.end], cut, whole, book)
        for cut in cuts
    )


def _own(
    tokens: Sequence[Token], cuts: Sequence["_Cut"], pasted: frozenset[int]
) -> tuple[Token, ...]:
    """What the owner wrote himself: it says in which language he speaks."""
    own = (cut for cut in cuts if cut.line not in pasted)
    return tuple(token for cut in own for token in tokens[cut.start : cut.end])


@dataclass(frozen=True, slots=True)
class _Cut:
    """A sentence from one token to another; only a `fresh` one, which begins a line, has marks."""

    start: int
    end: int
    line: int
    fresh: bool


def _said(tokens: Sequence[Token], cut: _Cut, whole: Language | None, book: Book) -> Said:
    kept = tuple(tokens)
    language = language_of(kept, fallback=whole) if whole else None
    kept = mended(spoken(kept, language), language, book) if language else kept
    keys = keys_of(kept)
    marks, box = _marks(kept, whole) if cut.fresh else (0, None)
    return Said(kept, keys, language, book, marks, box, keys[0] == "#" and marks > 0, cut.line)


def _cuts(tokens: Sequence[Token]) -> Iterator[_Cut]:
    start = line = listed = 0
    fresh = True
    for at, token in enumerate(tokens):
        if token.kind is Kind.LINE:
            yield _Cut(start, at, line, fresh)
            start, line, listed, fresh = at + 1, line + 1, 0, True
        elif _is_listed(tokens, at, listed + 1):
            yield _Cut(start, at, line, fresh)
            start, listed, fresh = at, listed + 1, True
        elif _is_end(tokens, at) and not _goes_on(tokens, at, start if fresh else -1):
            yield _Cut(start, at + 1, line, fresh)
            start, fresh = at + 1, False
    yield _Cut(start, len(tokens), line, fresh)


def _is_end(tokens: Sequence[Token], at: int) -> bool:
    return tokens[at].kind is Kind.MARK and tokens[at].text in _ENDS


def _goes_on(tokens: Sequence[Token], at: int, start: int) -> bool:
    """Whether a mark that could end a sentence does not: `1. März`, `Dr. Keller`, `p.m.`, `?!`."""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if after is None or after.kind is Kind.LINE:
        return False
    if after.tight or _is_end(tokens, at + 1):
        return after.kind is not Kind.QUOTE
    return at > start and tokens[at].text == "." and _is_short(tokens, at, start)


def _is_short(tokens: Sequence[Token], at: int, start: int) -> bool:
    """Whether a full stop belongs to the number or the short word before it."""
    before, after = tokens[at - 1], tokens[at + 1]
    if before.kind is Kind.NUMBER:
        listed = at == start + 1 and len(before.text) <= _NUMBERED  # a thing in a list
        return listed or not after.capital or _is_ordinal(tokens, at)
    return before.key in _SHORT and (len(before.key) > 1 or not after.capital)


def _is_ordinal(tokens: Sequence[Token], at: int) -> bool:
    """Whether the number before a full stop is a day: `am 3. Mai`, but not `um 9. Danach`."""
    dated = tokens[at + 1].key in _MONTHS
    return dated or (at > 1 and tokens[at - 2].key in _ORDINAL_BEFORE)


def _is_listed(tokens: Sequence[Token], at: int, number: int) -> bool:
    """Whether the next number of a list stands in the middle of a line: `1) this 2) that`."""
    if tokens[at].text != str(number) or tokens[at].tight or at + 1 >= len(tokens):
        return False
    return tokens[at + 1].text == ")" and tokens[at + 1].tight


def _marks(tokens: Sequence[Token], whole: Language | None) -> tuple[int, Box | None]:
    """Count what stands before the words of a line: a bullet, a number, a box, a heading."""
    at = 0
    while at < len(tokens) and tokens[at].text == "#":
        at += 1
    if at == 0:
        at = _bullet(tokens, whole)
    box, end = _box(tokens, at)
    return (end, box) if box else (at, None)


def _bullet(tokens: Sequence[Token], whole: Language | None) -> int:
    """Count a bullet, or the number of a thing in a list; `1. März` is a day."""
    if len(tokens) > 1 and tokens[0].text in _BULLETS and not tokens[1].tight:
        return 1
    if len(tokens) <= _NUMBERED:
        return 0
    first, mark, word = tokens[: _NUMBERED + 1]
    numbered = first.kind is Kind.NUMBER and len(first.text) <= _NUMBERED and mark.text in ").:"
    if not (numbered and mark.tight) or word.tight:
        return 0
    return 0 if whole and whole.time.months.at((word.key,), 0) else _NUMBERED


def _box(tokens: Sequence[Token], at: int) -> tuple[Box | None, int]:
    texts = [token.text for token in tokens[at : at + 3]]
    if texts[:2] == ["[", "]"]:
        return Box.OPEN, at + 2
    if texts[:1] == ["["] and texts[2:] == ["]"] and texts[1] in "xX✓":
        return Box.TICKED, at + 3
    if texts[:1] in (["☐"], ["☑"]):
        return (Box.OPEN if texts[0] == "☐" else Box.TICKED), at + 1
    return None, at
