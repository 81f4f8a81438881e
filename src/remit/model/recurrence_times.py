"""Computes when a recurrence rule falls: wall times for days and longer, elapsed time for less.

A rule by the day, week, month or year names times on the wall; which instants they are is decided
by who knows the zone. A rule by the hour or minute counts what passes: over the night when the
clocks go back it runs in both of the hours that look the same, and when they go forward it does
not run twice at once.

Each day and each tick that is looked at is a step, reported to `spend`. Without a COUNT a rule is
entered where the window begins, so what started long ago costs no more than what starts today.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import chain, islice, product
from typing import Final, TypeAlias

from remit.model.recurrence import Freq, RecurrenceRule, with_defaults

Spend: TypeAlias = Callable[[int], None]  # called with the steps about to be taken; may raise
Reach: TypeAlias = tuple[datetime, datetime]  # from the first to the second, both included

COUNTED: Final[Mapping[Freq, timedelta]] = {
    Freq.MINUTELY: timedelta(minutes=1),
    Freq.HOURLY: timedelta(hours=1),
}
_DAY: Final = timedelta(days=1)
_WEEK: Final = 7
_MONTHS: Final = 12
_MONTH_DAYS: Final = {
    365: (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31),
    366: (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31),
}
_LAST_YEAR: Final = 9999
_LAST_TIME: Final = datetime(_LAST_YEAR, 1, 1, tzinfo=UTC)


def walls(rule: RecurrenceRule, first: datetime, reach: Reach, spend: Spend) -> Iterator[datetime]:
    """The wall times of a rule by days or longer, in order; the start is always one of them."""
    since, until = reach
    whole = with_defaults(rule, first)
    found = _generate_times(whole, first, since if rule.count is None else first, until, spend)
    later = (wall for wall in found if wall > first)
    yield from _within(rule, first, later, reach)


def ticks(
    rule: RecurrenceRule, first: datetime, zone: tzinfo, reach: Reach, spend: Spend
) -> Iterator[datetime]:
    """Yield the instants of a rule by minutes or hours, in order; the start is always one."""
    since, until = reach
    found = _generate_by_step(
        rule, first, zone, (since if rule.count is None else first, until), spend
    )
    later = (at for at in found if at > first)
    yield from _within(rule, first, later, reach)


def matches(
    rule: RecurrenceRule, first: datetime, since: datetime, spend: Spend, zone: tzinfo = UTC
) -> Iterator[datetime]:
    """Yield the times of a rule, in order and without end: walls, or instants if it is COUNTED.

    It begins with the period that `since` lies in, so the first ones may be earlier than that, and
    even than the start. COUNT and UNTIL are the caller's.
    """
    last = _LAST_TIME.replace(tzinfo=first.tzinfo)
    if rule.freq in COUNTED:
        return _generate_by_step(rule, first, zone, (since, last), spend)
    return _generate_times(with_defaults(rule, first), first, since, last, spend)


def _within(
    rule: RecurrenceRule, first: datetime, later: Iterator[datetime], reach: Reach
) -> Iterator[datetime]:
    since, until = reach
    # RFC 5545: the start counts as the first occurrence.
    for found in islice(chain([first], later), rule.count):
        if found > until:
            return
        if found >= since:
            yield found


# By the wall --------------------------------------------------------------------------------------


def _generate_times(
    rule: RecurrenceRule, first: datetime, since: datetime, until: datetime, spend: Spend
) -> Iterator[datetime]:
    times = [
        time(hour, minute, second)
        for hour, minute, second in product(rule.hours, rule.minutes, rule.seconds)
    ]
    periods = _PERIODS[rule.freq]
    last = until.date()
    for begins, days in periods(rule, first.date(), max(first, since).date(), spend):
        if begins > last:
            return
        spend(len(days) * (len(times) - 1))
        found = [datetime.combine(day, at) for day in days for at in times]
        yield from _select_positions(rule, found)


def _select_positions(rule: RecurrenceRule, found: list[datetime]) -> Iterable[datetime]:
    """Return the times of one period that BYSETPOS picks."""
    if not rule.places:
        return found
    size = len(found)
    chosen = {place - 1 if place > 0 else size + place for place in rule.places}
    return [found[index] for index in sorted(chosen) if 0 <= index < size]


_Period: TypeAlias = tuple[date, list[date]]


def _years(rule: RecurrenceRule, first: date, since: date, spend: Spend) -> Iterator[_Period]:
    months = rule.months or range(1, _MONTHS + 1)
    step = rule.interval
    start = first.year + (since.year - first.year) // step * step
    for year in range(start, _LAST_YEAR, step):
        days = [day for month in months for day in _month(rule, year, month, spend)]
        yield date(year, 1, 1), days


def _months(rule: RecurrenceRule, first: date, since: date, spend: Spend) -> Iterator[_Period]:
    step, begun = rule.interval, first.year * _MONTHS + first.month - 1
    passed = since.year * _MONTHS + since.month - 1 - begun
    for index in range(begun + passed // step * step, _LAST_YEAR * _MONTHS, step):
        year, month = index // _MONTHS, index % _MONTHS + 1
        wanted = not rule.months or month in rule.months
        spend(1)
        yield date(year, month, 1), _month(rule, year, month, spend) if wanted else []


def _weeks(rule: RecurrenceRule, first: date, since: date, spend: Spend) -> Iterator[_Period]:
    begins = first - timedelta(days=(first.weekday() - rule.week_starts) % _WEEK)
    step = timedelta(days=_WEEK * rule.interval)
    begins += (since - begins) // step * step
    weekdays = {(day.day - rule.week_starts) % _WEEK for day in rule.weekdays}
    offsets = sorted(weekdays or range(_WEEK))
    while begins.year < _LAST_YEAR:
        spend(len(offsets))
        days = [begins + timedelta(days=offset) for offset in offsets]
        yield begins, [day for day in days if names_day(rule, day)]
        begins = _add_days(begins, step)


def _days(rule: RecurrenceRule, first: date, since: date, spend: Spend) -> Iterator[_Period]:
    step = timedelta(days=rule.interval)
    day = first + (since - first) // step * step
    while day.year < _LAST_YEAR:
        spend(1)
        yield day, [day] if names_day(rule, day) else []
        day = _add_days(day, step)


def _add_days(day: date, step: timedelta) -> date:
    return day + step if date.max - day > step else date.max


_PERIODS: Final[Mapping[Freq, Callable[[RecurrenceRule, date, date, Spend], Iterator[_Period]]]] = {
    Freq.YEARLY: _years,
    Freq.MONTHLY: _months,
    Freq.WEEKLY: _weeks,
    Freq.DAILY: _days,
}


def _month(rule: RecurrenceRule, year: int, month: int, spend: Spend) -> list[date]:
    """The days of a month that the rule names."""
    length = _month_length(year, month)
    numbers: Iterable[int] = range(1, length + 1)
    if rule.monthdays:
        named = {day if day > 0 else length + 1 + day for day in rule.monthdays}
        numbers = sorted(day for day in named if 1 <= day <= length)
    spend(length if not rule.monthdays else len(rule.monthdays))
    days = [date(year, month, number) for number in numbers]
    if not (rule.weekdays or rule.yeardays or rule.weeks):
        return days
    return [day for day in days if names_day(rule, day)]


def names_day(rule: RecurrenceRule, day: date) -> bool:
    """Whether a day is one of those that every part of the rule names."""
    return (
        (not rule.months or day.month in rule.months)
        and (not rule.monthdays or _fits_month(rule, day))
        and (not rule.weekdays or _fits_weekday(rule, day))
        and (not rule.yeardays or _fits_year(rule, day))
        and (not rule.weeks or _fits_week(rule, day))
    )


def _fits_month(rule: RecurrenceRule, day: date) -> bool:
    length = _month_length(day.year, day.month)
    return day.day in rule.monthdays or day.day - length - 1 in rule.monthdays


def _fits_weekday(rule: RecurrenceRule, day: date) -> bool:
    for named in rule.weekdays:
        if named.day == day.weekday() and (not named.nth or _is_nth(rule, day, named.nth)):
            return True
    return False


def _is_nth(rule: RecurrenceRule, day: date, nth: int) -> bool:
    """Of its month; of its year only where a yearly rule names no month."""
    if rule.freq is Freq.YEARLY and not rule.months:
        at, length = day.timetuple().tm_yday, _year_length(day.year)
    else:
        at, length = day.day, _month_length(day.year, day.month)
    return nth == (at - 1) // _WEEK + 1 or nth == -((length - at) // _WEEK + 1)


def _fits_year(rule: RecurrenceRule, day: date) -> bool:
    at = day.timetuple().tm_yday
    return at in rule.yeardays or at - _year_length(day.year) - 1 in rule.yeardays


def _fits_week(rule: RecurrenceRule, day: date) -> bool:
    """Week 1 is the first with at least four days of the year, whatever day weeks begin on."""
    thursday = day + timedelta(days=3 - (day.weekday() - rule.week_starts) % _WEEK)
    at = (thursday.timetuple().tm_yday - 1) // _WEEK + 1
    # The fourth day of the last week is the last such day of the year.
    last = at + (_year_length(thursday.year) - thursday.timetuple().tm_yday) // _WEEK
    return at in rule.weeks or at - last - 1 in rule.weeks


def _month_length(year: int, month: int) -> int:
    return _MONTH_DAYS[_year_length(year)][month - 1]


def _year_length(year: int) -> int:
    return date(year, 12, 31).timetuple().tm_yday


# By ticking ---------------------------------------------------------------------------------------


def _generate_by_step(
    rule: RecurrenceRule, first: datetime, zone: tzinfo, reach: Reach, spend: Spend
) -> Iterator[datetime]:
    step = COUNTED[rule.freq] * rule.interval
    since, until = reach
    # One earlier: the minutes of an hour may reach into the window.
    index = max(0, (since - first) // step - 1)
    while True:
        try:
            at = first + index * step
        except OverflowError:
            return
        if at - COUNTED[Freq.HOURLY] > until:
            return
        spend(1)
        wall = at.astimezone(zone)
        if not names_day(rule, wall.date()):
            index = max(index + 1, -((first - _midnight(wall, zone)) // step))
            continue
        yield from _select_positions(rule, _of_tick(rule, at, wall))
        index += 1


def _midnight(wall: datetime, zone: tzinfo) -> datetime:
    """Return the instant at which the next day begins."""
    return datetime.combine(wall.date() + _DAY, time(), zone).astimezone(UTC)


def _of_tick(rule: RecurrenceRule, at: datetime, wall: datetime) -> list[datetime]:
    if rule.hours and wall.hour not in rule.hours:
        return []
    if rule.seconds:
        at += timedelta(seconds=rule.seconds[0] - wall.second)
    if not rule.minutes:
        return [at]
    if rule.freq is Freq.MINUTELY:
        return [at] if wall.minute in rule.minutes else []
    return [at + timedelta(minutes=minute - wall.minute) for minute in rule.minutes]
