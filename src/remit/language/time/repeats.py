"""Parses repetition ("every weekday", "jeden ersten Montag im Monat") and makes its RRULE."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import asdict, replace

from remit.language.time import DayPart, TimeText, TimeUnit
from remit.language.time.clock_time import read_clock, read_number
from remit.language.time.day import CalendarDate, Day, NamedWeekday

_DAYS: Final = 31
_RRULE_DAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_WEEK: Final = 7
_MOST: Final = 1000


class RepeatFrequency(Struct, frozen=True):
    """How often. `nth` is which weekday of the month (-1: the last); `monthdays` are days of it."""

    unit: TimeUnit
    interval: int = 1
    weekdays: tuple[int, ...] = ()
    nth: int = 0
    monthdays: tuple[int, ...] = ()
    month: int | None = None
    part: DayPart | None = None
    sure: bool = True  # "on the last day of the month" may mean this month alone


Found = tuple[RepeatFrequency, int]


def read_every(line: TimeText, at: int) -> Found | None:
    """Read how often something is to happen; each place is read once."""
    if at not in line.often:
        readers: tuple[Callable[[TimeText, int], Found | None], ...] = (
            *(_of_each_month, _after_every, _by_themselves, _from_to, _adverb),
        )
        line.often[at] = next((found for read in readers if (found := read(line, at))), None)
    return cast("Found | None", line.often[at])


def comes_back(line: TimeText) -> bool:
    """Whether anything in a sentence repeats."""
    starts = line.words.often_starts
    places = [at for at, key in enumerate(line.keys) if key in starts]
    return any(read_every(line, at) for at in places)


def joined_every(one: RepeatFrequency, other: RepeatFrequency) -> RepeatFrequency | None:
    """Join "every two weeks" with "on Fridays"; None if they are two repetitions."""
    if one.unit is not TimeUnit.WEEK or other.unit is not TimeUnit.WEEK:
        return None
    if one.weekdays or not other.weekdays or other.interval > 1:
        return None
    return replace(one, weekdays=other.weekdays)


def _of_each_month(line: TimeText, at: int) -> Found | None:
    """Read "the first Monday of each month", "am 1. jedes Monats", "el día 1 de cada mes"."""
    words = line.words
    start, often = at, False
    for lead in (words.every, words.the_day, words.on):
        if led := lead.at(line.keys, start):
            start, often = led[1], often or lead is words.every
    found = _nth(line, start) or _monthday(line, start)
    if found is None:
        return None
    if month := words.each_month.at(line.keys, found[1]):
        return found[0], month[1]
    month = words.the_month.at(line.keys, found[1])
    return (replace(found[0], sure=often), month[1]) if month else None


def _nth(line: TimeText, at: int) -> Found | None:
    ordinal = line.words.ordinals.at(line.keys, at)
    if ordinal is None:
        return None
    if day := line.words.weekdays.at(line.keys, ordinal[1]):
        return RepeatFrequency(TimeUnit.MONTH, weekdays=(day[0],), nth=ordinal[0]), day[1]
    unit = line.words.units.at(line.keys, ordinal[1])
    if unit and unit[0] is TimeUnit.DAY:
        return RepeatFrequency(TimeUnit.MONTH, monthdays=(ordinal[0],)), unit[1]
    return RepeatFrequency(TimeUnit.MONTH, monthdays=(ordinal[0],)), ordinal[1]


def _monthday(line: TimeText, at: int) -> Found | None:
    """Read "1st", "1st and 15th"."""
    days: list[int] = []
    end = at
    while len(days) < _DAYS and (day := line.number(end, 2)) and day <= _DAYS:
        end += 1
        if (ending := line.words.ordinal_ends.at(line.keys, end)) and line.tokens[end].tight:
            end = ending[1]
        days.append(day)
        following = _after_and(line, end)
        if following is None or line.number(following, 2) is None:
            break
        end = following
    return (RepeatFrequency(TimeUnit.MONTH, monthdays=tuple(days)), end) if days else None


def _after_every(line: TimeText, at: int) -> Found | None:
    words = line.words
    led = words.every.at(line.keys, at)
    if led is None:
        return None
    interval, start = 1, led[1]
    if other := words.other.at(line.keys, start):
        interval, start = other
    elif number := read_number(line, start):
        interval, start = number
        if ending := words.ordinal_ends.at(line.keys, start):
            start = ending[1]
            if interval <= _DAYS and not (read_weekdays(line, start) or _unit(line, start)):
                return RepeatFrequency(TimeUnit.MONTH, monthdays=(interval,)), start  # "jeden 15."
    if not 1 <= interval <= _MOST:
        return None
    if part := words.quarter_hours.at(line.keys, start):
        return RepeatFrequency(TimeUnit.MINUTE, interval * part[0]), part[1]  # "every half hour"
    found = read_weekdays(line, start) or _unit(line, start)
    return (replace(found[0], interval=interval), found[1]) if found else None


def read_weekdays(line: TimeText, at: int) -> Found | None:
    """Read "Monday", "Monday and Thursday", "weekday"."""
    for groups in (line.words.weekend, line.words.on_weekdays):
        if (group := groups.at(line.keys, at)) and len(group[0]) > 1:
            return RepeatFrequency(TimeUnit.WEEK, weekdays=group[0]), group[1]
    days: list[int] = []
    end = at
    while len(days) < _WEEK and (day := _weekday(line, end)):
        days.append(day[0])
        end = day[1]
        following = _after_and(line, end)
        if following is None or _weekday(line, following) is None:
            break
        end = following
    return (
        (RepeatFrequency(TimeUnit.WEEK, weekdays=tuple(sorted(set(days)))), end) if days else None
    )


def _weekday(line: TimeText, at: int) -> tuple[int, int] | None:
    if one := line.words.weekdays.at(line.keys, at):
        return one
    found = line.words.on_weekdays.at(line.keys, at) or line.words.weekend.at(line.keys, at)
    return (found[0][0], found[1]) if found and len(found[0]) == 1 else None


def _unit(line: TimeText, at: int) -> Found | None:
    if part := line.words.parts.at(line.keys, at):
        return RepeatFrequency(TimeUnit.DAY, part=part[0]), part[1]
    if part := line.words.every_part.at(line.keys, at):
        return RepeatFrequency(TimeUnit.DAY, part=part[0]), part[1]
    unit = line.words.units.at(line.keys, at)
    return (RepeatFrequency(unit[0]), unit[1]) if unit else None


def _by_themselves(line: TimeText, at: int) -> Found | None:
    """Read "on Mondays and Fridays", "montags", "werktags", "los lunes y miércoles"."""
    led = line.words.on.at(line.keys, at)
    for start in (at, led[1] if led else at):
        group = line.words.on_weekdays.at(line.keys, start)
        if group is None:
            continue
        following = _after_and(line, group[1])
        more = read_weekdays(line, following) if following is not None else None
        if more is None or len(group[0]) > 1:
            return RepeatFrequency(TimeUnit.WEEK, weekdays=group[0]), group[1]
        days = tuple(sorted({*group[0], *more[0].weekdays}))
        return RepeatFrequency(TimeUnit.WEEK, weekdays=days), more[1]
    return None


def _from_to(line: TimeText, at: int) -> Found | None:
    """Read "Monday to Friday at 8"; without a time of day it is a stay, not a repetition."""
    words = line.words
    led = words.from_.at(line.keys, at)
    first = words.weekdays.at(line.keys, led[1] if led else at)
    through = words.through.at(line.keys, first[1]) if first else None
    last = words.weekdays.at(line.keys, through[1]) if through else None
    if first is None or last is None or first[0] >= last[0]:
        return None
    comma = last[1] < len(line.keys) and line.keys[last[1]] == ","
    if read_clock(line, last[1] + comma, sure=False) is None:
        return None
    return RepeatFrequency(TimeUnit.WEEK, weekdays=tuple(range(first[0], last[0] + 1))), last[1]


def _adverb(line: TimeText, at: int) -> Found | None:
    """Read "daily"; before a noun it is an adjective: "the daily news"."""
    found = line.words.adverbs.at(line.keys, at)
    if found is None:
        return None
    follows = line.keys[found[1]] if line.is_word(found[1]) else None
    if follows is not None and follows not in line.words.opens:
        return None
    return RepeatFrequency(found[0]), found[1]


def _after_and(line: TimeText, at: int) -> int | None:
    """Skip "and" or a comma between two of a kind."""
    if link := line.words.and_.at(line.keys, at):
        return link[1]
    return at + 1 if at < len(line.keys) and line.keys[at] == "," else None


_LOOK_AHEAD: Final = 9 * 366  # days: the 29th of February may be eight years away


class RepeatRule(RepeatFrequency, frozen=True):
    """A frequency with its end, as an RRULE says it."""

    until: date | None = None
    count: int | None = None

    def text(self, zone: tzinfo | None, wall: time | None = None) -> str:
        """Return the RRULE, with the time of day, so that it needs no other anchor."""
        name = {TimeUnit.DAY: "DAILY"}.get(self.unit, f"{self.unit}ly".upper())
        parts = [f"FREQ={name}"]
        if self.interval > 1:
            parts.append(f"INTERVAL={self.interval}")
        if self.month:
            parts.append(f"BYMONTH={self.month}")
        if self.monthdays:
            parts.append("BYMONTHDAY=" + ",".join(map(str, self.monthdays)))
        if self.weekdays:
            nth = str(self.nth) if self.nth else ""
            parts.append("BYDAY=" + ",".join(nth + _RRULE_DAYS[day] for day in self.weekdays))
        if wall:
            parts.append(f"BYHOUR={wall.hour};BYMINUTE={wall.minute}")
        if self.count:
            parts.append(f"COUNT={self.count}")
        if self.until:
            last = datetime.combine(self.until, time(23, 59, 59), tzinfo=zone).astimezone(UTC)
            parts.append(f"UNTIL={last:%Y%m%dT%H%M%SZ}")
        return ";".join(parts)

    def days(self, start: date) -> Iterator[date]:
        """Yield the days on which it may first fall, from a day on."""
        from remit.model import recurrence, recurrence_times  # noqa: PLC0415 - few messages repeat

        weekdays = tuple(recurrence.RruleWeekday(day, self.nth) for day in self.weekdays)
        months = (self.month,) if self.month else ()
        # Which days of a month: the weekday's number is always one of its month here.
        named = recurrence.RecurrenceRule(
            recurrence.Freq.MONTHLY, months=months, monthdays=self.monthdays, weekdays=weekdays
        )
        for ahead in range(_LOOK_AHEAD):
            day = start + timedelta(days=ahead)
            if self.until and day > self.until:
                return
            if recurrence_times.names_day(named, day):
                yield day


def rule_of(every: RepeatFrequency, day: Day | None, until: date | None) -> RepeatRule | str:
    """Join the frequency with the named day; return a question if something is missing."""
    made = RepeatRule(**asdict(every), until=until)
    if every.unit is TimeUnit.SECOND:
        return "How often is"
    if isinstance(day, NamedWeekday) and every.unit is TimeUnit.WEEK and not every.weekdays:
        made = replace(made, weekdays=(day.day,))
    elif isinstance(day, CalendarDate) and every.unit is TimeUnit.MONTH and not made.monthdays:
        made = replace(made, monthdays=(day.day,))
    elif isinstance(day, CalendarDate) and every.unit is TimeUnit.YEAR and day.month:
        made = replace(made, monthdays=(day.day,), month=day.month)
    elif day is not None:
        return "How often, and from when on, is"
    if made.unit in (TimeUnit.WEEK, TimeUnit.MONTH, TimeUnit.YEAR) and not (
        made.weekdays or made.monthdays
    ):
        return "On which day is"
    return made
