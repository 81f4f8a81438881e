"""How much time: two hours, an hour and a half, anderthalb Stunden, 2 h 30 min."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from remit.intake.grammar.hours import read_number
from remit.intake.grammar.sentences import Said
from remit.intake.lexicon.shape import Link, Unit

MOST_AMOUNT: Final = 100_000
_MOST_AMOUNTS: Final = 6


@dataclass(frozen=True, slots=True)
class Ahead:
    """So much time from now; whole days keep the time of day."""

    amounts: tuple[tuple[float, Unit], ...]

    def count(self, units: Mapping[Unit, int]) -> float:
        """How much of it is counted in some units, in the smallest of them."""
        return sum(many * units[unit] for many, unit in self.amounts if unit in units)


def read_amounts(said: Said, at: int) -> tuple[tuple[tuple[float, Unit], ...], int]:
    """Read "two hours", "an hour and a half", "2 h 30 min", "anderthalb Stunden"."""
    amounts: list[tuple[float, Unit]] = []
    end = at
    while len(amounts) < _MOST_AMOUNTS and (amount := _amount(said, end)):
        amounts.append(amount[0])
        end = amount[1]
        if half := said.time.and_half.at(said.keys, end):
            amounts.append((half[0], amount[0][1]))
            end = half[1]
        link = said.language.links.at(said.keys, end)
        if link and link[0] is Link.AND and _amount(said, link[1]):
            end = link[1]
    return tuple(amounts), end


def _amount(said: Said, at: int) -> tuple[tuple[float, Unit], int] | None:
    many = _many(said, at)
    if many is None or many[0] > MOST_AMOUNT:
        return None
    if quarter := said.time.quarter_hours.at(said.keys, many[1]):
        return (many[0] * quarter[0], Unit.MINUTE), quarter[1]
    unit = said.time.units.at(said.keys, many[1])
    if unit is None:
        return None
    if unit[0] is Unit.HOUR and (minutes := _tight_minutes(said, unit[1])):
        return (many[0] * 60 + minutes, Unit.MINUTE), unit[1] + 1
    return (many[0], unit[0]), unit[1]


def _many(said: Said, at: int) -> tuple[float, int] | None:
    if said.time.quarter_hours.at(said.keys, at):
        return 1, at
    digits = said.number(at)
    if digits is not None:
        tenths = said.number(at + 2, 2)
        pointed = said.is_tight(at + 1, ".") or said.is_tight(at + 1, ",")
        if tenths is not None and pointed and said.tokens[at + 2].tight:
            return float(f"{digits}.{said.tokens[at + 2].text}"), at + 3
    found: tuple[float, int] | None = said.time.spans.at(said.keys, at) or read_number(said, at)
    if found and (half := said.time.and_half.at(said.keys, found[1])):
        return found[0] + half[0], half[1]
    return found


def _tight_minutes(said: Said, at: int) -> int | None:
    """Read the 30 of 1h30."""
    minutes = said.number(at, 2)
    return minutes if minutes is not None and said.tokens[at].tight else None


def whole_days(ahead: Ahead) -> bool:
    return all(unit in (Unit.DAY, Unit.WEEK, Unit.MONTH, Unit.YEAR) for _, unit in ahead.amounts)
