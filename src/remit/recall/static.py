"""Turns texts into vectors in this process, without a network or a running model.

A vector has two parts. The first is the mean of one vector per word piece; the pieces and their
vectors were taken from MiniLM once, by `bench/make_recall_table.py`. It knows that a faucet is a
tap, in English. The second counts the character n-grams of the words, hashed into few places; it
finds a word of any language in another form. Sums are whole numbers with many lanes, so that one
addition adds a whole vector. Words such as "the" count in neither.
"""

import mmap
import re
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from math import sqrt
from operator import mul
from pathlib import Path
from typing import Final
from zlib import crc32

NAME: Final = "remit-static-1"  # a new table or another way to add up needs a new name
FOLDER: Final = Path(__file__).parent / "data"
MEANING_DIMENSIONS: Final = 128
NGRAM_DIMENSIONS: Final = 128
NGRAM_SIZES: Final = (3, 4)
NGRAM_SHARE: Final = 0.7  # of the likeness, as compared with 1 for the meaning
_SHARES: Final = (1.0, NGRAM_SHARE)
SHORTEST_WORD: Final = 4  # letters; of shorter words the n-grams say nothing, but for numbers
LONGEST_WORD: Final = 100  # letters; what is longer is no word
_LANE_BYTES: Final = 4
_LANE_BITS: Final = 8 * _LANE_BYTES
_BYTE_BIAS: Final = 128  # a number of the table is stored as an unsigned byte
_LANE_BIAS: Final = 1 << _LANE_BITS - 2
_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")  # an ideogram is a word


class StaticEmbedder:
    """Opens its files at first use; `open_files` opens them earlier."""

    name: Final = NAME

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [vector(text) for text in texts]


def vector(text: str) -> list[float]:
    """Return a vector of length one; zeros for a text without words."""
    meaning = ngrams = 0
    for word in dict.fromkeys(words(text)):
        of_pieces, of_ngrams = _word_lanes(word)
        meaning += of_pieces
        ngrams += of_ngrams
    parts = _from_lanes(meaning, MEANING_DIMENSIONS), _from_lanes(ngrams, NGRAM_DIMENSIONS)
    squares = [sum(map(mul, each, each)) for each in parts]
    shares = [share if square else 0 for share, square in zip(_SHARES, squares, strict=True)]
    factors = [
        sqrt(share / sum(shares) / square) if square else 0.0
        for share, square in zip(shares, squares, strict=True)
    ]
    return [each * factor for part, factor in zip(parts, factors, strict=True) for each in part]


def words(text: str) -> list[str]:
    """Return the meaningful words of a text, without case and accents."""
    lowered = text.lower()
    if not lowered.isascii():
        decomposed = unicodedata.normalize("NFD", lowered)
        lowered = "".join(each for each in decomposed if not unicodedata.combining(each))
    common = common_words()
    found = _WORD.findall(lowered)
    return [each for each in found if each not in common and len(each) <= LONGEST_WORD]


def pieces(word: str) -> Iterator[int]:
    """Return the numbers of the longest pieces in the vocabulary, from left to right."""
    known, start = vocabulary(), 0
    while start < len(word):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            number = known.get(prefix + word[start:end])
            if number is not None:
                yield number
                start = end
                break
        else:
            start += 1  # a letter that nobody knows


@cache
def vocabulary() -> Mapping[str, int]:
    lines = open_files()["wordpiece.txt"][:].decode().split("\n")
    return {piece: number for number, piece in enumerate(lines) if piece}


@cache
def common_words() -> frozenset[str]:
    """Return words that are common in any English, German or Spanish text."""
    return frozenset(open_files()["common_words.txt"][:].decode().split())


@cache
def open_files() -> Mapping[str, mmap.mmap]:
    """Return the data by name. It stays readable when an upgrade removes the folder."""
    mapped = {}
    for name in ("wordpiece.txt", "common_words.txt", "table.bin"):
        with (FOLDER / name).open("rb") as file:
            mapped[name] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return mapped


@lru_cache(1024)  # a kilobyte each
def _word_lanes(word: str) -> tuple[int, int]:
    """Return what a word adds to both parts."""
    table, meaning = open_files()["table.bin"], 0
    for number in pieces(word):
        wide = bytearray(_LANE_BYTES * MEANING_DIMENSIONS)
        start = number * MEANING_DIMENSIONS
        wide[::_LANE_BYTES] = table[start : start + MEANING_DIMENSIONS]
        meaning += int.from_bytes(wide, "little") - _bias(MEANING_DIMENSIONS, _BYTE_BIAS)
    return meaning, sum(_ngram_lanes(word))


def _ngram_lanes(word: str) -> Iterator[int]:
    """Add or subtract one at the place of each n-gram; collisions cancel out on average."""
    if len(word) < SHORTEST_WORD and word.isalpha():
        return
    padded = f"<{word}>"
    for size in NGRAM_SIZES:
        for start in range(len(padded) - size + 1):
            number = crc32(padded[start : start + size].encode("utf-8", "surrogatepass"))
            one = 1 << _LANE_BITS * (number % NGRAM_DIMENSIONS)
            yield one if number >> 31 else -one


@cache
def _bias(lanes: int, value: int) -> int:
    return int.from_bytes(value.to_bytes(_LANE_BYTES, "little") * lanes, "little")


def _from_lanes(total: int, lanes: int) -> list[int]:
    """Return the numbers of a sum; the bias keeps each from borrowing from the next."""
    raw = (total + _bias(lanes, _LANE_BIAS)).to_bytes(_LANE_BYTES * lanes, "little")
    found = array("I", raw)
    if _IS_BIG_ENDIAN:
        found.byteswap()
    return [each - _LANE_BIAS for each in found]


_IS_BIG_ENDIAN: Final = array("I", b"\0\0\0\1")[0] == 1
