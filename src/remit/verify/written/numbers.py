"""Numbers as people write them: 1,500.50 and 1.500,50, 1.5 million and 1,5 Mio., five and fünf.

`1.500` may be fifteen hundred or one and a half, and nobody can tell which from the sign alone.
So a number has all the values that it may mean.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from msgspec import Struct

from remit.language.numbers import NUMBER_WORDS
from remit.verify.written.wording import fold, words

_DIGITS: Final = (
    r"\d{1,3}(?:[.,'’\u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d{1,3}(?:\x20\d{3})+(?!\d)"
    r"|\d+(?:[.,]\d+)?"
)
_CURRENCY: Final = (
    r"€|\$|£|¥|₹|eur(?:os?)?|usd|gbp|chf|idr|mxn|dollars?|pounds?|dólares|libras|pesos|rupiah"
    r"|rupias|franken|cents?|ct|cent|céntimos"
)
_UNIT: Final = (
    r"%|percent|per\s+cent|prozent|por\s+ciento|°\s?[cf]?|km/h|km²|m²|km|kwh|kw|kg|mg|gb|mb|tb|cm"
    r"|mm|ml|min(?:\.|utes?|uten?|utos?)?"
    r"|[gmlhs](?![\w'])"
)
_SCALE: Final = (
    r"mil\s+millones|thousand|tausend|tsd\.?|millionen|millions?|millones|mill[oó]n|mio\.?|mill\."
    r"|milliarden?|mrd\.?|billion(?:s|en)?|bill[oó]n(?:es)?|trillions?|bn|mn|mil|[kKmMB](?![\w'])"
)
NUMBER: Final = re.compile(
    rf"(?<!\w)(?<!\d[.,])(?<![^\W\d_]-)(?P<before>(?:{_CURRENCY})\s?)?[-\u2212]?(?P<digits>{_DIGITS})"
    rf"(?:[\s\u00a0\u202f]?(?P<scale>{_SCALE})(?![^\W\d_]))?"
    rf"(?P<order>st|nd|rd|th|º|ª|er|°(?!\s?[CF]))?"
    rf"(?:[\s\u00a0\u202f-]?(?P<unit>(?:{_CURRENCY})(?![^\W\d_])|(?:{_UNIT})(?![^\W\d_])))?"
    rf"(?P<stuck>[^\W\d_]*)",
    re.IGNORECASE,
)

_SCALES: Final[Mapping[str, tuple[float, ...]]] = {
    **dict.fromkeys(("k", "thousand", "tausend", "tsd", "mil"), (1e3,)),
    **dict.fromkeys(("million", "millions", "millionen", "mio", "mill", "mn"), (1e6,)),
    **dict.fromkeys(("millon", "millones"), (1e6,)),
    **dict.fromkeys(("milliarde", "milliarden", "mrd", "bn", "b", "mil millones"), (1e9,)),
    # A billion is a thousand millions in English and a million of them elsewhere.
    **dict.fromkeys(("billion", "billions", "billionen", "billon", "billones"), (1e9, 1e12)),
    **dict.fromkeys(("trillion", "trillions"), (1e12, 1e18)),
    "m": (1e6, 1.0),
}
_MOST_DIGITS: Final = 40
_GROUP: Final = 3  # digits that stand together in a large number
_MONEY: Final = re.compile(rf"(?:{_CURRENCY})$", re.IGNORECASE)
_PERCENT: Final = re.compile(r"%|percent|per\s+cent|prozent|por\s+ciento", re.IGNORECASE)


class NumberValue(NamedTuple):
    """One thing that a number may mean, and how finely: 1.5 million to a tenth of one."""

    amount: float
    grain: float


class Number(Struct, frozen=True):
    """A number as it stands in a text: what it may mean, and of what."""

    values: tuple[NumberValue, ...]
    unit: str = ""  # `money`, `%`, a unit in small letters, or nothing

    @property
    def amounts(self) -> tuple[float, ...]:
        return tuple(value.amount for value in self.values)


def read(found: re.Match[str]) -> Number | None:
    """What a match of NUMBER means; None if it is part of a name like 4B or 1000XM5."""
    if found["stuck"] or len(found["digits"]) > _MOST_DIGITS:
        return None
    scale = fold(found["scale"] or "").rstrip(".")
    factors = _SCALES.get(scale, (1.0,))
    values = tuple(
        NumberValue(value.amount * factor, value.grain * factor)
        for value in _values(found["digits"])
        for factor in factors
    )
    return Number(values, _unit(found["before"] or found["unit"] or ""))


def spelled(text: str) -> set[float]:
    """The numbers that a text writes out in words."""
    return {float(NUMBER_WORDS[key]) for word in words(text) if (key := fold(word)) in NUMBER_WORDS}


def _unit(sign: str) -> str:
    bare = sign.strip()
    if _MONEY.fullmatch(bare):
        return "money"
    return "%" if _PERCENT.fullmatch(bare) else fold(bare).rstrip(".").replace(" ", "")


def _values(digits: str) -> tuple[NumberValue, ...]:
    """All that the digits may mean, whichever country wrote them."""
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
    """A whole number; 79000 is told to the thousand, but 100 may be a hundred to the last."""
    told = digits.rstrip("0").lstrip("0")
    zeros = len(digits) - len(digits.rstrip("0"))
    return NumberValue(float(digits), 10.0**zeros if len(told) > 1 else 1.0)
