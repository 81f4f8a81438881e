"""Parses numbers as people write them: 1,500.50 and 1.500,50, 1.5 million, five and fünf.

`1.500` may be fifteen hundred or one and a half. So a number keeps all values that it may mean.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from msgspec import Struct

from remit.language.numbers import NUMBER_WORDS
from remit.language.tokens import fold
from remit.verify.written.times import clear_minutes, ordinal_ends
from remit.verify.written.vocabulary import any_of, values, word_list
from remit.verify.written.wording import folded_words

_DIGITS: Final = (
    r"\d{1,3}(?:[.,'’\u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d{1,3}(?:\x20\d{3})+(?!\d)"
    r"|\d+(?:[.,]\d+)?"
)
_MONEY_SIGNS: Final = r"€|\$|£|¥|₹|(?:eur|usd|gbp|chf|idr|mxn|ct)(?![^\W\d_])"
_UNIT_SIGNS: Final = (
    r"°\s?[cf]?|km/h|km²|m²|km|kwh|kw|kg|mg|gb|mb|tb|cm|mm|ml|min\.|[gmlhs](?![\w'])"
)
_MAX_DIGITS: Final = 40
_GROUP: Final = 3  # digits that stand together in a large number


class NumberValue(NamedTuple):
    """One meaning of a number, and its precision: 1.5 million to a tenth of a million."""

    amount: float
    grain: float


class Number(Struct, frozen=True):
    """A number in a text: its possible values, and its unit."""

    values: tuple[NumberValue, ...]
    unit: str = ""  # `money`, `%`, a unit in lower case, or empty

    @property
    def amounts(self) -> tuple[float, ...]:
        return tuple(value.amount for value in self.values)


@cache
def number_shape() -> re.Pattern[str]:
    """Return the pattern of a number with its scale and unit."""
    money, percent, scales = _money(), _percent(), any_of("figures.scales", glued=True)
    blank = r"[\s\u00a0\u202f]"
    return re.compile(
        rf"(?<!\w)(?<!\d[.,])(?<![^\W\d_]-)(?P<before>(?:{money})\s?)?[-\u2212]?(?P<digits>{_DIGITS})"
        rf"(?:{blank}?(?P<scale>{scales})(?!'))?(?P<order>{ordinal_ends()}|°(?!\s?[CF]))?"
        rf"(?:(?:{blank}|-)?(?P<unit>{money}|(?:{percent}|{clear_minutes()}|{_UNIT_SIGNS})(?![^\W\d_])))?"
        rf"(?P<stuck>[^\W\d_]*)",
        re.IGNORECASE,
    )


@cache
def _scales() -> Mapping[str, tuple[float, ...]]:
    """Return the scale factors. A billion may be a thousand million or a million million."""
    return {
        fold(name).rstrip("."): tuple(map(float, factors.split()))
        for factors in values("figures.scales")
        for name in word_list(f"figures.scales:{factors}")
    }


@cache
def _money() -> str:
    return f"{_MONEY_SIGNS}|{any_of('figures.currencies', glued=True)}"


@cache
def _percent() -> str:
    return f"%|{any_of('figures.percent', glued=True)}"


def read(found: re.Match[str]) -> Number | None:
    """What a match of the shape means; None if it is part of a name like 4B or 1000XM5."""
    if found["stuck"] or len(found["digits"]) > _MAX_DIGITS:
        return None
    scale = " ".join(fold(found["scale"] or "").rstrip(".").split())
    factors = _scales().get(scale, (1.0,))
    meant = tuple(
        NumberValue(value.amount * factor, value.grain * factor)
        for value in _values(found["digits"])
        for factor in factors
    )
    return Number(meant, _unit(found["before"] or found["unit"] or ""))


def spelled(text: str) -> set[float]:
    """Return the numbers that a text writes as words."""
    return {float(NUMBER_WORDS[key]) for key in folded_words(text) if key in NUMBER_WORDS}


def _unit(sign: str) -> str:
    bare = sign.strip()
    if re.fullmatch(_money(), bare, re.IGNORECASE):
        return "money"
    percent = re.fullmatch(_percent(), bare, re.IGNORECASE)
    return "%" if percent else fold(bare).rstrip(".").replace(" ", "")


def _values(digits: str) -> tuple[NumberValue, ...]:
    """Return all values the digits may mean, in any country's notation."""
    bare = re.sub(r"['’\s]", "", digits)
    marks = re.sub(r"\d", "", bare)
    joined = _round(re.sub(r"[.,]", "", bare))
    if not marks or (len(set(marks)) == 1 and len(marks) > 1):
        return (joined,)
    head, tail = re.split(r"[.,](?=\d+$)", bare)
    told = NumberValue(float(re.sub(r"[.,]", "", head) + "." + tail), 10.0 ** -len(tail))
    ambiguous = len(marks) == 1 and len(tail) == _GROUP and not head.startswith("0")
    return (joined, told) if ambiguous else (told,)


def _round(digits: str) -> NumberValue:
    """Return a whole number with its precision: 79000 to the thousand, but 100 may be exact."""
    told = digits.rstrip("0").lstrip("0")
    zeros = len(digits) - len(digits.rstrip("0"))
    return NumberValue(float(digits), 10.0**zeros if len(told) > 1 else 1.0)
