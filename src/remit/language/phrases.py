"""Finds words and phrases, with their values, in a row of tokens."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar

from remit.language.tokens import fold, fold_text, keys_of, tokenize

T = TypeVar("T")
_PLAIN: Final = re.compile(r"(?:[^\W\d_]+(?:['-][^\W\d_]+)*(?: |$))+")


class Phrases(Generic[T]):
    """Words and groups of words with what they mean; the longest that fits wins."""

    __slots__ = ("_by_first", "firsts", "words")

    def __init__(self, table: Mapping[str, T]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], T]]] = {}
        for names, meaning in table.items():
            for name in names.split("|"):
                keys = _keys(name)
                if not keys:
                    continue
                self._by_first.setdefault(keys[0], []).append((keys, meaning))
        for group in self._by_first.values():
            group.sort(key=lambda entry: -len(entry[0]))
        self.firsts = frozenset(self._by_first)
        self.words = frozenset(
            key for group in self._by_first.values() for keys, _ in group for key in keys
        )

    def at(self, keys: Sequence[str], place: int) -> tuple[T, int] | None:
        """Read the longest phrase that starts at a place: what it means, and where it ends."""
        group = self._by_first.get(keys[place]) if place < len(keys) else None
        if group is None:
            return None
        for phrase, meaning in group:
            end = place + len(phrase)
            if end == place + 1 or tuple(keys[place:end]) == phrase:
                return meaning, end
        return None


def _keys(name: str) -> tuple[str, ...]:
    """A phrase as its tokens are looked up; one of plain words need not be cut into tokens."""
    if _PLAIN.fullmatch(name):
        return tuple((name.casefold() if name.isascii() else fold_text(name)).split())
    return keys_of(tokenize(name))


def plain_phrases(*names: str) -> Phrases[bool]:
    """Phrases that mean nothing but themselves."""
    return Phrases({"|".join(names): True})


def words(text: str) -> frozenset[str]:
    return frozenset(fold(word) for word in text.split())
