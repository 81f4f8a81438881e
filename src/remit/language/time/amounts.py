"""Parses amounts of time: two hours, an hour and a half, anderthalb Stunden, 2 h 30 min."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from remit.language.time.clock_time import read_number
from remit.language.time.text import TimeText
from remit.language.time.words import TimeUnit

MOST_AMOUNT: Final = 100_000
_MOST_AMOUNTS: Final = 6


class RelativeTime(Struct, frozen=True):
    """So much time from now; whole days keep the time of day."""

    amounts: tuple[tuple[float, TimeUnit], ...]

    def count(self, units: Mapping[TimeUnit, int]) -> float:
        """How much of it is counted in some units, in the smallest of them."""
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
