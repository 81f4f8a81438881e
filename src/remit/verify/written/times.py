"""Parses dates, times of day and durations, as people and machines write them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from typing import Final

from msgspec import Struct

from remit.language.tokens import fold
from remit.verify.written.wording import any_of, any_word, lower, pattern, word_list

MINUTES_PER_HOUR: Final = 60
_HALF_DAY: Final = 12 * 60
_DAY: Final = 24 * 60
_LAST_DAY: Final = 31
_LAST_MONTH: Final = 12
_MONTH_LISTS: Final = ("time.months", "figures.more_months")
_PARTED_DIGITS: Final = re.compile(r"\d[-/.]\d")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_YEAR: Final = r"(?P<year>(?:1[5-9]|20)\d\d)"


class PartialDate(Struct, frozen=True):
    """A date, possibly incomplete."""

    year: int | None
    month: int
    day: int | None

    def agrees(self, other: "PartialDate") -> bool:
        """Whether both may mean the same day; missing parts match anything."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return all(mine is None or yours is None or mine == yours for mine, yours in pairs)

    def whole(self, near: date) -> date | None:
        """Return the full date; without a year the one nearest to `near`."""
        years = (self.year,) if self.year else (near.year, near.year - 1, near.year + 1)
        found = [made for year in years if (made := _valid_date(year, self.month, self.day or 1))]
        return min(found, key=lambda each: abs((each - near).days), default=None)


def day_of(moment: date) -> PartialDate:
    return PartialDate(moment.year, moment.month, moment.day)


def may_hold_date(text: str) -> bool:
    """Whether a text names a month, or has digits as dates have them."""
    return bool(_PARTED_DIGITS.search(text)) or _names_month(text)


def find_dates(text: str) -> Iterator[tuple[int, int, tuple[PartialDate, ...]]]:
    """Yield every date: its position, and its meanings (3/4 is two days)."""
    parted, named = _PARTED_DIGITS.search(text), _names_month(text)
    if not (parted or named):
        return  # as in most texts
    taken, text = bytearray(len(text)), lower(text)
    for shape in _date_shapes():
        if not (named if "name" in shape.groupindex else parted):
            continue
        for found in shape.finditer(text):
            dates = _dates_meant(found.groupdict())
            if dates and not any(taken[found.start() : found.end()]):
                taken[found.start() : found.end()] = b"x" * (found.end() - found.start())
                yield found.start(), found.end(), dates


def _names_month(text: str) -> bool:
    """Whether a word of a text is, or ends as, the name of a month."""
    names = _month_names()
    return any(each.endswith(names) for each in _LETTERS.findall(text.casefold()))


@cache
def _month_names() -> tuple[str, ...]:
    found = (name for each in _MONTH_LISTS for name in word_list(each))
    return tuple({spelled for name in found for spelled in (name.casefold(), fold(name))})


@cache
def _date_shapes() -> tuple[re.Pattern[str], ...]:
    month, glued = (rf"(?P<name>{any_of(*_MONTH_LISTS, glued=each)})\.?" for each in (False, True))
    of = any_of("small.of")
    order = ordinal_ends()
    year = rf"{_YEAR}(?!\d)"
    shapes = (
        rf"(?<!\d){_YEAR}[-/](?P<month>\d\d)[-/](?P<day>\d\d)(?!\d)",
        rf"(?<![\w.,])(?P<day>\d\d?)(?:{order}|\.)?(?:\s+{of})?\s*{glued}(?:,?\s*(?:{of}\s+)?{year})?",
        rf"{month}\s+(?P<day>\d\d?)(?:{order})?(?![\d:.]\d|\d|\s?%)(?:,?\s+{year})?",
        rf"{month},?\s+(?:{of}\s+)?{year}",
        rf"(?<![\w.,/])(?P<day>\d\d?)(?P<turns>[./])(?P<month>\d\d?)[./]{year}",
        r"(?<![\w.,/€$£])(?P<day>\d\d)(?P<turns>/)(?P<month>\d\d)(?![\d/\w])",
        r"(?<![\w.,/€$£])(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<short>\d\d)?(?![\d\w])",
    )
    return tuple(map(re.compile, shapes))


@cache
def ordinal_ends() -> str:
    """Return the ordinal suffixes after digits; a full stop may end the sentence instead."""
    signs = (*word_list("time.ordinal_ends"), *word_list("figures.more_ordinal_ends"))
    return "|".join(each for each in signs if each.isalpha())


@cache
def _months() -> Mapping[str, int]:
    """Return the names of the months, folded."""
    lists = (f"{each}:{month}" for month in range(1, 13) for each in _MONTH_LISTS)
    return {fold(name): int(each.split(":")[1]) for each in lists for name in word_list(each)}


def _dates_meant(parts: dict[str, str | None]) -> tuple[PartialDate, ...]:
    name, short = parts.get("name"), parts.get("short")
    year = int(parts.get("year") or 0) or (2000 + int(short) if short else None)
    number = parts.get("day")
    day = int(number) if number else None
    month = _months()[fold(name)] if name else int(parts.get("month") or 0)
    turns = day is not None and parts.get("turns") == "/"
    both = [(month, day), (day, month)] if turns and day else [(month, day)]
    return tuple(
        PartialDate(year, m, d)
        for m, d in dict.fromkeys(both)
        if 1 <= m <= _LAST_MONTH and (d is None or 1 <= d <= _LAST_DAY)
    )


def _valid_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def find_times(text: str) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Yield every time of day: its position, and its possible minutes of the day.

    Without am or pm, 6:30 is morning or evening.
    """
    for found in _time_shape().finditer(lower(text)):
        minute = int(found["h"]) % 24 * MINUTES_PER_HOUR + int(found["m"] or found["m2"] or 0)
        half = found["half"] or found["half2"] or found["half3"] or ""
        yield found.start(), found.end(), _minutes_meant(minute, half)


@cache
def _time_shape() -> re.Pattern[str]:
    hour = any_of("time.oclock", glued=True)
    return re.compile(
        r"(?<![\w:.,/])(?P<h>[01]?\d|2[0-4])(?:"
        r"[:h](?P<m>[0-5]\d)(?::[0-5]\d)?(?:\s?(?P<half>[ap])\.?m\b\.?)?(?!\d)"
        rf"|\.(?P<m2>[0-5]\d)\s?(?:{hour}|(?P<half2>[ap])\.?m\b\.?)"
        rf"|\s?(?:(?P<half3>[ap])\.?m\b\.?|{hour}))"
    )


def _minutes_meant(minute: int, half: str) -> tuple[int, ...]:
    if half:
        return (minute % _HALF_DAY + (_HALF_DAY if half == "p" else 0),)
    if minute < _HALF_DAY:
        return (minute, minute + _HALF_DAY)
    return (minute,)


def named_times(text: str) -> set[int]:
    """Return noon and midnight, if a text names them."""
    noon = pattern("time.named:12 0", "figures.noon")
    found = ((noon, _HALF_DAY), (pattern("time.named:24 0"), 0))
    return {minute for name, minute in found if name.search(text.lower())}


def find_lengths(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield every duration with minutes, in minutes."""
    for found in _length_shape().finditer(lower(text)):
        whole = int(found["h"] or 0) * MINUTES_PER_HOUR + int(found["m"] or 0)
        yield found.start(), found.end(), int(found["only"]) if found["only"] else whole


@cache
def clear_minutes() -> str:
    """Return the names of minutes after a number, without those that may mean metres."""
    names = (each for each in word_list("time.units:minute") if len(each) > 1)
    return any_word(names, glued=True)


@cache
def _length_shape() -> re.Pattern[str]:
    hours, minutes = (any_of(f"time.units:{each}", glued=True) for each in ("hour", "minute"))
    return re.compile(
        rf"(?<![\w.,:])(?P<h>\d{{1,3}})\s?{hours}\.?\s?(?:{any_of('small.and')}\s)?"
        rf"(?P<m>\d{{1,2}})\s?{minutes}\.?|(?<![\w.,:])(?P<only>\d{{1,4}})\s?{clear_minutes()}"
    )


def lengths_between(starts: Iterable[int], ends: Sequence[int]) -> set[int]:
    """Return how many minutes may lie between two times of day."""
    return {(end - start) % _DAY for start in starts for end in ends}
