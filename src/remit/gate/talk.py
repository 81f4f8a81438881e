"""Finds phrases with which models talk about their work, in several languages.

The phrases are data: machine_talk.toml. Each word of a text leads to the few phrases that begin
with it, so the time grows with the text and not with the number of phrases.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final, TypeAlias, cast

from remit.gate.eye import fold, words
from remit.language.files import read_toml

_FILE: Final = "machine_talk"
_GAP: Final = ".."
_MAX_SKIPPED_WORDS: Final = 3  # words that a gap stands for

_Slot: TypeAlias = tuple[frozenset[str], tuple[str, ...]]  # whole words, and prefixes
_Phrase: TypeAlias = tuple[_Slot | None, ...]  # None: a gap
_Phrases: TypeAlias = Mapping[str, Sequence[_Phrase]]  # by the first word


def about_work(text: str) -> str | None:
    """Return the first words about the work, in a text as `words` writes it."""
    return _first(text, _phrases("work"))


def refusal(text: str) -> str | None:
    """Return the first words by which a model refuses, in a text as `words` writes it."""
    return _first(text, _phrases("refusal"))


@cache
def step_names() -> str:
    """Return the names of a step in work markers, as pattern alternatives in lower case."""
    return "|".join(dict.fromkeys(_plain(each) for each in _entries("step")))


@cache
def heads(kind: str) -> frozenset[str]:
    """Return the line heads of one kind: thoughts, acts or turns."""
    return frozenset(_plain(each) for each in _entries(kind))


def _first(text: str, phrases: _Phrases) -> str | None:
    spoken = text.split()
    for index, word in enumerate(spoken):
        for phrase in phrases.get(word, ()):
            end = _end(spoken, index + 1, phrase)
            if end:
                return " ".join(spoken[index:end])
    return None


def _end(spoken: Sequence[str], index: int, rest: _Phrase) -> int:
    """Return where a phrase ends whose rest begins here; 0 if the words differ."""
    if not rest:
        return index
    slot = rest[0]
    if slot is None:
        ends = (
            _end(spoken, index + skipped, rest[1:]) for skipped in range(_MAX_SKIPPED_WORDS + 1)
        )
        return next(filter(None, ends), 0)
    if index < len(spoken) and (spoken[index] in slot[0] or spoken[index].startswith(slot[1])):
        return _end(spoken, index + 1, rest[1:])
    return 0


@cache
def _phrases(kind: str) -> _Phrases:
    found: dict[str, list[_Phrase]] = {}
    for line in _entries(kind):
        first, *rest = line.split()
        phrase = tuple(None if each == _GAP else _slot(each) for each in rest)
        for word in first.split("|"):
            found.setdefault(_plain(word), []).append(phrase)
    return found


def _slot(alternatives: str) -> _Slot:
    each = [word for word in alternatives.split("|") if word]
    whole = frozenset(_plain(word) for word in each if not word.endswith("*"))
    return whole, tuple(_plain(word) for word in each if word.endswith("*"))


def _plain(text: str) -> str:
    return words(fold(text)).strip()


def _entries(kind: str) -> Iterable[str]:
    languages = cast("Mapping[str, Mapping[str, Sequence[str]]]", read_toml(_FILE, "remit.gate"))
    return [entry for language in languages.values() for entry in language[kind]]
