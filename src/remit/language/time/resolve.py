"""Resolves a parsed time to a moment, from now, in a zone. A doubt is asked, never guessed."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from remit.language.time import DayPart, TimeUnit, WhichWeek
from remit.language.time.clock_time import MIDNIGHT, NOON, ClockTime, with_part
from remit.language.time.day import (
    CalendarDate,
    Day,
    DayOffset,
    End,
    MonthEnd,
    NamedWeekday,
    RelativeTime,
    RepeatCount,
    UnclearEnd,
)
from remit.language.time.phrase import TimePhrase
from remit.language.time.repeats import RepeatRule, rule_of

_FARTHEST: Final = 2900  # a year from here on is a slip of the pen
_MOST_DAYS: Final = 365_000
_LEAP: Final = 9  # years within which every day of the calendar comes


class TimeDoubt(Struct, frozen=True):
    """The words give no single moment: a sentence, and what they could mean."""

    why: str
    options: tuple[str, ...] = ()


def day_of(day: Day, today: date) -> date | TimeDoubt:
    """Find the day that is meant."""
    match day:
        case DayOffset(days=days):
            return today + timedelta(days=days)
        case NamedWeekday():
            return _weekday(day, today)
        case CalendarDate():
            return _date(day, today)
        case MonthEnd(month=month, year=year):
            month = month or today.month
            year = year or today.year + (month < today.month)
            return _month_end(year, month)


def end_of(end: End | None, today: date) -> date | TimeDoubt | None:
    """Find the last day of a repetition, if it was named as a day."""
    return (
        day_of(end, today)
        if isinstance(end, DayOffset | NamedWeekday | CalendarDate | MonthEnd)
        else None
    )


def _weekday(day: NamedWeekday, today: date) -> date | TimeDoubt:
    """Return the coming one for "on Friday", and for "next Friday" if it is in the next week."""
    ahead = (day.day - today.weekday()) % 7
    coming = today + timedelta(days=ahead or 7)
    next_week = today + timedelta(days=7 - today.weekday() + day.day)
    if day.which is WhichWeek.NEXT_WEEK:
        return next_week
    clear = ahead > 0 if day.which is WhichWeek.COMING else coming == next_week
    if clear:
        return coming
    options = (today if day.which is WhichWeek.COMING else coming, next_week)
    return TimeDoubt(f"Which {coming:%A} is meant?", tuple(f"{each:%A %d %B}" for each in options))


def _date(day: CalendarDate, today: date) -> date | TimeDoubt:
    """Return the next day of that name, if the year or the month is missing."""
    if day.swapped and day.month:
        options = tuple(
            f"{number} {date(today.year, month, 1):%B}"
            for number, month in ((day.day, day.month), (day.month, day.day))
        )
        return TimeDoubt("Which of the two numbers is the month?", options)
    if day.year and day.month:
        years, months = range(day.year, day.year + 1), range(day.month, day.month + 1)
        today = date.min
    else:
        years = range(today.year, today.year + _LEAP)
        months = range(day.month, day.month + 1) if day.month else range(1, 13)
    found = (_real(year, month, day.day) for year in years for month in months)
    come = (each for each in found if each and each >= today)
    return next(come, TimeDoubt("There is no such day."))


def _real(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def months_on(day: date, months: int) -> date | None:
    """Return the same day months later, or the last one of a shorter month."""
    count = day.year * 12 + day.month - 1 + months
    year, month = count // 12, count % 12 + 1
    if year > _FARTHEST:
        return None
    return min(_real(year, month, day.day) or date.max, _month_end(year, month))


def _month_end(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


def days_on(day: date | None, days: int) -> date | None:
    """Return the day this many days later; None if it is too far away to be meant."""
    return None if day is None or days > _MOST_DAYS else day + timedelta(days=days)


_EARLY: Final = 6  # on the dial one to six is either half of the day; from seven on it is as read
_SECONDS: Final = {TimeUnit.SECOND: 1, TimeUnit.MINUTE: 60, TimeUnit.HOUR: 3600}
_DAYS: Final = {TimeUnit.DAY: 1, TimeUnit.WEEK: 7}
_MONTHS: Final = {TimeUnit.MONTH: 1, TimeUnit.YEAR: 12}
_LONGEST: Final = 366 * 86_400  # seconds between two runs of something that comes often
_LIKELY: Final = {
    DayPart.MORNING: ("08:00", "09:00"),
    DayPart.AFTERNOON: ("14:00", "16:00"),
    DayPart.EVENING: ("18:00", "20:00"),
    DayPart.NIGHT: ("20:00", "22:00"),
}


class Moment(Struct, frozen=True):
    """A point in time, in UTC; `note` mentions a clock change there."""

    at: datetime
    note: str | None = None
    day: date | None = None  # the day that was named, which a later "at 9" may mean too


class Recurrence(Struct, frozen=True):
    """An RRULE, the zone of its hours, and its first time in UTC."""

    rule: str
    zone: str
    first: datetime
    note: str | None = None


class Now(Struct, frozen=True):
    """At once."""


When: TypeAlias = Moment | Recurrence | Now | TimeDoubt


def resolve_time(
    phrase: TimePhrase, words: str, *, now: datetime, zone: ZoneInfo, day: date | None = None
) -> tuple[When, ...]:
    """Resolve a time; several times of day give several results, a doubt comes alone.

    `words` are the owner's, for the question; `day` is one named shortly before.
    """
    if phrase.zone_unclear:
        return (TimeDoubt(f"Which zone is meant in {words!r}?"),)
    if phrase.now:
        return (Now(),)
    local = now.astimezone(ZoneInfo(phrase.zone) if phrase.zone else zone)
    resolving = _Resolving(phrase, words, local, day)
    answers = tuple(resolving.at(clock) for clock in phrase.clocks or (None,))
    doubts = tuple(answer for answer in answers if isinstance(answer, TimeDoubt))
    return doubts[:1] or answers


class _Resolving(Struct, frozen=True):
    """Resolves one time, seen from a moment in a zone."""

    phrase: TimePhrase
    words: str
    local: datetime
    named: date | None

    def at(self, clock: ClockTime | None) -> When:
        if clock is not None:
            clock = with_part(clock, self.phrase.part_of_day)
            if clock is None:
                return TimeDoubt(f"Which day is meant by {self.words!r}? A night belongs to two.")
        if self.phrase.every is not None:
            return self._recurring(clock)
        if self.phrase.ahead is not None:
            return self._ahead(self.phrase.ahead, clock)
        return self._once(clock)

    @property
    def today(self) -> date:
        return self.local.date()

    # Once

    def _once(self, clock: ClockTime | None) -> When:
        day = day_of(self.phrase.day, self.today) if self.phrase.day else self.named
        if isinstance(day, TimeDoubt):
            return day
        if day is not None and day < self.today:
            return TimeDoubt(f"{self.words!r} has passed. When is it to be?")
        if clock is None:
            return self._what_hour()
        return self._today(clock) if day is None else self._on(day, clock)

    def _what_hour(self) -> TimeDoubt:
        options = _LIKELY.get(self.phrase.part_of_day, ()) if self.phrase.part_of_day else ()
        return TimeDoubt(f"At what time is {self.words!r}?", options)

    def _today(self, clock: ClockTime) -> When:
        """Return today, if that time is still to come; no day was named."""
        if clock.hour == MIDNIGHT:
            return instant(self.today + timedelta(days=1), time(0), self.local.tzinfo)
        early, late = self._halves(self.today, clock)
        to_come = [each for each in (early, late) if each.at > self.local]
        if clock.dial and clock.hour <= _EARLY and to_come:
            return to_come[0] if len(to_come) == 1 else self._which_half(clock)
        if early.at > self.local:
            return early
        options = [f"tomorrow at {clock.hour:02}:{clock.minute:02}"]
        if clock.dial and to_come:
            options.append(f"today at {late.at.astimezone(self.local.tzinfo):%H:%M}")
        return TimeDoubt(f"{self.words!r} has passed today. When is it to be?", tuple(options))

    def _on(self, day: date, clock: ClockTime) -> When:
        if clock.hour == MIDNIGHT:
            return TimeDoubt(f"Is {self.words!r} the midnight before that day, or after it?")
        early, late = self._halves(day, clock)
        if clock.dial and clock.hour <= _EARLY:
            today = day == self.today and early.at <= self.local < late.at
            return replace(late, day=day) if today else self._which_half(clock)
        if early.at <= self.local:
            return TimeDoubt(f"{self.words!r} has passed. When is it to be?")
        return replace(early, day=day)

    def _halves(self, day: date, clock: ClockTime) -> tuple[Moment, Moment]:
        """Return the moment as read, and the one twelve hours later."""
        zone = self.local.tzinfo
        late = clock.hour % NOON + NOON
        return (
            instant(day, time(clock.hour, clock.minute), zone),
            instant(day, time(late, clock.minute), zone),
        )

    def _which_half(self, clock: ClockTime) -> TimeDoubt:
        hours = (clock.hour % NOON, clock.hour % NOON + NOON)
        options = tuple(f"{hour:02}:{clock.minute:02}" for hour in hours)
        return TimeDoubt(f"Is {self.words!r} in the morning or in the afternoon?", options)

    # From now on

    def _ahead(self, ahead: RelativeTime, clock: ClockTime | None) -> When:
        """Add an amount: whole days keep the time of day, hours are elapsed time."""
        days, months = ahead.count(_DAYS), ahead.count(_MONTHS)
        if days % 1 or months % 1:
            return TimeDoubt(f"When exactly is {self.words!r}?")
        day = days_on(months_on(self.today, int(months)), int(days))
        if day is None:
            return TimeDoubt(f"{self.words!r} is too far away to be meant.")
        if clock is not None:
            return self._on(day, clock)
        wall = self.local.time()
        begun = Moment(self.local.astimezone(UTC))
        if day != self.today:
            begun = instant(day, wall, self.local.tzinfo)
        return replace(begun, at=begun.at + timedelta(seconds=ahead.count(_SECONDS)))

    # Again and again

    def _recurring(self, clock: ClockTime | None) -> When:
        rule = self._rule()
        if isinstance(rule, TimeDoubt):
            return rule
        if rule.unit in _SECONDS:
            return self._often(rule)
        if clock is None:
            return self._what_hour()
        if clock.dial and clock.hour <= _EARLY:
            return self._which_half(clock)
        return self._first(rule, time(clock.hour % MIDNIGHT, clock.minute))

    def _rule(self) -> RepeatRule | TimeDoubt:
        every, until = self.phrase.every, self.phrase.until
        if every is None or not every.sure:
            return TimeDoubt(f"Is {self.words!r} every month, or this one alone?")
        often = every.unit in _SECONDS and isinstance(until, RelativeTime)
        if isinstance(until, UnclearEnd) or often:
            return TimeDoubt(f"Until which day is it to go on: {self.words!r}?")
        last = end_of(until, self.today)
        if isinstance(last, TimeDoubt):
            return last
        rule = rule_of(every, self.phrase.day, last)
        if isinstance(rule, RepeatRule) and isinstance(until, RepeatCount):
            rule = replace(rule, count=until.count)
        return rule if isinstance(rule, RepeatRule) else TimeDoubt(f"{rule} {self.words!r}?")

    def _often(self, rule: RepeatRule) -> When:
        seconds = rule.interval * _SECONDS[rule.unit]
        if seconds > _LONGEST:
            return TimeDoubt(f"{self.words!r} is too far away to be meant.")
        first = self.local.astimezone(UTC) + timedelta(seconds=seconds)
        return Recurrence(rule.text(self.local.tzinfo), str(self.local.tzinfo), first)

    def _first(self, rule: RepeatRule, wall: time) -> When:
        zone = self.local.tzinfo
        for day in rule.days(self.today):
            moment = instant(day, wall, zone)
            if moment.at > self.local:
                last = self._last_from(day)
                if isinstance(last, TimeDoubt):
                    return last
                rule = replace(rule, until=last or rule.until)
                return Recurrence(rule.text(zone, wall), str(zone), moment.at, moment.note)
        return TimeDoubt(f"{self.words!r} never comes round.")

    def _last_from(self, first: date) -> date | TimeDoubt | None:
        """Return the last day of a repetition that lasts this long from its first day."""
        until = self.phrase.until
        if not isinstance(until, RelativeTime):
            return None
        months, days = until.count(_MONTHS), until.count(_DAYS)
        last = days_on(months_on(first, int(months)), int(days) - 1)
        if last is None or months % 1 or days % 1:
            return TimeDoubt(f"Until which day is it to go on: {self.words!r}?")
        return last


def instant(day: date, wall: time, zone: tzinfo | None) -> Moment:
    """Return the moment of a wall time, with a note if the clocks change there."""
    line = datetime.combine(day, wall, tzinfo=zone)
    at = line.astimezone(UTC)
    shown = at.astimezone(zone)
    if shown.replace(tzinfo=None) != line.replace(tzinfo=None):
        note = f"{wall:%H:%M} does not exist on {day}, for the clocks go forward: {shown:%H:%M}."
        return Moment(at, note)
    if line.replace(fold=1).utcoffset() != line.utcoffset():
        note = f"{wall:%H:%M} comes twice on {day}, for the clocks go back: the first one."
        return Moment(at, note)
    return Moment(at)
