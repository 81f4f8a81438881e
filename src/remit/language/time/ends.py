"""Parses amounts of time ("two hours", "2 h 30 min") and how long a repetition lasts."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from remit.language.files import Phrases
from remit.language.time.clock_time import read_clock, read_number
from remit.language.time.day import CalendarDate, Day, MonthEnd, read_day
from remit.language.time.words import TimeText, TimeUnit

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
_FEASTS: Final = Phrases(
    {
        "christmas|xmas|christmas day|weihnachten|navidad|la navidad": CalendarDate(25, 12),
        "christmas eve|heiligabend|nochebuena": CalendarDate(24, 12),
        "new year's eve|silvester|nochevieja": CalendarDate(31, 12),
        "new year|new year's|neujahr|año nuevo": CalendarDate(1, 1),
    }
)  # those that fall on the same day every year; Easter must be asked
_PER: Final = frozenset({"a", "per", "each", "every", "am", "pro", "al", "por", "im", "in"})
_YEARS: Final = (1900, 2999)
_BARE: Final = 1  # a lone "for" may belong to what is asked for


class RepeatCount(Struct, frozen=True):
    """A number of times."""

    count: int


class UnclearEnd(Struct, frozen=True):
    """An end that was named but cannot be resolved."""


End: TypeAlias = Day | RelativeTime | RepeatCount | UnclearEnd
Found = tuple[End, int, bool]  # the end, where its words end, and whether it can mean nothing else


def read_end(line: TimeText, at: int) -> Found | None:
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


def _last_day(line: TimeText, at: int) -> Found | None:
    words = line.words
    if end := words.ends.at(line.keys, at):
        return (_LAST_DAY if end[0] else MonthEnd()), end[1], True
    led = words.month_end.at(line.keys, at)
    month = words.months.at(line.keys, led[1]) if led else None
    if month:
        year = line.number(month[1], 4)
        dated = year is not None and _YEARS[0] <= year <= _YEARS[1]
        return MonthEnd(month[0], year if dated else None), month[1] + dated, True
    if feast := _FEASTS.at(line.keys, at):
        return feast[0], feast[1], True
    day = read_day(line, at)
    return (*day, True) if day else None


def _lasting(line: TimeText, at: int) -> Found | None:
    """Read "for the next two weeks", "zwei Wochen lang"; a mere "for two weeks" is unsure."""
    led = line.words.lasting.at(line.keys, at)
    amounts, end = read_amounts(line, led[1] if led else at)
    ahead = RelativeTime(amounts)
    if not amounts or not whole_days(ahead):
        return None
    if long := line.words.long.at(line.keys, end):
        return ahead, long[1], True
    return (ahead, end, led[1] - at > _BARE) if led else None


def _times(line: TimeText, at: int) -> Found | None:
    """Read "five times"; "five times a day" is a frequency."""
    number = read_number(line, at)
    many = line.words.times.at(line.keys, number[1]) if number else None
    if number is None or many is None or number[0] < 1:
        return None
    if many[1] < len(line.keys) and line.keys[many[1]] in _PER:
        return None
    return RepeatCount(number[0]), many[1], True
