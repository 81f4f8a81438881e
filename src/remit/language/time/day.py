"""Parses days (tomorrow, 1.3., el 1 de marzo), spans of time, and the end of a repetition."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from remit.language.time import DayPart, TimeText, TimeUnit, WhichWeek
from remit.language.time.clock_time import read_clock, read_number

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
        found = (
            _iso(line, start)
            or _read_dotted_date(line, at, start)
            or _read_slashed_date(line, at, start)
        )
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
    return _check_date(CalendarDate(day, month, year), start + 5)


def _read_dotted_date(line: TimeText, at: int, start: int) -> Found | None:
    """Read 1.3. and 1.3.2026; without a last dot or a year only after "am"."""
    day, month = line.number(start, 2), line.number(start + 2, 2)
    if day is None or month is None or not line.is_tight(start + 1, "."):
        return None
    end = start + 3
    dot = line.is_tight(end, ".")
    year = _tight_year(line, end + 1) if dot else None
    if year:
        return _check_date(CalendarDate(day, month, year), end + 2)
    if not line.tokens[start + 2].tight or line.words.day_first is None:
        return None
    return _check_date(CalendarDate(day, month), end + dot) if dot or start > at else None


def _read_slashed_date(line: TimeText, at: int, start: int) -> Found | None:
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
    return _check_date(CalendarDate(day, month, year, swapped), end + 2 if year else end)


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
    return _check_date(CalendarDate(day, month[0], year[0] if year else None), end)


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
    return _check_date(CalendarDate(number[0], month[0], year[0] if year else None), end)


def _day_alone(line: TimeText, at: int) -> Found | None:
    """Read the 15th, am 15., el día 15."""
    led = line.words.the_day.at(line.keys, at)
    day = line.number(led[1], 2) if led else None
    if led is None or day is None:
        return None
    end = _after_ordinal(line, led[1] + 1)
    if end == led[1] + 1 and not line.words.bare_day:
        return None
    return _check_date(CalendarDate(day), end)


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


def _check_date(date: CalendarDate, end: int) -> Found | None:
    """Refuse the 41st and the 13th month; the 30th of February is found later."""
    if not 1 <= date.day <= _DAYS:
        return None
    if date.month is not None and not 1 <= date.month <= _MONTHS:
        return None
    if date.year is not None and not _FIRST_YEAR <= date.year <= _LAST_YEAR:
        return None
    return date, end


MOST_AMOUNT: Final = 100_000
_MOST_AMOUNTS: Final = 6


class RelativeTime(Struct, frozen=True):
    """An amount of time from now; whole days keep the time of day."""

    amounts: tuple[tuple[float, TimeUnit], ...]

    def count(self, units: Mapping[TimeUnit, int]) -> float:
        """Return how much of it is counted in some units, in the smallest of them."""
        return sum(many * units[unit] for many, unit in self.amounts if unit in units)


def read_amounts(line: TimeText, at: int) -> tuple[tuple[tuple[float, TimeUnit], ...], int]:
    """Read "two hours", "an hour and a half", "2 h 30 min", "anderthalb Stunden"."""
    amounts: list[tuple[float, TimeUnit]] = []
    end = at
    while len(amounts) < _MOST_AMOUNTS and (amount := _amount(line, end)):
        amounts.append(amount[0])
        end = amount[1]
        if half := line.words.and_half.at(line.keys, end):
            amounts.append((half[0], amount[0][1]))
            end = half[1]
        link = line.words.and_.at(line.keys, end)
        if link and _amount(line, link[1]):
            end = link[1]
    return tuple(amounts), end


def _amount(line: TimeText, at: int) -> tuple[tuple[float, TimeUnit], int] | None:
    many = _many(line, at)
    if many is None or many[0] > MOST_AMOUNT:
        return None
    if quarter := line.words.quarter_hours.at(line.keys, many[1]):
        return (many[0] * quarter[0], TimeUnit.MINUTE), quarter[1]
    unit = line.words.units.at(line.keys, many[1])
    if unit is None:
        return None
    if unit[0] is TimeUnit.HOUR and (minutes := _tight_minutes(line, unit[1])):
        return (many[0] * 60 + minutes, TimeUnit.MINUTE), unit[1] + 1
    return (many[0], unit[0]), unit[1]


def _many(line: TimeText, at: int) -> tuple[float, int] | None:
    if line.words.quarter_hours.at(line.keys, at):
        return 1, at
    digits = line.number(at)
    if digits is not None:
        tenths = line.number(at + 2, 2)
        pointed = line.is_tight(at + 1, ".") or line.is_tight(at + 1, ",")
        if tenths is not None and pointed and line.tokens[at + 2].tight:
            return float(f"{digits}.{line.tokens[at + 2].text}"), at + 3
    found: tuple[float, int] | None = line.words.spans.at(line.keys, at) or read_number(line, at)
    if found and (half := line.words.and_half.at(line.keys, found[1])):
        return found[0] + half[0], half[1]
    return found


def _tight_minutes(line: TimeText, at: int) -> int | None:
    """Read the 30 of 1h30."""
    minutes = line.number(at, 2)
    return minutes if minutes is not None and line.tokens[at].tight else None


def whole_days(ahead: RelativeTime) -> bool:
    return all(
        unit in (TimeUnit.DAY, TimeUnit.WEEK, TimeUnit.MONTH, TimeUnit.YEAR)
        for _, unit in ahead.amounts
    )


_LAST_DAY: Final = CalendarDate(31, 12)
_YEARS: Final = (1900, 2999)
_BARE: Final = 1  # a lone "for" may belong to what is asked for


class RepeatCount(Struct, frozen=True):
    """A number of times."""

    count: int


class UnclearEnd(Struct, frozen=True):
    """An end that was named but cannot be resolved."""


End: TypeAlias = Day | RelativeTime | RepeatCount | UnclearEnd
FoundEnd = tuple[End, int, bool]  # the end, where its words end, and whether it is sure


def read_end(line: TimeText, at: int) -> FoundEnd | None:
    """Read how long a repetition lasts."""
    if led := line.words.until.at(line.keys, at):
        return _last_day(line, led[1])
    return _lasting(line, at) or _times(line, at)


def names_end(line: TimeText, at: int) -> bool:
    """Whether any end is named here; "until 5pm" and "up to 20 euros" are none."""
    led = line.words.until.at(line.keys, at)
    if led is None or led[1] >= len(line.tokens):
        return False
    return read_number(line, led[1]) is None and read_clock(line, led[1]) is None


def _last_day(line: TimeText, at: int) -> FoundEnd | None:
    words = line.words
    if end := words.ends.at(line.keys, at):
        return (_LAST_DAY if end[0] else MonthEnd()), end[1], True
    led = words.month_end.at(line.keys, at)
    month = words.months.at(line.keys, led[1]) if led else None
    if month:
        year = line.number(month[1], 4)
        dated = year is not None and _YEARS[0] <= year <= _YEARS[1]
        return MonthEnd(month[0], year if dated else None), month[1] + dated, True
    if feast := words.feasts.at(line.keys, at):
        (number, month_of_year), after = feast
        return CalendarDate(number, month_of_year), after, True
    day = read_day(line, at)
    return (*day, True) if day else None


def _lasting(line: TimeText, at: int) -> FoundEnd | None:
    """Read "for the next two weeks", "zwei Wochen lang"; a mere "for two weeks" is unsure."""
    led = line.words.lasting.at(line.keys, at)
    amounts, end = read_amounts(line, led[1] if led else at)
    ahead = RelativeTime(amounts)
    if not amounts or not whole_days(ahead):
        return None
    if long := line.words.long.at(line.keys, end):
        return ahead, long[1], True
    return (ahead, end, led[1] - at > _BARE) if led else None


def _times(line: TimeText, at: int) -> FoundEnd | None:
    """Read "five times"; "five times a day" is a frequency."""
    number = read_number(line, at)
    many = line.words.times.at(line.keys, number[1]) if number else None
    if number is None or many is None or number[0] < 1:
        return None
    if many[1] < len(line.keys) and line.keys[many[1]] in line.words.per.words:
        return None
    return RepeatCount(number[0]), many[1], True
