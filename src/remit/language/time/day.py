"""Parses days: tomorrow, next Friday, 1.3., March 1st, el 1 de marzo, 2026-03-01."""

from typing import Final, TypeAlias

from msgspec import Struct

from remit.language.time.clock_time import read_number
from remit.language.time.words import DayPart, TimeText, WhichWeek

_FIRST_YEAR: Final = 1900
_LAST_YEAR: Final = 2999
_MONTHS: Final = 12
_DAYS: Final = 31


class DayOffset(Struct, frozen=True):
    """A number of days from today."""

    days: int
    part: DayPart | None = None


class NamedWeekday(Struct, frozen=True):
    day: int
    which: WhichWeek = WhichWeek.COMING


class CalendarDate(Struct, frozen=True):
    """A day of a month; `swapped` is its other reading: 3/4 may be the fourth of March."""

    day: int
    month: int | None = None
    year: int | None = None
    swapped: bool = False


class MonthEnd(Struct, frozen=True):
    """The last day of a month; of this month, if none is named."""

    month: int | None = None
    year: int | None = None


Day: TypeAlias = DayOffset | NamedWeekday | CalendarDate | MonthEnd
Found = tuple[Day, int]


def read_day(line: TimeText, at: int) -> Found | None:
    """Read a day at a place, with its preposition."""
    words = line.words
    if named := words.days.at(line.keys, at):
        (offset, part), end = named
        return DayOffset(offset, part), end
    if ends := words.month_ends.at(line.keys, at):
        return MonthEnd(), ends[1]
    led = words.on.at(line.keys, at)
    start = led[1] if led else at
    found = _weekday(line, at, start)
    if found is None and line.number(start, 4) is not None:
        found = _iso(line, start) or _dotted(line, at, start) or _slashed(line, at, start)
    return found or _month_first(line, start) or _day_first(line, at, start) or _day_alone(line, at)


def _weekday(line: TimeText, at: int, start: int) -> Found | None:
    words = line.words
    if week := words.next_week.at(line.keys, at):
        led = words.on.at(line.keys, week[1])
        day = words.weekdays.at(line.keys, led[1] if led else week[1])
        return (NamedWeekday(day[0], WhichWeek.NEXT_WEEK), day[1]) if day else None
    which = words.which.at(line.keys, at)
    day = words.weekdays.at(line.keys, which[1] if which else start)
    if day is None:
        return None
    which_week = which[0] if which else WhichWeek.COMING
    if week := words.next_week.at(line.keys, day[1]):
        return NamedWeekday(day[0], WhichWeek.NEXT_WEEK), week[1]
    if after := words.which_after.at(line.keys, day[1]):
        return NamedWeekday(day[0], after[0]), after[1]
    return NamedWeekday(day[0], which_week), day[1]


def _iso(line: TimeText, start: int) -> Found | None:
    year, month, day = line.number(start, 4), line.number(start + 2, 2), line.number(start + 4, 2)
    if year is None or month is None or day is None:
        return None
    if not (line.is_tight(start + 1, "-") and line.is_tight(start + 3, "-")):
        return None
    return _checked(CalendarDate(day, month, year), start + 5)


def _dotted(line: TimeText, at: int, start: int) -> Found | None:
    """Read 1.3. and 1.3.2026; without a last dot or a year only after "am"."""
    day, month = line.number(start, 2), line.number(start + 2, 2)
    if day is None or month is None or not line.is_tight(start + 1, "."):
        return None
    end = start + 3
    dot = line.is_tight(end, ".")
    year = _tight_year(line, end + 1) if dot else None
    if year:
        return _checked(CalendarDate(day, month, year), end + 2)
    if not line.tokens[start + 2].tight or line.words.day_first is None:
        return None
    return _checked(CalendarDate(day, month), end + dot) if dot or start > at else None


def _slashed(line: TimeText, at: int, start: int) -> Found | None:
    """Read 25/3 and 1/3/2026, after "on" or with a year; else it may be a fraction."""
    one, two = line.number(start, 2), line.number(start + 2, 2)
    if one is None or two is None or not line.is_tight(start + 1, "/"):
        return None
    end = start + 3
    year = _tight_year(line, end + 1) if line.is_tight(end, "/") else None
    if year is None and start == at:
        return None
    day_first = line.words.day_first
    swapped = day_first is None and one <= _MONTHS and two <= _MONTHS and one != two
    day, month = (one, two) if day_first or one > _MONTHS else (two, one)
    return _checked(CalendarDate(day, month, year, swapped), end + 2 if year else end)


def _month_first(line: TimeText, start: int) -> Found | None:
    """Read March 1, March 1st 2026."""
    month = line.words.months.at(line.keys, start)
    if month is None:
        return None
    day = line.number(month[1], 2)
    if day is None or line.is_tight(month[1] + 1, ":"):
        return None
    end = _after_ordinal(line, month[1] + 1)
    comma = end < len(line.keys) and line.keys[end] == ","
    year = _year(line, end + 1 if comma else end)
    if year:
        end = year[1]
    return _checked(CalendarDate(day, month[0], year[0] if year else None), end)


def _day_first(line: TimeText, at: int, start: int) -> Found | None:
    """Read 1 March, 1st of March, 1. März, 1 de marzo de 2026."""
    words = line.words
    led = words.the_day.at(line.keys, at)
    start = led[1] if led else start
    number = words.ordinals.at(line.keys, start) or read_number(line, start)
    if number is None:
        return None
    end = _after_ordinal(line, number[1])
    of = words.of.at(line.keys, end)
    month = words.months.at(line.keys, of[1] if of else end)
    if month is None:
        return None
    end = month[1]
    of = words.of.at(line.keys, end)
    year = _year(line, of[1] if of else end)
    if year:
        end = year[1]
    return _checked(CalendarDate(number[0], month[0], year[0] if year else None), end)


def _day_alone(line: TimeText, at: int) -> Found | None:
    """Read the 15th, am 15., el día 15."""
    led = line.words.the_day.at(line.keys, at)
    day = line.number(led[1], 2) if led else None
    if led is None or day is None:
        return None
    end = _after_ordinal(line, led[1] + 1)
    if end == led[1] + 1 and not line.words.bare_day:
        return None
    return _checked(CalendarDate(day), end)


def _after_ordinal(line: TimeText, at: int) -> int:
    end = line.words.ordinal_ends.at(line.keys, at)
    return end[1] if end and line.tokens[at].tight else at


def _year(line: TimeText, at: int) -> tuple[int, int] | None:
    year = line.number(at, 4)
    if year is None or not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    return year, at + 1


def _tight_year(line: TimeText, at: int) -> int | None:
    year = line.number(at, 4)
    if year is None or not line.tokens[at].tight:
        return None
    if year < 100:  # noqa: PLR2004 - 1.3.26
        year += 2000
    return year if _FIRST_YEAR <= year <= _LAST_YEAR else None


def _checked(date: CalendarDate, end: int) -> Found | None:
    """Refuse the 41st and the 13th month; the 30th of February is found later."""
    if not 1 <= date.day <= _DAYS:
        return None
    if date.month is not None and not 1 <= date.month <= _MONTHS:
        return None
    if date.year is not None and not _FIRST_YEAR <= date.year <= _LAST_YEAR:
        return None
    return date, end
