"""Measures how much a text could hide in its layout: in blanks and line ends that nobody sees.

One blank or two between words, blanks behind a line, a tab or blanks before it, and the line ends
of Windows or Unix look the same. A writer who keeps to one way hides nothing, nor does one who
changes it seldom or fills the columns of a table. What is measured is the choice that is left.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

from remit.gate.eye import HoldReason, Objection, excerpt
from remit.gate.hidden_choices import MAX_HIDDEN_BITS, bits_of_sequence

_UNUSUAL: Final = re.compile("  |\t|\r| \n|\n ")
_WORD: Final = re.compile("[^ \t]++")
_ENDS_SENTENCE: Final = frozenset(".!?:;…")
_SIGNS: Final = frozenset("|│┃║#")  # that have other blanks before them than words
_NARROW: Final = frozenset((" ", "  "))  # a reader sees wider ones, but not how wide they are
_MAX_FORMS: Final = 8  # of one kind of place that are told apart


class _Word(NamedTuple):
    """A word of a line, and the blanks before it."""

    blanks: str
    text: str
    start: int  # its columns
    end: int


class _Line(NamedTuple):
    words: list[_Word]
    behind: str  # blanks, and the \r of Windows


def objection(text: str) -> Objection | None:
    """Return what a text's layout could hide, if it is much."""
    first = _UNUSUAL.search(text)
    if first is None or layout_bits(text) <= MAX_HIDDEN_BITS:
        return None
    before = excerpt(text[max(first.start() - 16, 0) : first.start()])
    return Objection(
        "Blanks or line ends change so often that they could spell a message, "
        f"first after “{before}”.",
        HoldReason.HIDDEN,
    )


def layout_bits(text: str) -> float:
    """Return how many bits a text can hide in its blanks and line ends."""
    chosen: dict[str, list[str]] = defaultdict(list)
    for kind, form in _choices([_read(line) for line in text.split("\n")]):
        chosen[kind].append(form)
    return sum(map(_bits_of, chosen.values()))


def _bits_of(forms: list[str]) -> float:
    """Return the bits of each form but the most frequent one, as if it were chosen alone."""
    ranked = [form for form, _ in Counter(forms).most_common()]
    kinds = [{form} for form in ranked[1:_MAX_FORMS]] + [set(ranked[_MAX_FORMS:])]
    return sum(bits_of_sequence([form in kind for form in forms]) for kind in kinds)


def _choices(lines: list[_Line]) -> Iterator[tuple[str, str]]:
    """Yield each place where a writer had a choice: its kind, and what was written."""
    nothing = _Line([], "")
    for before, line, after in zip([nothing, *lines], lines, [*lines[1:], None], strict=False):
        if after is not None:
            yield "line end", line.behind[-1:].strip(" \t")
            inside = bool(line.words and after.words)
            yield f"behind {bool(line.words)} {inside}", line.behind.rstrip("\r")
        yield from _gaps(line.words, before.words, after.words if after else [])


def _gaps(line: list[_Word], *beside: list[_Word]) -> Iterator[tuple[str, str]]:
    starts = {word.start for words in beside for word in words if word.blanks != " "}
    ends = {word.end for words in beside for word in words if _is_number(word.text)}
    last = ""
    for word in line:
        sign = word.text[0] if word.text[0] in _SIGNS else ""
        column = word.start in starts or (word.end in ends and _is_number(word.text))
        if not last:
            yield f"indented {len(word.blanks.expandtabs())}", word.blanks
        elif word.blanks == " " or not column:
            kind = "gap" if word.blanks in _NARROW else "wide gap"
            yield f"{kind} {last in _ENDS_SENTENCE} {sign}", word.blanks
        last = word.text[-1]


def _read(line: str) -> _Line:
    words, column, last = list[_Word](), 0, 0
    text = line.rstrip(" \t\r")
    for found in _WORD.finditer(text):
        blanks, last = text[last : found.start()], found.end()
        start = column + _width(blanks)
        column = start + _width(found[0])
        words.append(_Word(blanks, found[0], start, column))
    return _Line(words, line[len(text) :])


def _width(text: str) -> int:
    """Return how many columns a text takes: signs of East Asia and emoji take two."""
    if text.isascii():
        return len(text.expandtabs())
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def _is_number(text: str) -> bool:
    return text.strip("+-–$€£(%")[:1].isdigit()
