"""How many things a request asks to list, by where the number stands.

After "list", "name" or "a table of" a number counts entries. After "find" it may describe one of
them: "find 4 seats". A measured quantity is not listed: "three days".
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from remit.language.files import LANGUAGES, section
from remit.language.numbers import cardinals
from remit.language.tokens import fold

_WORD: Final = re.compile(r"\d{1,5}|[^\W\d_]+(?:['’-][^\W\d_]+)*|[.!?:;,\n]")
_AHEAD: Final = 3  # words behind a number among which is the one that it counts
_MAX_WORDS_BETWEEN: Final = 6  # words between a verb and its number
_MIN_ITEMS: Final = 2  # one thing is no list


class CountedItems(Struct, frozen=True):
    """`start` and `end` cover the number and the words it counts."""

    number: int
    start: int
    end: int
    sure: bool


class _Token(Struct, frozen=True):
    start: int
    end: int
    key: str


class _Vocabulary(Struct, frozen=True):
    numbers: dict[str, int]
    listing: tuple[tuple[str, ...], ...]
    seeking: tuple[tuple[str, ...], ...]
    counted: frozenset[str]
    between: frozenset[str]
    measures: frozenset[str]
    joins: frozenset[str]
    stop: frozenset[str]


@cache
def _vocabulary(code: str) -> _Vocabulary:
    table = section(code, "requests")
    listing, seeking = (
        tuple(tuple(fold(each).split()) for each in table[key]) for key in ("listing", "seeking")
    )
    counted, between, measures, joins, stop = (
        frozenset(map(fold, table[key]))
        for key in ("counted", "between", "measures", "joins", "stop")
    )
    numbers = {fold(name): value for name, value in cardinals(code).items()}
    return _Vocabulary(numbers, listing, seeking, counted, between, measures, joins, stop)


def counted(asked: str) -> CountedItems | None:
    """Return the first number of things to list; a sure one before a possible one."""
    tokens = [
        _Token(each.start(), each.end(), fold(each.group())) for each in _WORD.finditer(asked)
    ]
    found = [each for code in LANGUAGES for each in _in_language(tokens, _vocabulary(code))]
    return min(found, key=lambda each: (not each.sure, each.start), default=None)


def _in_language(tokens: Sequence[_Token], known: _Vocabulary) -> Iterator[CountedItems]:
    for at, token in enumerate(tokens):
        number = _number(token.key, known)
        behind = _words(tokens[at + 1 : at + 1 + _AHEAD], known)
        if number < _MIN_ITEMS or not behind:
            continue
        before = [each.key for each in tokens[max(0, at - _MAX_WORDS_BETWEEN) : at]]
        sure = _follows(before, known.listing, known.between)
        named = any(each.key in known.counted for each in behind[:2])
        if sure or named or _follows(before, known.seeking, known.between):
            alone = not _another(tokens[at + 1 :], known)
            yield CountedItems(number, token.start, behind[-1].end, (sure or named) and alone)


def _number(key: str, known: _Vocabulary) -> int:
    return int(key) if key.isdecimal() else known.numbers.get(key, 0)


def _words(tokens: Sequence[_Token], known: _Vocabulary) -> list[_Token]:
    """Return the words a number counts; none if it measures something."""
    found: list[_Token] = []
    for each in tokens:
        if not each.key[0].isalpha() or (found and each.key in known.stop):
            break
        found.append(each)
    return [] if any(each.key in known.measures for each in found[:2]) else found


def _follows(
    before: Sequence[str], phrases: Sequence[tuple[str, ...]], between: frozenset[str]
) -> bool:
    """Whether a phrase precedes the number, with only small words in between."""
    for cut in range(len(before), 0, -1):
        if any(
            tuple(before[cut - len(each) : cut]) == each for each in phrases if len(each) <= cut
        ):
            return True
        if before[cut - 1] not in between:
            return False
    return False


def _another(tokens: Sequence[_Token], known: _Vocabulary) -> bool:
    """Whether a second number is joined to the first: three starters and two desserts."""
    for at, token in enumerate(tokens[: _AHEAD + 2]):
        joined = token.key == "," or token.key in known.joins
        after = tokens[at + 1].key if joined and at + 1 < len(tokens) else ""
        if _number(after, known) >= _MIN_ITEMS:
            return True
    return False
