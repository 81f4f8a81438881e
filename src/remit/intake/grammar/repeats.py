"""What comes back: "every weekday", "jeden ersten Montag im Monat", "cada dos semanas"."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from remit.intake.grammar.hours import read_clock, read_number
from remit.intake.grammar.sentences import Said
from remit.intake.lexicon.shape import Link, Part, Unit

_DAYS: Final = 31
_WEEK: Final = 7
_MOST: Final = 1000


@dataclass(frozen=True, slots=True)
class Every:
    """How often. `nth` is which weekday of the month (-1 the last); `monthdays` are its days."""

    unit: Unit
    interval: int = 1
    weekdays: tuple[int, ...] = ()
    nth: int = 0
    monthdays: tuple[int, ...] = ()
    month: int | None = None
    part: Part | None = None
    sure: bool = True  # "on the last day of the month" may mean this month alone


Found = tuple[Every, int]


def read_every(said: Said, at: int) -> Found | None:
    """Read how often something is to happen."""
    readers: tuple[Callable[[Said, int], Found | None], ...] = (
        _of_each_month,
        _after_every,
        _by_themselves,
        _from_to,
        _adverb,
    )
    for read in readers:
        if found := read(said, at):
            return found
    return None


def comes_back(said: Said) -> bool:
    """Whether anything in a sentence happens again and again."""
    starts = said.time.starts
    return any(key in starts and read_every(said, at) for at, key in enumerate(said.keys))


def joined_every(one: Every, other: Every) -> Every | None:
    """Join "every two weeks" with "on Fridays"; None when they are two habits."""
    if one.unit is not Unit.WEEK or other.unit is not Unit.WEEK:
        return None
    if one.weekdays or not other.weekdays or other.interval > 1:
        return None
    return replace(one, weekdays=other.weekdays)


def _of_each_month(said: Said, at: int) -> Found | None:
    """Read "the first Monday of each month", "am 1. jedes Monats", "el día 1 de cada mes"."""
    words = said.time
    start, often = at, False
    for lead in (words.every, words.the_day, words.on):
        if led := lead.at(said.keys, start):
            start, often = led[1], often or lead is words.every
    found = _nth(said, start) or _monthday(said, start)
    if found is None:
        return None
    if month := words.each_month.at(said.keys, found[1]):
        return found[0], month[1]
    month = words.the_month.at(said.keys, found[1])
    return (replace(found[0], sure=often), month[1]) if month else None


def _nth(said: Said, at: int) -> Found | None:
    ordinal = said.time.ordinals.at(said.keys, at)
    if ordinal is None:
        return None
    if day := said.time.weekdays.at(said.keys, ordinal[1]):
        return Every(Unit.MONTH, weekdays=(day[0],), nth=ordinal[0]), day[1]
    unit = said.time.units.at(said.keys, ordinal[1])
    if unit and unit[0] is Unit.DAY:
        return Every(Unit.MONTH, monthdays=(ordinal[0],)), unit[1]
    return Every(Unit.MONTH, monthdays=(ordinal[0],)), ordinal[1]


def _monthday(said: Said, at: int) -> Found | None:
    """Read "1st", "1st and 15th"."""
    days: list[int] = []
    end = at
    while len(days) < _DAYS and (day := said.number(end, 2)) and day <= _DAYS:
        end += 1
        if (ending := said.time.ordinal_ends.at(said.keys, end)) and said.tokens[end].tight:
            end = ending[1]
        days.append(day)
        following = _after_and(said, end)
        if following is None or said.number(following, 2) is None:
            break
        end = following
    return (Every(Unit.MONTH, monthdays=tuple(days)), end) if days else None


def _after_every(said: Said, at: int) -> Found | None:
    words = said.time
    led = words.every.at(said.keys, at)
    if led is None:
        return None
    interval, start = 1, led[1]
    if other := words.other.at(said.keys, start):
        interval, start = other
    elif number := read_number(said, start):
        interval, start = number
        if ending := words.ordinal_ends.at(said.keys, start):
            start = ending[1]
    if not 1 <= interval <= _MOST:
        return None
    if part := words.quarter_hours.at(said.keys, start):
        return Every(Unit.MINUTE, interval * part[0]), part[1]  # "every half hour"
    found = _weekdays(said, start) or _unit(said, start)
    return (replace(found[0], interval=interval), found[1]) if found else None


def _weekdays(said: Said, at: int) -> Found | None:
    """Read "Monday", "Monday and Thursday", "weekday"."""
    if group := said.time.weekend.at(said.keys, at):
        return Every(Unit.WEEK, weekdays=group[0]), group[1]
    days: list[int] = []
    end = at
    while len(days) < _WEEK and (day := _weekday(said, end)):
        days.append(day[0])
        end = day[1]
        following = _after_and(said, end)
        if following is None or _weekday(said, following) is None:
            break
        end = following
    return (Every(Unit.WEEK, weekdays=tuple(sorted(set(days)))), end) if days else None


def _weekday(said: Said, at: int) -> tuple[int, int] | None:
    if one := said.time.weekdays.at(said.keys, at):
        return one
    found = said.time.on_weekdays.at(said.keys, at)
    return (found[0][0], found[1]) if found and len(found[0]) == 1 else None


def _unit(said: Said, at: int) -> Found | None:
    if part := said.time.parts.at(said.keys, at):
        return Every(Unit.DAY, part=part[0]), part[1]
    if part := said.time.every_part.at(said.keys, at):
        return Every(Unit.DAY, part=part[0]), part[1]
    unit = said.time.units.at(said.keys, at)
    return (Every(unit[0]), unit[1]) if unit else None


def _by_themselves(said: Said, at: int) -> Found | None:
    """Read "on Mondays and Fridays", "montags", "werktags", "los lunes y miércoles"."""
    led = said.time.on.at(said.keys, at)
    for start in (at, led[1] if led else at):
        group = said.time.on_weekdays.at(said.keys, start)
        if group is None:
            continue
        following = _after_and(said, group[1])
        more = _weekdays(said, following) if following is not None else None
        if more is None or len(group[0]) > 1:
            return Every(Unit.WEEK, weekdays=group[0]), group[1]
        days = tuple(sorted({*group[0], *more[0].weekdays}))
        return Every(Unit.WEEK, weekdays=days), more[1]
    return None


def _from_to(said: Said, at: int) -> Found | None:
    """Read "Monday to Friday at 8"; without a time of day it is a stay, not a habit."""
    words = said.time
    led = words.from_.at(said.keys, at)
    first = words.weekdays.at(said.keys, led[1] if led else at)
    through = words.through.at(said.keys, first[1]) if first else None
    last = words.weekdays.at(said.keys, through[1]) if through else None
    if first is None or last is None or first[0] >= last[0]:
        return None
    comma = last[1] < len(said.keys) and said.keys[last[1]] == ","
    if read_clock(said, last[1] + comma, sure=False) is None:
        return None
    return Every(Unit.WEEK, weekdays=tuple(range(first[0], last[0] + 1))), last[1]


def _adverb(said: Said, at: int) -> Found | None:
    """Read "daily"; before a noun it is an adjective: "the daily news"."""
    found = said.time.adverbs.at(said.keys, at)
    if found is None:
        return None
    follows = said.keys[found[1]] if said.is_word(found[1]) else None
    if follows is not None and follows not in said.language.opens:
        return None
    return Every(found[0]), found[1]


def _after_and(said: Said, at: int) -> int | None:
    """Step over "and" or a comma between two of a kind."""
    link = said.language.links.at(said.keys, at)
    if link and link[0] is Link.AND:
        return link[1]
    return at + 1 if at < len(said.keys) and said.keys[at] == "," else None
