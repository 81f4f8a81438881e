"""Days as people say them: tomorrow, next Friday, 1.3., March 1st, el 1 de marzo, 2026-03-01."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from remit.intake.grammar.hours import read_number
from remit.intake.grammar.sentences import Said
from remit.intake.lexicon.shape import Part, Which

_FIRST_YEAR: Final = 1900
_LAST_YEAR: Final = 2999
_MONTHS: Final = 12
_DAYS: Final = 31


@dataclass(frozen=True, slots=True)
class Offset:
    """So many days from today."""

    days: int
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class Weekday:
    day: int
    which: Which = Which.COMING


@dataclass(frozen=True, slots=True)
class Date:
    """A day of a month; `swapped` is its other reading, when 3/4 may be the fourth of March."""

    day: int
    month: int | None = None
    year: int | None = None
    swapped: bool = False


Day: TypeAlias = Offset | Weekday | Date
Found = tuple[Day, int]


def read_day(said: Said, at: int) -> Found | None:
    """Read a day at a place, with the preposition before it."""
    words = said.time
    if named := words.days.at(said.keys, at):
        (offset, part), end = named
        return Offset(offset, part), end
    readers: tuple[Callable[[Said, int], Found | None], ...] = (
        _weekday,
        _iso,
        _dotted,
        _slashed,
        _month_first,
        _day_first,
        _day_alone,
    )
    for read in readers:
        if found := read(said, at):
            return found
    return None


def _after_on(said: Said, at: int) -> int:
    led = said.time.on.at(said.keys, at)
    return led[1] if led else at


def _weekday(said: Said, at: int) -> Found | None:
    words = said.time
    if week := words.next_week.at(said.keys, at):
        day = words.weekdays.at(said.keys, _after_on(said, week[1]))
        return (Weekday(day[0], Which.NEXT_WEEK), day[1]) if day else None
    which = words.which.at(said.keys, at)
    start = which[1] if which else _after_on(said, at)
    day = words.weekdays.at(said.keys, start)
    if day is None:
        return None
    meant = which[0] if which else Which.COMING
    if week := words.next_week.at(said.keys, day[1]):
        return Weekday(day[0], Which.NEXT_WEEK), week[1]
    if after := words.which_after.at(said.keys, day[1]):
        return Weekday(day[0], after[0]), after[1]
    return Weekday(day[0], meant), day[1]


def _iso(said: Said, at: int) -> Found | None:
    start = _after_on(said, at)
    year, month, day = said.number(start, 4), said.number(start + 2, 2), said.number(start + 4, 2)
    if year is None or month is None or day is None:
        return None
    if not (said.is_tight(start + 1, "-") and said.is_tight(start + 3, "-")):
        return None
    return _checked(Date(day, month, year), start + 5)


def _dotted(said: Said, at: int) -> Found | None:
    """Read 1.3. and 1.3.2026; without a last dot or a year only after "am"."""
    start = _after_on(said, at)
    day, month = said.number(start, 2), said.number(start + 2, 2)
    if day is None or month is None or not said.is_tight(start + 1, "."):
        return None
    end = start + 3
    dot = said.is_tight(end, ".")
    year = _tight_year(said, end + 1) if dot else None
    if year:
        return _checked(Date(day, month, year), end + 2)
    if not said.tokens[start + 2].tight or said.time.day_first is None:
        return None
    return _checked(Date(day, month), end + dot) if dot or start > at else None


def _slashed(said: Said, at: int) -> Found | None:
    """Read 25/3 and 1/3/2026, after "on" or with a year: else it may be a fraction."""
    start = _after_on(said, at)
    one, two = said.number(start, 2), said.number(start + 2, 2)
    if one is None or two is None or not said.is_tight(start + 1, "/"):
        return None
    end = start + 3
    year = _tight_year(said, end + 1) if said.is_tight(end, "/") else None
    if year is None and start == at:
        return None
    day_first = said.time.day_first
    swapped = day_first is None and one <= _MONTHS and two <= _MONTHS and one != two
    day, month = (one, two) if day_first or one > _MONTHS else (two, one)
    return _checked(Date(day, month, year, swapped), end + 2 if year else end)


def _month_first(said: Said, at: int) -> Found | None:
    """Read March 1, March 1st 2026."""
    month = said.time.months.at(said.keys, _after_on(said, at))
    if month is None:
        return None
    day = said.number(month[1], 2)
    if day is None or said.is_tight(month[1] + 1, ":"):
        return None
    end = _after_ordinal(said, month[1] + 1)
    comma = end < len(said.keys) and said.keys[end] == ","
    year = _year(said, end + 1 if comma else end)
    if year:
        end = year[1]
    return _checked(Date(day, month[0], year[0] if year else None), end)


def _day_first(said: Said, at: int) -> Found | None:
    """Read 1 March, 1st of March, 1. März, 1 de marzo de 2026."""
    words = said.time
    led = words.the_day.at(said.keys, at)
    start = led[1] if led else _after_on(said, at)
    number = words.ordinals.at(said.keys, start) or read_number(said, start)
    if number is None:
        return None
    end = _after_ordinal(said, number[1])
    of = words.of.at(said.keys, end)
    month = words.months.at(said.keys, of[1] if of else end)
    if month is None:
        return None
    end = month[1]
    of = words.of.at(said.keys, end)
    year = _year(said, of[1] if of else end)
    if year:
        end = year[1]
    return _checked(Date(number[0], month[0], year[0] if year else None), end)


def _day_alone(said: Said, at: int) -> Found | None:
    """Read the 15th, am 15., el día 15."""
    led = said.time.the_day.at(said.keys, at)
    day = said.number(led[1], 2) if led else None
    if led is None or day is None:
        return None
    end = _after_ordinal(said, led[1] + 1)
    if end == led[1] + 1 and not said.time.bare_day:
        return None
    return _checked(Date(day), end)


def _after_ordinal(said: Said, at: int) -> int:
    end = said.time.ordinal_ends.at(said.keys, at)
    return end[1] if end and said.tokens[at].tight else at


def _year(said: Said, at: int) -> tuple[int, int] | None:
    year = said.number(at, 4)
    if year is None or not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    return year, at + 1


def _tight_year(said: Said, at: int) -> int | None:
    year = said.number(at, 4)
    if year is None or not said.tokens[at].tight:
        return None
    if year < 100:  # noqa: PLR2004 - 1.3.26
        year += 2000
    return year if _FIRST_YEAR <= year <= _LAST_YEAR else None


def _checked(date: Date, end: int) -> Found | None:
    """Refuse the 41st and the 13th month; that there is no 30th of February is found out later."""
    if not 1 <= date.day <= _DAYS:
        return None
    if date.month is not None and not 1 <= date.month <= _MONTHS:
        return None
    if date.year is not None and not _FIRST_YEAR <= date.year <= _LAST_YEAR:
        return None
    return date, end
