"""RRULE of iCalendar, and the instants it falls on.

Supported is what the owner's sentences can say: FREQ from minutes to years, INTERVAL, BYMONTH,
BYMONTHDAY, BYDAY, BYHOUR, BYMINUTE, COUNT and UNTIL. Anything else is refused by name. Minutes and
hours count elapsed time; days, weeks, months and years keep the wall time. A wall time that does
not exist is moved forward by the length of the gap (02:30 runs at 03:30); one that comes twice runs
the first time.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from itertools import chain, dropwhile, islice, takewhile
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from remit.errors import BadInput
from remit.model.series import Repeats

MOST_COUNT: Final = 100_000
_MOST_INTERVAL: Final = 1_000_000
_LOOK_AHEAD: Final = 40 * 366  # days without a slot after which the search ends
_DAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_BYDAY: Final = re.compile(r"([+-]?[1-5])?(" + "|".join(_DAYS) + ")")
_UNTIL: Final = "%Y%m%dT%H%M%SZ"
_DAY: Final = timedelta(days=1)


class Freq(StrEnum):
    MINUTELY = "MINUTELY"
    HOURLY = "HOURLY"
    DAILY = "DAILY"
    WEEKLY = "WEEKLY"
    MONTHLY = "MONTHLY"
    YEARLY = "YEARLY"


class ClockChange(StrEnum):
    """A clock change at a slot."""

    GAP = "gap"  # its wall time does not exist; it runs later by the length of the gap
    FOLD = "fold"  # its wall time comes twice; it runs the first time


_STEPS: Final = {Freq.MINUTELY: timedelta(minutes=1), Freq.HOURLY: timedelta(hours=1)}


class RruleWeekday(Struct, frozen=True):
    day: int  # Monday is 0
    nth: int = 0  # which one of its month, from the end if negative; 0: each


class Rrule(Struct, frozen=True):
    freq: Freq
    interval: int = 1
    months: tuple[int, ...] = ()
    monthdays: tuple[int, ...] = ()
    weekdays: tuple[RruleWeekday, ...] = ()
    hours: tuple[int, ...] = ()
    minutes: tuple[int, ...] = ()
    count: int | None = None
    until: datetime | None = None


def slots(repeats: Repeats, after: datetime) -> Iterator[datetime]:
    """Yield the instants after a moment, in UTC and in order; `first` is always a slot."""
    rule, zone = read(repeats.rule), zone_of(repeats.zone)
    first, until = repeats.first, rule.until
    later = _counted if rule.freq in _STEPS else _by_the_wall
    if rule.count is None:
        start = [first] if first > after else []
        found: Iterator[datetime] = chain(start, later(rule, zone, first, max(after, first)))
    else:
        # A rule with COUNT must be counted from its beginning.
        whole = islice(chain([first], later(rule, zone, first, first)), rule.count)
        found = dropwhile(lambda slot: slot <= after, whole)
    return found if until is None else takewhile(lambda slot: slot <= until, found)


def flags(repeats: Repeats, slot: datetime) -> frozenset[ClockChange]:
    """Return whether the wall time of a slot was moved, or comes twice."""
    rule, zone = read(repeats.rule), zone_of(repeats.zone)
    local = slot.astimezone(zone)
    first, second = (local.replace(fold=fold).utcoffset() for fold in (0, 1))
    found = {ClockChange.FOLD} if first != second else set[ClockChange]()
    if rule.freq not in _STEPS and slot != repeats.first:
        anchor = repeats.first.astimezone(zone)
        hours, minutes = rule.hours or (anchor.hour,), rule.minutes or (anchor.minute,)
        if local.hour not in hours or local.minute not in minutes:
            found.add(ClockChange.GAP)
    return frozenset(found)


def zone_of(name: str) -> ZoneInfo:
    """A zone by its name; an unknown one is refused."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        sentence = f"There is no time zone {name!r:.60}; one looks like Europe/Berlin."
        raise BadInput(sentence, field="zone") from None


# Reading ------------------------------------------------------------------------------------------


def read(text: str) -> Rrule:
    """Parse a rule; a part that is not supported is refused."""
    parts: dict[str, str] = {}
    for part in text.removeprefix("RRULE:").split(";"):
        name, _, value = part.partition("=")
        if name not in _READERS or name in parts or not value:
            raise _bad(text, f"{part!r:.60} is not understood")
        parts[name] = value
    if "FREQ" not in parts:
        raise _bad(text, "FREQ is missing")
    read_parts: dict[str, object] = {}
    for name, value in parts.items():
        field, reader = _READERS[name]
        try:
            read_parts[field] = reader(value)
        except ValueError:
            raise _bad(text, f"{name}={value:.60} is not understood") from None
    return _sound(text, Rrule(**read_parts))  # type: ignore[arg-type]


def _sound(text: str, rule: Rrule) -> Rrule:
    """Refuse a rule that would mean something else in other programs."""
    if rule.freq in _STEPS and (rule.hours or rule.minutes):
        raise _bad(text, "BYHOUR and BYMINUTE need FREQ=DAILY or a longer one")
    of_month = rule.freq is Freq.MONTHLY or (rule.freq is Freq.YEARLY and rule.months)
    if not of_month and any(weekday.nth for weekday in rule.weekdays):
        raise _bad(text, "BYDAY with a number needs a month")
    if rule.count is not None and rule.until is not None:
        raise _bad(text, "COUNT and UNTIL exclude each other")
    return rule


def _bad(text: str, why: str) -> BadInput:
    example = "FREQ=WEEKLY;BYDAY=MO;BYHOUR=8;BYMINUTE=30"
    return BadInput(
        f"The rule {text!r:.120} cannot be kept: {why}. One is {example}.", field="rule"
    )


def _positive(most: int) -> Callable[[str], int]:
    def reader(value: str) -> int:
        if not value.isdecimal() or not 1 <= int(value) <= most:
            raise ValueError(value)
        return int(value)

    return reader


def _many(least: int, most: int, *, backwards: bool = False) -> Callable[[str], tuple[int, ...]]:
    def reader(value: str) -> tuple[int, ...]:
        numbers = tuple(int(each) for each in value.split(","))
        for number in numbers:
            known = abs(number) if backwards else number
            if not least <= known <= most:
                raise ValueError(value)
        return numbers

    return reader


def _weekdays(value: str) -> tuple[RruleWeekday, ...]:
    found = [_BYDAY.fullmatch(each) for each in value.split(",")]
    if not all(found):
        raise ValueError(value)
    return tuple(RruleWeekday(_DAYS.index(each[2]), int(each[1] or 0)) for each in found if each)


def _until(value: str) -> datetime:
    return datetime.strptime(value, _UNTIL).replace(tzinfo=UTC)


_READERS: Final[Mapping[str, tuple[str, Callable[[str], object]]]] = {
    "FREQ": ("freq", Freq),
    "INTERVAL": ("interval", _positive(_MOST_INTERVAL)),
    "BYMONTH": ("months", _many(1, 12)),
    "BYMONTHDAY": ("monthdays", _many(1, 31, backwards=True)),
    "BYDAY": ("weekdays", _weekdays),
    "BYHOUR": ("hours", _many(0, 23)),
    "BYMINUTE": ("minutes", _many(0, 59)),
    "COUNT": ("count", _positive(MOST_COUNT)),
    "UNTIL": ("until", _until),
}


# Minutes and hours --------------------------------------------------------------------------------


def _counted(rule: Rrule, zone: ZoneInfo, first: datetime, after: datetime) -> Iterator[datetime]:
    """Yield instants at a fixed distance, on the allowed days."""
    step = _STEPS[rule.freq] * rule.interval
    n, barren = (after - first) // step + 1, 0
    while barren < _LOOK_AHEAD:
        try:
            slot = first + n * step
            day = slot.astimezone(zone).date()
        except OverflowError:
            return
        if day.year == date.max.year:
            return
        if _is_allowed(rule, day):
            barren, n = 0, n + 1
            yield slot
        else:
            # Skip to the next day, however short the steps are.
            midnight = _instant(day + _DAY, time(0), zone)
            barren, n = barren + 1, max(n + 1, -((first - midnight) // step))


# Days, weeks, months and years --------------------------------------------------------------------


def _by_the_wall(
    rule: Rrule, zone: ZoneInfo, first: datetime, after: datetime
) -> Iterator[datetime]:
    anchor = first.astimezone(zone)
    walls = [
        time(hour, minute, anchor.second)
        for hour in rule.hours or (anchor.hour,)
        for minute in rule.minutes or (anchor.minute,)
    ]
    day, barren = after.astimezone(zone).date() - _DAY, 0
    while barren < _LOOK_AHEAD and day.year < date.max.year:
        if _falls_on(rule, anchor.date(), day):
            found = sorted({_instant(day, wall, zone) for wall in walls})
            yield from (slot for slot in found if slot > after)
            barren = 0
        day, barren = day + _DAY, barren + 1


def _falls_on(rule: Rrule, anchor: date, day: date) -> bool:
    if _periods(rule.freq, anchor, day) % rule.interval or not _is_allowed(rule, day):
        return False
    if rule.monthdays or rule.weekdays or rule.freq is Freq.DAILY:
        return True
    # The rule names no day, so it is the day of the first time.
    if rule.freq is Freq.WEEKLY:
        return day.weekday() == anchor.weekday()
    month = rule.freq is Freq.MONTHLY or bool(rule.months) or day.month == anchor.month
    return month and day.day == anchor.day


def _periods(freq: Freq, anchor: date, day: date) -> int:
    """Return how many days, weeks, months or years lie between; weeks begin on Monday."""
    if freq is Freq.DAILY:
        return (day - anchor).days
    if freq is Freq.WEEKLY:
        return (day.toordinal() - 1) // 7 - (anchor.toordinal() - 1) // 7
    years = day.year - anchor.year
    return years if freq is Freq.YEARLY else years * 12 + day.month - anchor.month


def _is_allowed(rule: Rrule, day: date) -> bool:
    return (
        (not rule.months or day.month in rule.months)
        and (not rule.monthdays or any(_is_monthday(day, each) for each in rule.monthdays))
        and (not rule.weekdays or any(_is_weekday(day, each) for each in rule.weekdays))
    )


def _is_monthday(day: date, wanted: int) -> bool:
    if wanted > 0:
        return day.day == wanted
    return (day + timedelta(days=-wanted)).day == 1


def _is_weekday(day: date, wanted: RruleWeekday) -> bool:
    nth = wanted.nth
    if day.weekday() != wanted.day:
        return False
    if nth < 0:
        ahead = day + timedelta(days=7 * -nth)
        before = ahead - timedelta(days=7)
        return ahead.month != day.month == before.month
    return not nth or (day.day - 1) // 7 == nth - 1


def _instant(day: date, wall: time, zone: ZoneInfo) -> datetime:
    """Return the moment of a wall time; the module says how gaps and folds are handled."""
    return datetime.combine(day, wall, tzinfo=zone).astimezone(UTC)
