"""Folds a text to how it looks, and says why a text is held.

Folding is for comparison only; the text that is sent is never folded. Each character is folded
alone, so the time is linear (normalising a whole text sorts long runs of accents). Line ends stay,
so line numbers match the original.

Also finds phrases with which models talk about their work, in several languages: machine_talk.toml.
Each word leads to the few phrases that begin with it, so the time does not grow with their number.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Final, TypeAlias, cast

from remit.language.files import read_toml
from remit.model.reply import Hold

# Letters by category, but blank to the eye.
BLANK: Final = frozenset("\u2800\u3164\u115f\u1160\uffa0\U0001d159")

_LOOKS: Final = {
    chr(int(code, 16)): plain
    for plain, codes in cast("Mapping[str, str]", read_toml("lookalikes", "remit.gate")).items()
    for code in codes.split()
}
# Latin letters that are not a base plus an accent: their names say which they are.
_LATIN: Final = re.compile(
    "[\xaa-\u02af\u1d00-\u1dbf\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f\U0001f110-\U0001f18f]"
)
_LETTER: Final = re.compile(
    r"(?:NEGATIVE (?:CIRCLED|SQUARED) )?+LATIN (?:(CAPITAL|SMALL) LETTER|LETTER SMALL CAPITAL) "
    r"([A-Z])(?: WITH [A-Z ]{1,60}+)?+\Z"
)
_NOT_WORD: Final = re.compile(r"[\W_]++")
_FOLDED: Final = re.compile(r"[^\n\t\r -~]")  # whatever folding may change


class _Table(dict[int, str]):
    """Folds a character when it is first met; each text has its own table."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold_character(chr(code))
        return folded


def fold(text: str) -> str:
    """Return the text as it looks, in the letters it resembles; case is kept.

    A part of a folded text is the folded part of the text.
    """
    return text.translate(_Table()) if _FOLDED.search(text) else text


def words(folded: str) -> str:
    """Return the words of a folded text in lower case, with one space around each."""
    plain = folded.lower().replace("'", "")
    return f" {_NOT_WORD.sub(' ', plain).strip()} "


def _fold_character(char: str) -> str:
    if char in "\n\t\r" or " " <= char <= "~":
        return char
    category = unicodedata.category(char)
    if category in ("Cc", "Cf", "Cs", "Mn", "Me") or char in BLANK:
        return ""
    if category[0] == "Z":
        return " "
    return _plain_lookalike(char)


def _plain_lookalike(char: str) -> str:
    if char in _LOOKS:
        return _LOOKS[char]
    parts = unicodedata.normalize("NFKD", char)
    plain = "".join(_LOOKS.get(part, part) for part in parts if not unicodedata.combining(part))
    if plain and plain.isascii():
        return plain
    named = _LATIN.match(char) and _LETTER.match(unicodedata.name(char, ""))
    if not named:
        return char
    return named[2].lower() if named[1] == "SMALL" else named[2]


_MAX_SHOWN_CHARACTERS: Final = 48


def known_words(name: str) -> tuple[str, ...]:
    """Return a list of known_words.toml."""
    found: list[str] | str = read_toml("known_words", "remit.gate")[name]
    return tuple(found.split() if isinstance(found, str) else found)


class HoldReason(StrEnum):
    TAGS = "tags"  # not exactly one pair, in order
    SPELLING = "spelling"  # misspelt tags
    PLACE = "place"  # the pair is in an example, a quotation or a thought
    EMPTY = "empty"
    DECLINE = "decline"
    HIDDEN = "hidden"  # invisible characters
    ECHO = "echo"  # our instructions, or an unfilled template
    MARKUP = "markup"  # markup for machines: thoughts, tool calls, control tokens
    WORK = "work"  # step markers and talk about the work
    ID = "id"  # internal ids
    SECRET = "secret"  # noqa: S105 - the word, not one
    LIMIT = "limit"


class Objection(Hold, frozen=True):
    """A hold with its reason class."""

    why: HoldReason


def line(text: str, index: int) -> int:
    """Return the line number of a character, from 1."""
    return text.count("\n", 0, index) + 1


def excerpt(text: str) -> str:
    """A piece of a text as it may stand in a sentence: short, and with nothing hidden in it."""
    piece = " ".join(text[: 2 * _MAX_SHOWN_CHARACTERS].split())
    if len(piece) > _MAX_SHOWN_CHARACTERS:
        piece = piece[: _MAX_SHOWN_CHARACTERS - 1] + "…"
    return "".join(char if char.isprintable() else f"[U+{ord(char):04X}]" for char in piece)


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
        for word in _both_cases(first.split("|")):
            found.setdefault(word, []).append(phrase)
    return found


def _slot(alternatives: str) -> _Slot:
    each = [word for word in alternatives.split("|") if word]
    whole = _both_cases(word for word in each if not word.endswith("*"))
    return whole, tuple(_both_cases(word for word in each if word.endswith("*")))


def _both_cases(each: Iterable[str]) -> frozenset[str]:
    """Return words as they look: a capital letter may resemble another one than its small form."""
    return frozenset(_plain(form) for word in each for form in (word, word.capitalize()))


def _plain(text: str) -> str:
    return words(fold(text)).strip()


def _entries(kind: str) -> Iterable[str]:
    languages = cast("Mapping[str, Mapping[str, Sequence[str]]]", read_toml(_FILE, "remit.gate"))
    return [entry for language in languages.values() for entry in language[kind]]
