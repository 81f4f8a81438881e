"""Text into the word pieces that MiniLM reads: BERT's way, uncased.

A text is cleaned, lowered and rid of its accents, cut at blanks and punctuation, and each word into
the longest pieces that the vocabulary knows. The vocabulary's source is named beside it.
"""

import unicodedata
from functools import cache
from pathlib import Path
from typing import Final

VOCABULARY: Final = Path(__file__).parent / "vocab" / "wordpiece.txt"
UNKNOWN, BEGIN, END = 100, 101, 102  # [UNK], [CLS], [SEP]
_LONGEST: Final = 100  # characters of a word; a longer one is none
_CJK: Final = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_ASCII_MARKS: Final = ((33, 47), (58, 64), (91, 96), (123, 126))


def pieces(text: str, most: int) -> list[int]:
    """The numbers of the pieces, between a beginning and an end; at most so many of them."""
    known, found = vocabulary(), [BEGIN]
    for word in words(text):
        found += _cut(word, known)
        if len(found) >= most - 1:
            break
    return [*found[: most - 1], END]


@cache
def vocabulary() -> dict[str, int]:
    lines = VOCABULARY.read_text(encoding="utf-8").split("\n")
    return {piece: number for number, piece in enumerate(lines) if piece}


def words(text: str) -> list[str]:
    """The words of a text, without case and accents; each mark of punctuation is one."""
    plain = unicodedata.normalize("NFD", _clean(text).lower())
    spaced: list[str] = []
    for letter in plain:
        if unicodedata.category(letter) == "Mn":
            continue
        spaced.append(f" {letter} " if _is_mark(letter) else letter)
    return "".join(spaced).split()


def _clean(text: str) -> str:
    """Without what cannot be seen; every blank is a plain one, and every ideogram a word."""
    kept: list[str] = []
    for letter in text:
        code = ord(letter)
        if letter in "\t\n\r" or unicodedata.category(letter) == "Zs":
            kept.append(" ")
        elif code in (0, 0xFFFD) or unicodedata.category(letter)[0] == "C":
            continue
        else:
            kept.append(f" {letter} " if _within(code, _CJK) else letter)
    return "".join(kept)


def _cut(word: str, known: dict[str, int]) -> list[int]:
    """The longest pieces first; a word with a part that nobody knows is unknown as a whole."""
    if len(word) > _LONGEST:
        return [UNKNOWN]
    found: list[int] = []
    start = 0
    while start < len(word):
        end, number = len(word), None
        while start < end:
            number = known.get(("##" if start else "") + word[start:end])
            if number is not None:
                break
            end -= 1
        if number is None:
            return [UNKNOWN]
        found.append(number)
        start = end
    return found


def _is_mark(letter: str) -> bool:
    return _within(ord(letter), _ASCII_MARKS) or unicodedata.category(letter)[0] == "P"


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)
