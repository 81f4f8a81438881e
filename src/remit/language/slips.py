"""Corrects words mistyped by one letter, if only one known word can be meant."""

from functools import cache
from typing import Final

from remit.language.files import words_in_all

_SHORTEST: Final = 5  # letters of a word that may be mistyped


@cache
def correct_slip(key: str) -> str:
    """The word that was meant: the key itself, unless it is one letter away from a single one."""
    if len(key) < _SHORTEST or not key.isalpha():
        return key
    found = {word for each in (key, *_shorter(key)) for word in _by_shorter().get(each, ())}
    near = [word for word in found if word[0] == key[0] and abs(len(word) - len(key)) <= 1]
    return near[0] if len(near) == 1 else key


@cache
def _by_shorter() -> dict[str, frozenset[str]]:
    """The words that may be meant, by themselves and by what is left without one letter."""
    found: dict[str, set[str]] = {}
    for word in words_in_all("words", "guessed"):
        for each in (word, *_shorter(word)):
            found.setdefault(each, set()).add(word)
    return {each: frozenset(words) for each, words in found.items()}


def _shorter(word: str) -> tuple[str, ...]:
    return tuple(word[:at] + word[at + 1 :] for at in range(len(word)))
