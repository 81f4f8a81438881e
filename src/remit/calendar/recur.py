"""Computes when a recurrence rule falls: wall times for days and longer, elapsed time for less.

Rules by day, week, month or year give wall times; the caller converts them with the zone. Rules by
hour or minute count elapsed time, so both of the repeated hours run when clocks go back, and none
runs twice when they go forward. Each day or tick looked at is a step of the budget. A rule without
COUNT is entered at the start of the window, so an old start costs nothing extra.
"""

from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import chain, islice, product
from typing import Final, TypeAlias

from remit.calendar.expansion import ExpansionBudget
from remit.calendar.rules import CalendarRule, filled
from remit.model.rrule import Freq

Reach: TypeAlias = tuple[datetime, datetime]  # from the first to the second, inclusive

COUNTED: Final[Mapping[Freq, timedelta]] = {
    Freq.MINUTELY: timedelta(minutes=1),
    Freq.HOURLY: timedelta(hours=1),
}
_DAY: Final = timedelta(days=1)
_WEEK: Final = 7
_MONTHS: Final = 12
_LAST_YEAR: Final = 9999
_LAST_TIME: Final = datetime(_LAST_YEAR, 1, 1, tzinfo=UTC)


def walls(
    rule: CalendarRule, first: datetime, reach: Reach, budget: ExpansionBudget
) -> Iterator[datetime]:
    """Yield the wall times of a rule by days or longer, in order; the start is always one."""
    since, until = reach
    whole = filled(rule, first)
    found = _generated(whole, first, since if rule.count is None else first, until, budget)
    later = (wall for wall in found if wall > first)
    yield from _within(rule, first, later, reach)


def ticks(
    rule: CalendarRule, first: datetime, zone: tzinfo, reach: Reach, budget: ExpansionBudget
) -> Iterator[datetime]:
    """Yield the instants of a rule by minutes or hours, in order; the start is always one."""
    since, until = reach
    found = _ticked(rule, first, zone, (since if rule.count is None else first, until), budget)
    later = (at for at in found if at > first)
    yield from _within(rule, first, later, reach)


def matches(rule: CalendarRule, first: datetime, budget: ExpansionBudget) -> Iterator[datetime]:
    """Yield what the rule itself gives from its start on, without end."""
    last = _LAST_TIME.replace(tzinfo=first.tzinfo)
    if rule.freq in COUNTED:
        return _ticked(rule, first, UTC, (first, last), budget)
    whole = filled(rule, first)
    return (wall for wall in _generated(whole, first, first, last, budget) if wall >= first)


def _within(
    rule: CalendarRule, first: datetime, later: Iterator[datetime], reach: Reach
) -> Iterator[datetime]:
    since, until = reach
    # RFC 5545: the start counts as the first occurrence.
    for found in islice(chain([first], later), rule.count):
        if found > until:
            return
        if found >= since:
            yield found


# By the wall --------------------------------------------------------------------------------------


def _generated(
    rule: CalendarRule, first: datetime, since: datetime, until: datetime, budget: ExpansionBudget
) -> Iterator[datetime]:
    times = [
        time(hour, minute, second)
        for hour, minute, second in product(rule.hours, rule.minutes, rule.seconds)
    ]
    periods = _PERIODS[rule.freq]
    last = until.date()
    for begins, days in periods(rule, first.date(), max(first, since).date(), budget):
        if begins > last:
            return
        budget.spend(len(days) * (len(times) - 1))
        found = [datetime.combine(day, at) for day in days for at in times]
        yield from _placed(rule, found)


def _placed(rule: CalendarRule, found: list[datetime]) -> Iterable[datetime]:
    """Return what BYSETPOS leaves of one period."""
    if not rule.places:
        return found
    size = len(found)
    chosen = {place - 1 if place > 0 else size + place for place in rule.places}
    return [found[index] for index in sorted(chosen) if 0 <= index < size]


_Period: TypeAlias = tuple[date, list[date]]


def _years(
    rule: CalendarRule, first: date, since: date, budget: ExpansionBudget
) -> Iterator[_Period]:
    months = rule.months or range(1, _MONTHS + 1)
    step = rule.interval
    start = first.year + (since.year - first.year) // step * step
    for year in range(start, _LAST_YEAR + 1, step):
        days = [day for month in months for day in _month(rule, year, month, budget)]
        yield date(year, 1, 1), days


def _months(
    rule: CalendarRule, first: date, since: date, budget: ExpansionBudget
) -> Iterator[_Period]:
    step, begun = rule.interval, first.year * _MONTHS + first.month - 1
    passed = since.year * _MONTHS + since.month - 1 - begun
    for index in range(begun + passed // step * step, _LAST_YEAR * _MONTHS, step):
        year, month = index // _MONTHS, index % _MONTHS + 1
        wanted = not rule.months or month in rule.months
        budget.spend()
        yield date(year, month, 1), _month(rule, year, month, budget) if wanted else []


def _weeks(
    rule: CalendarRule, first: date, since: date, budget: ExpansionBudget
) -> Iterator[_Period]:
    begins = first - timedelta(days=(first.weekday() - rule.week_starts) % _WEEK)
    step = timedelta(days=_WEEK * rule.interval)
    begins += (since - begins) // step * step
    offsets = sorted({(day.day - rule.week_starts) % _WEEK for day in rule.weekdays})
    while begins.year < _LAST_YEAR:
        budget.spend(len(offsets))
        days = [begins + timedelta(days=offset) for offset in offsets]
        yield begins, [day for day in days if not rule.months or day.month in rule.months]
        begins = _after(begins, step)


def _days(
    rule: CalendarRule, first: date, since: date, budget: ExpansionBudget
) -> Iterator[_Period]:
    step = timedelta(days=rule.interval)
    day = first + (since - first) // step * step
    while day.year < _LAST_YEAR:
        budget.spend()
        yield day, [day] if _fits(rule, day) else []
        day = _after(day, step)


def _after(day: date, step: timedelta) -> date:
    return day + step if date.max - day > step else date.max


_PERIODS: Final[
    Mapping[Freq, Callable[[CalendarRule, date, date, ExpansionBudget], Iterator[_Period]]]
] = {
    Freq.YEARLY: _years,
    Freq.MONTHLY: _months,
    Freq.WEEKLY: _weeks,
    Freq.DAILY: _days,
}


def _month(rule: CalendarRule, year: int, month: int, budget: ExpansionBudget) -> list[date]:
    """Return the days of a month that the rule names."""
    length = monthrange(year, month)[1]
    numbers: Iterable[int] = range(1, length + 1)
    if rule.monthdays:
        named = {day if day > 0 else length + 1 + day for day in rule.monthdays}
        numbers = sorted(day for day in named if 1 <= day <= length)
    budget.spend(length if not rule.monthdays else len(rule.monthdays))
    days = [date(year, month, number) for number in numbers]
    if not (rule.weekdays or rule.yeardays or rule.weeks):
        return days
    return [day for day in days if _fits(rule, day)]


def _fits(rule: CalendarRule, day: date) -> bool:
    """Whether a day matches every part of the rule."""
    return (
        (not rule.months or day.month in rule.months)
        and (not rule.monthdays or _fits_month(rule, day))
        and (not rule.weekdays or _fits_weekday(rule, day))
        and (not rule.yeardays or _fits_year(rule, day))
        and (not rule.weeks or _fits_week(rule, day))
    )


def _fits_month(rule: CalendarRule, day: date) -> bool:
    length = monthrange(day.year, day.month)[1]
    return day.day in rule.monthdays or day.day - length - 1 in rule.monthdays


def _fits_weekday(rule: CalendarRule, day: date) -> bool:
    for named in rule.weekdays:
        if named.day == day.weekday() and (not named.nth or _is_nth(rule, day, named.nth)):
            return True
    return False


def _is_nth(rule: CalendarRule, day: date, nth: int) -> bool:
    """Whether a day is the nth of its month; of its year for a yearly rule without months."""
    if rule.freq is Freq.YEARLY and not rule.months:
        at, length = day.timetuple().tm_yday, _year_length(day.year)
    else:
        at, length = day.day, monthrange(day.year, day.month)[1]
    return nth == (at - 1) // _WEEK + 1 or nth == -((length - at) // _WEEK + 1)


def _fits_year(rule: CalendarRule, day: date) -> bool:
    at = day.timetuple().tm_yday
    return at in rule.yeardays or at - _year_length(day.year) - 1 in rule.yeardays


def _fits_week(rule: CalendarRule, day: date) -> bool:
    """Whether the week matches: week 1 is the first with at least four days of the year."""
    thursday = day + timedelta(days=3 - (day.weekday() - rule.week_starts) % _WEEK)
    at = (thursday.timetuple().tm_yday - 1) // _WEEK + 1
    # The fourth day of the last week is the last such day of the year.
    last = at + (_year_length(thursday.year) - thursday.timetuple().tm_yday) // _WEEK
    return at in rule.weeks or at - last - 1 in rule.weeks


def _year_length(year: int) -> int:
    return date(year, 12, 31).timetuple().tm_yday


# By ticking ---------------------------------------------------------------------------------------


def _ticked(
    rule: CalendarRule, first: datetime, zone: tzinfo, reach: Reach, budget: ExpansionBudget
) -> Iterator[datetime]:
    step = COUNTED[rule.freq] * rule.interval
    since, until = reach
    # One earlier: the minutes of an hour may reach into the window.
    index = max(0, (since - first) // step - 1)
    while (at := first + index * step) <= until + step:
        budget.spend()
        wall = at.astimezone(zone)
        if not _fits(rule, wall.date()):
            index = max(index + 1, -((first - _midnight(wall, zone)) // step))
            continue
        yield from _placed(rule, _of_tick(rule, at, wall))
        index += 1


def _midnight(wall: datetime, zone: tzinfo) -> datetime:
    """Return the instant at which the next day begins."""
    return datetime.combine(wall.date() + _DAY, time(), zone).astimezone(UTC)


def _of_tick(rule: CalendarRule, at: datetime, wall: datetime) -> list[datetime]:
    if rule.hours and wall.hour not in rule.hours:
        return []
    if rule.seconds:
        at += timedelta(seconds=rule.seconds[0] - wall.second)
    if not rule.minutes:
        return [at]
    if rule.freq is Freq.MINUTELY:
        return [at] if wall.minute in rule.minutes else []
    return [at + timedelta(minutes=minute - wall.minute) for minute in rule.minutes]
