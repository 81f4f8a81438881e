"""Splits a text into words, sentences and lists, for English, German and Spanish."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from msgspec import Struct

from remit.language.files import words_in_all
from remit.language.tokens import fold
from remit.verify.written.vocabulary import word_set

_WORD: Final = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
SENTENCE_END: Final = re.compile(
    r"(?<=[^\W\d_][^\W\d_][.!?…])[\"”»’)]*\s+(?=[^\W_a-zäöüñáéíóú]|[\"“«¿¡(])"
    r"|(?<=[\d%€$£)][.!?])\s+(?=[A-ZÄÖÜÁÉÍÓÚ¿¡])|\n+"
)
_MARKER: Final = re.compile(
    r"(?P<in>[ \t]*)(?:(?P<dot>[-*•–+])|(?P<number>\d{1,3})[.)])[ \t]+(?=\S)"
)
_ROW: Final = re.compile(r"\s*\|.*\|\s*$")
_RULE: Final = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*$")
_MARKS: Final = re.compile(r"[*_`#>~]+")

STOP: Final = words_in_all("requests", "stop")  # folded
ORDER_VERBS: Final = words_in_all("requests", "compose") | words_in_all("requests", "tell")
_MIN_STEM_LETTERS: Final = 4


class ListEntry(Struct, frozen=True):
    """One list entry: its depth, its number if any, and its text."""

    depth: int
    number: int | None
    text: str


def words(text: str) -> list[str]:
    """Return the words of a text as written, without numbers."""
    return _WORD.findall(text)


@lru_cache(maxsize=32)  # a check looks at the same few texts again and again
def folded_words(text: str) -> tuple[str, ...]:
    """The words of a text, as they are looked up."""
    return tuple(fold(each) for each in words(text))


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return the rough stem of a word; both `opens` and `opening` give `open`."""
    bare = fold(word)
    for prefix, ending in _around():
        if bare.startswith(prefix) and bare.endswith(ending) and len(bare) > _MIN_STEM_LETTERS + 3:
            bare = bare[len(prefix) :]
            break
    for ending in _endings():
        if bare.endswith(ending) and len(bare) - len(ending) >= _MIN_STEM_LETTERS:
            return bare[: -len(ending)]
    return bare


@cache
def _endings() -> list[str]:
    return sorted(word_set("endings.all"), key=len, reverse=True)


@cache
def _around() -> list[tuple[str, str]]:
    """Return the prefixes and suffixes of past forms."""
    pairs = (each.partition("-") for each in word_set("endings.around"))
    return [(prefix, ending) for prefix, _, ending in pairs]


def says(stemmed: str, known: frozenset[str]) -> bool:
    """Whether a word is among folded words in some form, or within a compound."""
    if stemmed in known:
        return True
    if len(stemmed) < _MIN_STEM_LETTERS:
        return any(stemmed + ending in known for ending in word_set("endings.plural"))
    within = len(stemmed) > _MIN_STEM_LETTERS
    return any(each.startswith(stemmed) or (within and stemmed in each) for each in known)


def plain(text: str) -> str:
    """Return the text without Markdown marks."""
    return _MARKS.sub("", text)


@lru_cache(maxsize=32)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences; a line end ends one, because lists have no full stop."""
    return tuple(bare for each in SENTENCE_END.split(text) if (bare := each.strip(" \t|*-•")))


def paragraphs(text: str) -> list[str]:
    return [each.strip() for each in re.split(r"\n[ \t]*\n", text) if each.strip()]


@lru_cache(maxsize=32)
def entries(text: str) -> tuple[ListEntry, ...]:
    """Return every entry of every list, in order."""
    return tuple(
        ListEntry(
            len(found["in"].expandtabs(4)) // 2,
            int(found["number"]) if found["number"] else None,
            line[found.end() :].strip(),
        )
        for line in text.splitlines()
        if (found := _MARKER.match(line))
    )


def rows(text: str) -> int:
    """Return how many rows the tables of a text have, without headers."""
    lines = text.splitlines()
    count = 0
    for at, line in enumerate(lines):
        if at and _RULE.match(line) and "|" in lines[at - 1]:
            count += sum(1 for _ in _body(lines[at + 1 :]))
    return count


def has_table(text: str) -> bool:
    lines = text.splitlines()
    return any(at and _RULE.match(line) and "|" in lines[at - 1] for at, line in enumerate(lines))


def _body(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if "|" not in line or not (_ROW.match(line) or line.strip()):
            return
        yield line
