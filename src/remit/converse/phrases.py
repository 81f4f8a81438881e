"""Set phrases, in three languages: what they look like, and how a sentence is held against them.

A sentence is a phrase only as a whole. A star stands for one word or several.
"""

import re
import unicodedata
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final, Generic, TypeAlias, TypeVar

T = TypeVar("T")
Words: TypeAlias = tuple[str, ...]

_WORD: Final = re.compile(r"[^\W_]+(?:['’:.][^\W_]+)*")
_STAR: Final = "*"


def some(text: str) -> frozenset[str]:
    """A set of words."""
    return frozenset(text.split())


_POLITE: Final = some("please pls kindly bitte mal porfa favor por vale ok okay thanks danke")
_LEAD: Final = _POLITE | some(
    "hey hi well so then just doch also oye pues can could would will you kannst konntest du"
    " puedes podrias"
)


def words_of(text: str) -> Words:
    """The words as they are looked up: small, without accents, one sort of apostrophe."""
    return tuple(fold(word) for word in _WORD.findall(text))


def fold(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word.casefold().replace("’", "'"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def bare(
    words: Sequence[str], before: Container[str] = _LEAD, after: Container[str] = _POLITE
) -> Words:
    """The words without politeness, or whatever else is loose, at either end."""
    found = list(words)
    while found and found[0] in before:
        del found[0]
    while found and found[-1] in after:
        del found[-1]
    return tuple(found)


class Table(Generic[T]):
    """Phrases with what they mean; the one with the most words of its own wins."""

    def __init__(self, phrases: Mapping[T, str]) -> None:
        rows = [(tuple(_parts(each)), meaning) for meaning, each in _each(phrases)]
        self._rows = sorted(rows, key=lambda row: -sum(map(len, row[0])))

    def read(self, words: Sequence[str]) -> tuple[T, Words] | None:
        """What a whole sentence means, and the words where the star stands."""
        for parts, meaning in self._rows:
            held = _held(parts, tuple(words))
            if held is not None:
                return meaning, held
        return None


def _each(phrases: Mapping[T, str]) -> Iterator[tuple[T, str]]:
    for meaning, table in phrases.items():
        for phrase in table.split("|"):
            yield meaning, phrase


def _parts(phrase: str) -> Iterator[Words]:
    for part in phrase.split(_STAR):
        yield tuple(fold(word) for word in part.split())


def _held(parts: tuple[Words, ...], words: Words) -> Words | None:
    """The words between the two ends of a phrase; an empty tuple where it has no star."""
    if len(parts) == 1:
        return () if parts[0] == words else None
    begin, end = parts
    inner = len(words) - len(begin) - len(end)
    fits = inner > 0 and words[: len(begin)] == begin and words[len(words) - len(end) :] == end
    return words[len(begin) : len(begin) + inner] if fits else None
