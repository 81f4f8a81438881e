"""Measures how much a text could hide in letters that Unicode lets a writer spell in two ways.

"é" is one character, or two: "e" and an accent. Nobody sees which, so each such letter could hide a
bit. A writer, or the file that he quotes, keeps to one way, and what keeps to one hides nothing.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain
from typing import Final, NamedTuple

from remit.gate.hidden_choices import bits_of_sequence

_WORD: Final = re.compile(r"\S++")
_SECOND_JAMO: Final = frozenset(map(chr, (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))))
# Where Unicode has letters of parts, and such that double others; Hangul has rules of its own.
_WITH_PARTS: Final = (
    *(range(0xC0, 0x3100), range(0xF900, 0xFB50), range(0x10500, 0x12000)),
    *(range(0x16100, 0x16E00), range(0x1D100, 0x1D200), range(0x2F800, 0x2FA1E)),
)
_HANGUL: Final = re.compile("[\uac00-\ud7a3]")


class _Spellings(NamedTuple):
    """Of each letter with two spellings: the two."""

    parts: dict[str, str]  # "é" -> "e" and its accent
    whole: dict[str, str]  # the other way round
    double: dict[str, str]  # a character -> the one that it doubles: the sign of Kelvin -> K
    doubled: frozenset[str]
    seconds: frozenset[str]  # a text without any of them spells all in the usual way


@cache
def _spellings() -> _Spellings:
    parts: dict[str, str] = {}
    double: dict[str, str] = {}
    for code in chain.from_iterable(_WITH_PARTS):
        found = unicodedata.decomposition(chr(code))
        if found and not found.startswith("<"):
            apart = "".join(chr(int(each, 16)) for each in found.split())
            (parts if len(apart) > 1 else double)[chr(code)] = apart
    whole = {apart: char for char, apart in parts.items()}
    excluded = {char for char in parts if unicodedata.normalize("NFC", char) != char}
    seconds = _SECOND_JAMO.union(double, excluded, (apart[1] for apart in whole))
    return _Spellings(parts, whole, double, frozenset(double.values()), seconds)


def spelling_bits(text: str) -> float:
    """Return how many bits a text can hide in the choice between two spellings of its letters."""
    if text.isascii() or _spellings().seconds.isdisjoint(text):
        return 0.0
    words = [(word, *_read(word)) for word in _WORD.findall(text)]
    written: dict[str, set[str]] = defaultdict(set)
    for word, visible, _ in words:
        written[visible].add(word)
    chosen: dict[str, list[bool]] = defaultdict(list)
    seen: set[str] = set()
    for word, visible, choices in words:
        if word not in seen or len(written[visible]) > 1:
            for kind, is_second in choices:
                chosen[kind].append(is_second)
        seen.add(word)
    return sum(map(bits_of_sequence, chosen.values()))


def first_choice(text: str) -> int:
    """Return where the first unusual spelling may be."""
    seconds = _spellings().seconds
    return next((index for index, char in enumerate(text) if char in seconds), 0)


def _read(word: str) -> tuple[str, list[tuple[str, bool]]]:
    """Return how a word looks, and each choice in it: its kind, and which spelling was taken."""
    known, shown, choices = _spellings(), list[str](), list[tuple[str, bool]]()
    for char in word:
        joined = _joined(shown[-1], char) if shown and char in known.seconds else None
        if joined is not None:
            if shown[-1] in known.parts:  # the second of several marks
                marks = "".join(sorted(unicodedata.normalize("NFD", joined)[1:]))
                choices.append((f"order {marks}", shown[-1] + char not in known.whole))
            shown[-1] = joined
            choices.append((_kind(char), True))
            continue
        choices += ((kind, False) for kind in _kinds_of_whole(char))
        if char in known.double:
            choices.append((_kind(known.double[char]), True))
        elif char in known.doubled:
            choices.append((_kind(char), False))
        shown.append(known.double.get(char, char))
    return "".join(shown), choices


@lru_cache(maxsize=4096)
def _joined(letter: str, second: str) -> str | None:
    """Return the one character for a letter and what follows it; None if there is none."""
    found = _spellings().whole.get(letter + second)
    if found is None and len(composed := unicodedata.normalize("NFC", letter + second)) == 1:
        found = composed
    return found


def _kinds_of_whole(char: str) -> Iterator[str]:
    """Yield a kind for each mark of a character that could have been written behind it."""
    if _HANGUL.match(char):
        yield _kind("\u1161")
    parts = _spellings().parts
    while char in parts:
        char, second = parts[char][0], parts[char][1]
        yield _kind(second)


def _kind(char: str) -> str:
    if char in _SECOND_JAMO:
        return "Hangul"
    return "ideograph" if "\u3400" <= char <= "\u9fff" or char > "\uffff" else char
