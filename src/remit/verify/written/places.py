"""Finds addresses and numbers in a text: pages, mail addresses, phone numbers, amounts.

`1.500` may be fifteen hundred or one and a half. So a number keeps all values that it may mean.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from remit.language.files import number_words, read_toml
from remit.language.tokens import fold
from remit.verify.written.times import clear_minutes, ordinal_ends
from remit.verify.written.wording import any_of, folded_words, values, word_list

URL: Final = re.compile(r"(?:https?://|www\.)[^\s<>\"'“”„«»`|]+", re.IGNORECASE)
MAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
PHONE: Final = re.compile(
    r"(?<![\w.,/-])(?:\+|\(\+?)?\d+\)?(?:(?:[ \u00a0/.-]|\)[ ]?|[ ]?\("
    r"|[ ][/-][ ])\d+\)?){0,9}(?![\w%€$£])"
)
_KNOWN: Final = read_toml("places", "remit.verify.written")
FILE: Final = re.compile(
    rf"(?<![\w/@.])[\w][\w./-]*\.(?:{'|'.join(_KNOWN['file_endings'])})\b", re.IGNORECASE
)
_DOMAIN: Final = re.compile(
    r"(?<![\w@./-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+"
    rf"(?:{'|'.join(_KNOWN['top_domains'])})\b(?!@)(?:/[^\s<>\"'“”|]*)?",
    re.IGNORECASE,
)
_DOTTED: Final = re.compile(r"\w\.[a-zA-Z]")
_SHARED: Final = frozenset(_KNOWN["shared_domains"])
_TRAILING: Final = ".,;:!?)]}'\"*_>…"
_DIGIT: Final = re.compile(r"\d")
_MIN_DIGITS: Final = 7
_MAX_DIGITS: Final = 15


def urls(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield every page address, and bare site names."""
    for pattern in (URL, _DOMAIN) if _DOTTED.search(text) else (URL,):
        for found in pattern.finditer(text):
            bare = _trim_url(found.group(0))
            if pattern is URL or not FILE.fullmatch(bare):
                yield found.start(), found.start() + len(bare), bare


def may_hold_phone(text: str) -> bool:
    """Whether a text has as many digits as a phone number."""
    return len(_DIGIT.findall(text)) >= _MIN_DIGITS


def phones(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield everything that could be a phone number; a large amount could be one, too."""
    for found in PHONE.finditer(text):
        digits = re.sub(r"\D", "", found.group(0))
        if _MIN_DIGITS <= len(digits) <= _MAX_DIGITS and not _DATED.search(found.group(0)):
            yield found.start(), found.end(), digits


def same_phone(one: str, other: str) -> bool:
    """Whether two phone numbers are the same, with or without country code."""
    short, long = sorted((one.lstrip("0"), other.lstrip("0")), key=len)
    return len(short) >= _MIN_DIGITS - 1 and long.endswith(short)


def address(url: str) -> str:
    """Return an address for comparison: no scheme, `www.`, last slash, fragment or trackers."""
    parts = _split(url)
    if parts is None:
        return url.casefold()
    host, path, query = parts
    fields = [f"{key}={value}" for key, value in parse_qsl(query) if not key.startswith("utm_")]
    return host + path.rstrip("/") + ("?" + "&".join(sorted(fields)) if fields else "")


def host(url: str) -> str:
    parts = _split(url)
    return parts[0] if parts else ""


def site(url: str) -> str:
    """Return the site of an address: its registered domain."""
    labels = host(url).split(".")
    keep = 3 if ".".join(labels[-2:]) in _SHARED else 2
    return ".".join(labels[-keep:])


def is_page(place: str) -> bool:
    return URL.match(place) is not None or _DOMAIN.fullmatch(place) is not None


def _split(url: str) -> tuple[str, str, str] | None:
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
        name = parts.hostname or ""
    except ValueError:
        return None
    return name.removeprefix("www."), parts.path, parts.query


def _trim_url(found: str) -> str:
    while found and found[-1] in _TRAILING:
        if found[-1] == ")" and found.count("(") >= found.count(")"):
            break
        found = found[:-1]
    return found


def is_amount(text: str) -> bool:
    """Whether groups of three with one separator look like a large number."""
    return re.fullmatch(r"\d{1,3}([.,\u00a0 ])\d{3}(\1\d{3})*", text.strip()) is not None


_DATED: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}|\d\d?[./]\d\d?[./]\d{2,4}|\b\d{1,2}[.:]\d{2}\b.*\d{1,2}[.:]\d{2}\b"
)


_DIGITS: Final = (
    r"\d{1,3}(?:[.,'’\u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d{1,3}(?:\x20\d{3})+(?!\d)"
    r"|\d+(?:[.,]\d+)?"
)
_MONEY_SIGNS: Final = r"€|\$|£|¥|₹|(?:eur|usd|gbp|chf|idr|mxn|ct)(?![^\W\d_])"
_CURRENCY_SIGNS: Final = {"€": "eur", "$": "usd", "£": "gbp", "¥": "jpy", "₹": "inr"}
_UNIT_SIGNS: Final = (
    r"°\s?[cf]?|km/h|km²|m²|km|kwh|kw|kg|mg|gb|mb|tb|cm|mm|ml|min\.|[gmlhs](?![\w'])"
)
_UNCLEAR: Final = frozenset({"m", "h", "s", "°", "min"})  # metres or minutes; any degrees
_NUMBERS_MAX_DIGITS: Final = 40
_GROUP: Final = 3  # digits that stand together in a large number


class NumberValue(NamedTuple):
    """One meaning of a number, and its precision: 1.5 million to a tenth of a million."""

    amount: float
    grain: float


class Number(Struct, frozen=True):
    """A number in a text: its possible values, and its unit."""

    values: tuple[NumberValue, ...]
    unit: str = ""  # `money`, `%`, a unit in lower case, or empty
    measure: str = ""  # the unit, or which money; empty if it is not clear

    @property
    def amounts(self) -> tuple[float, ...]:
        return tuple(value.amount for value in self.values)


@cache
def number_shape() -> re.Pattern[str]:
    """Return the pattern of a number with its scale and unit, in lower case."""
    money, percent = _money(), _percent()
    scales, units = (any_of(f"figures.{each}", glued=True) for each in ("scales", "units"))
    blank = r"[\s\u00a0\u202f]"
    return re.compile(
        rf"(?<!\w)(?<!\d[.,])(?<![^\W\d_]-)(?P<before>(?:{money})\s?)?[-\u2212]?(?P<digits>{_DIGITS})"
        rf"(?:{blank}?(?P<scale>{scales})(?!'))?(?P<order>{ordinal_ends()}|°(?!\s?[cf]))?"
        rf"(?:(?:{blank}|-)?(?P<unit>{money}|(?:{percent}|{clear_minutes()}|{units}|{_UNIT_SIGNS})(?![^\W\d_])))?"
        rf"(?P<stuck>[^\W\d_]*)"
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
def _measures() -> Mapping[str, str]:
    """Return which unit or money a word or sign means."""
    named = {
        fold(word): code
        for lists in ("figures.units", "figures.currencies")
        for code in values(lists)
        for word in word_list(f"{lists}:{code}")
    }
    return named | _CURRENCY_SIGNS


@cache
def _percent() -> str:
    return f"%|{any_of('figures.percent', glued=True)}"


def read_number(found: re.Match[str]) -> Number | None:
    """Return the number of a match; None if it is part of a name like 4B or 1000XM5."""
    if found["stuck"] or len(found["digits"]) > _NUMBERS_MAX_DIGITS:
        return None
    scale = " ".join(fold(found["scale"] or "").rstrip(".").split())
    factors = _scales().get(scale, (1.0,))
    values = tuple(
        NumberValue(value.amount * factor, value.grain * factor)
        for value in _values(found["digits"])
        for factor in factors
    )
    return Number(values, *_unit(found["before"] or found["unit"] or ""))


def spelled_numbers(text: str) -> set[float]:
    """Return the numbers that a text writes as words."""
    known = number_words()
    return {float(known[key]) for key in folded_words(text) if key in known}


def _unit(sign: str) -> tuple[str, str]:
    """Return the unit, and which measure it is."""
    bare = sign.strip()
    if not bare:
        return "", ""
    folded = fold(bare).rstrip(".").replace(" ", "")
    measure = _measures().get(folded, folded)
    if re.fullmatch(_money(), bare):
        return "money", measure
    if re.fullmatch(_percent(), bare):
        return "%", "%"
    return measure, "" if measure in _UNCLEAR else measure


def _values(digits: str) -> tuple[NumberValue, ...]:
    """Return all values the digits may mean, in any country's notation."""
    if digits.isdecimal():
        return (_round(digits),)
    bare = re.sub(r"['’\s]", "", digits)
    marks = re.sub(r"\d", "", bare)
    joined = _round(re.sub(r"[.,]", "", bare))
    if not marks or (len(set(marks)) == 1 and len(marks) > 1):
        return (joined,)
    head, tail = re.split(r"[.,](?=\d+$)", bare)
    number = NumberValue(float(re.sub(r"[.,]", "", head) + "." + tail), 10.0 ** -len(tail))
    ambiguous = len(marks) == 1 and len(tail) == _GROUP and not head.startswith("0")
    return (joined, number) if ambiguous else (number,)


def _round(digits: str) -> NumberValue:
    """Return a whole number with its precision: 79000 to the thousand, but 100 may be exact."""
    significant = digits.rstrip("0").lstrip("0")
    zeros = len(digits) - len(digits.rstrip("0"))
    return NumberValue(float(digits), 10.0**zeros if len(significant) > 1 else 1.0)
