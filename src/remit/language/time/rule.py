"""A repetition as an RRULE, and the days it falls on."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.language.time.day import CalendarDate, Day, NamedWeekday
from remit.language.time.repeats import RepeatFrequency
from remit.language.time.words import TimeUnit
from remit.model import recurrence_times
from remit.model.recurrence import DAYS, Freq, RecurrenceRule, RruleWeekday

_FREQUENCY: Final = {
    TimeUnit.MINUTE: Freq.MINUTELY,
    TimeUnit.HOUR: Freq.HOURLY,
    TimeUnit.DAY: Freq.DAILY,
    TimeUnit.WEEK: Freq.WEEKLY,
    TimeUnit.MONTH: Freq.MONTHLY,
    TimeUnit.YEAR: Freq.YEARLY,
}
_LOOK_AHEAD: Final = 9 * 366  # days: the 29th of February may be eight years away


class RepeatRule(Struct, frozen=True):
    unit: TimeUnit
    interval: int = 1
    weekdays: tuple[int, ...] = ()
    nth: int = 0
    monthdays: tuple[int, ...] = ()
    month: int | None = None
    until: date | None = None
    count: int | None = None

    def text(self, zone: tzinfo | None, wall: time | None = None) -> str:
        """Write it as iCalendar does, with the time of day, so that it needs no other anchor."""
        parts = [f"FREQ={_FREQUENCY[self.unit]}"]
        if self.interval > 1:
            parts.append(f"INTERVAL={self.interval}")
        if self.month:
            parts.append(f"BYMONTH={self.month}")
        if self.monthdays:
            parts.append("BYMONTHDAY=" + ",".join(map(str, self.monthdays)))
        if self.weekdays:
            nth = str(self.nth) if self.nth else ""
            parts.append("BYDAY=" + ",".join(nth + DAYS[day] for day in self.weekdays))
        if wall:
            parts.append(f"BYHOUR={wall.hour};BYMINUTE={wall.minute}")
        if self.count:
            parts.append(f"COUNT={self.count}")
        if self.until:
            last = datetime.combine(self.until, time(23, 59, 59), tzinfo=zone).astimezone(UTC)
            parts.append(f"UNTIL={last:%Y%m%dT%H%M%SZ}")
        return ";".join(parts)

    def days(self, start: date) -> Iterator[date]:
        """The days it may first fall on, from a day on."""
        weekdays = tuple(RruleWeekday(day, self.nth) for day in self.weekdays)
        months = (self.month,) if self.month else ()
        # Which days of a month: the weekday's number is always one of its month here.
        named = RecurrenceRule(
            Freq.MONTHLY, months=months, monthdays=self.monthdays, weekdays=weekdays
        )
        for ahead in range(_LOOK_AHEAD):
            day = start + timedelta(days=ahead)
            if self.until and day > self.until:
                return
            if recurrence_times.fits(named, day):
                yield day


def rule_of(every: RepeatFrequency, day: Day | None, until: date | None) -> RepeatRule | str:
    """Join how often with the day that was named; a question when something is missing."""
    made = RepeatRule(
        every.unit, every.interval, every.weekdays, every.nth, every.monthdays, until=until
    )
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
