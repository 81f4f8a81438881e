"""From what was said to a moment, reckoned from now, in a zone. A doubt is asked, never guessed."""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

from remit.intake.days import Doubt, day_of, days_on, end_of, months_on
from remit.intake.grammar.dates import Offset
from remit.intake.grammar.ends import Times, Unclear
from remit.intake.grammar.hours import MIDNIGHT, NOON, Clock, with_part
from remit.intake.grammar.spans import Ahead
from remit.intake.grammar.spoken import Spoken
from remit.intake.lexicon.shape import Part, Unit
from remit.intake.series import Rule, rule_of

_EARLY: Final = 6  # on the dial one to six is either half of the day; from seven on it is as read
_SECONDS: Final = {Unit.SECOND: 1, Unit.MINUTE: 60, Unit.HOUR: 3600}
_DAYS: Final = {Unit.DAY: 1, Unit.WEEK: 7}
_MONTHS: Final = {Unit.MONTH: 1, Unit.YEAR: 12}
_LONGEST: Final = 366 * 86_400  # seconds between two runs of something that comes often
_LIKELY: Final = {
    Part.MORNING: ("08:00", "09:00"),
    Part.AFTERNOON: ("14:00", "16:00"),
    Part.EVENING: ("18:00", "20:00"),
    Part.NIGHT: ("20:00", "22:00"),
}


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time, in UTC; `note` says what the clocks do there."""

    at: datetime
    note: str | None = None
    day: date | None = None  # the day that was named, which a later "at 9" may mean too


@dataclass(frozen=True, slots=True)
class Recurrence:
    """An RRULE and the zone its hours are read in; the first time it comes round, in UTC."""

    rule: str
    zone: str
    first: datetime
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Now:
    """At once."""


When: TypeAlias = Moment | Recurrence | Now | Doubt


def reckon(
    spoken: Spoken, words: str, *, now: datetime, zone: ZoneInfo, day: date | None = None
) -> tuple[When, ...]:
    """Reckon what was said; several times of day give several answers, a doubt stands alone.

    `words` are the owner's, for the question; `day` is one named shortly before.
    """
    if spoken.zone_unclear:
        return (Doubt(f"Which zone is meant in {words!r}?"),)
    if spoken.now:
        return (Now(),)
    local = now.astimezone(ZoneInfo(spoken.zone) if spoken.zone else zone)
    reckoning = _Reckoning(spoken, words, local, day)
    answers = tuple(reckoning.at(clock) for clock in spoken.clocks or (None,))
    doubts = tuple(answer for answer in answers if isinstance(answer, Doubt))
    return doubts[:1] or answers


@dataclass(frozen=True, slots=True)
class _Reckoning:
    """One phrase of time, seen from a moment on a wall clock."""

    spoken: Spoken
    words: str
    local: datetime
    named: date | None

    def at(self, clock: Clock | None) -> When:
        if clock is not None:
            clock = with_part(clock, self.part)
            if clock is None:
                return Doubt(f"Which day is meant by {self.words!r}? A night belongs to two.")
        if self.spoken.every is not None:
            return self._recurring(clock)
        if self.spoken.ahead is not None:
            return self._ahead(self.spoken.ahead, clock)
        return self._once(clock)

    @property
    def part(self) -> Part | None:
        """The part of the day that was named, with the day, how often, or by itself."""
        day, every = self.spoken.day, self.spoken.every
        named = day.part if isinstance(day, Offset) else every.part if every else None
        return self.spoken.part or named

    @property
    def today(self) -> date:
        return self.local.date()

    # Once

    def _once(self, clock: Clock | None) -> When:
        day = day_of(self.spoken.day, self.today) if self.spoken.day else self.named
        if isinstance(day, Doubt):
            return day
        if day is not None and day < self.today:
            return Doubt(f"{self.words!r} has passed. When is it to be?")
        if clock is None:
            return self._what_hour()
        return self._today(clock) if day is None else self._on(day, clock)

    def _what_hour(self) -> Doubt:
        options = _LIKELY.get(self.part, ()) if self.part else ()
        return Doubt(f"At what time is {self.words!r}?", options)

    def _today(self, clock: Clock) -> When:
        """No day was named: it is today, if that time is still to come."""
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
        return Doubt(f"{self.words!r} has passed today. When is it to be?", tuple(options))

    def _on(self, day: date, clock: Clock) -> When:
        if clock.hour == MIDNIGHT:
            return Doubt(f"Is {self.words!r} the midnight before that day, or after it?")
        early, late = self._halves(day, clock)
        if clock.dial and clock.hour <= _EARLY:
            today = day == self.today and early.at <= self.local < late.at
            return replace(late, day=day) if today else self._which_half(clock)
        if early.at <= self.local:
            return Doubt(f"{self.words!r} has passed. When is it to be?")
        return replace(early, day=day)

    def _halves(self, day: date, clock: Clock) -> tuple[Moment, Moment]:
        """The moment as it was read, and the one twelve hours on."""
        zone = self.local.tzinfo
        late = clock.hour % NOON + NOON
        return (
            instant(day, time(clock.hour, clock.minute), zone),
            instant(day, time(late, clock.minute), zone),
        )

    def _which_half(self, clock: Clock) -> Doubt:
        hours = (clock.hour % NOON, clock.hour % NOON + NOON)
        options = tuple(f"{hour:02}:{clock.minute:02}" for hour in hours)
        return Doubt(f"Is {self.words!r} in the morning or in the afternoon?", options)

    # From now on

    def _ahead(self, ahead: Ahead, clock: Clock | None) -> When:
        """Whole days keep the time of day whatever the clocks do; hours are counted."""
        days, months = ahead.count(_DAYS), ahead.count(_MONTHS)
        if days % 1 or months % 1:
            return Doubt(f"When exactly is {self.words!r}?")
        day = days_on(months_on(self.today, int(months)), int(days))
        if day is None:
            return Doubt(f"{self.words!r} is too far away to be meant.")
        if clock is not None:
            return self._on(day, clock)
        wall = self.local.time()
        begun = Moment(self.local.astimezone(UTC))
        if day != self.today:
            begun = instant(day, wall, self.local.tzinfo)
        return replace(begun, at=begun.at + timedelta(seconds=ahead.count(_SECONDS)))

    # Again and again

    def _recurring(self, clock: Clock | None) -> When:
        rule = self._rule()
        if isinstance(rule, Doubt):
            return rule
        if rule.unit in _SECONDS:
            return self._often(rule)
        if clock is None:
            return self._what_hour()
        if clock.dial and clock.hour <= _EARLY:
            return self._which_half(clock)
        return self._first(rule, time(clock.hour % MIDNIGHT, clock.minute))

    def _rule(self) -> Rule | Doubt:
        every, until = self.spoken.every, self.spoken.until
        if every is None or not every.sure:
            return Doubt(f"Is {self.words!r} every month, or this one alone?")
        often = every.unit in _SECONDS and isinstance(until, Ahead)
        if isinstance(until, Unclear) or often:
            return Doubt(f"Until which day is it to go on: {self.words!r}?")
        last = end_of(until, self.today)
        if isinstance(last, Doubt):
            return last
        rule = rule_of(every, self.spoken.day, last)
        if isinstance(rule, Rule) and isinstance(until, Times):
            rule = replace(rule, count=until.count)
        return rule if isinstance(rule, Rule) else Doubt(f"{rule} {self.words!r}?")

    def _often(self, rule: Rule) -> When:
        seconds = rule.interval * _SECONDS[rule.unit]
        if seconds > _LONGEST:
            return Doubt(f"{self.words!r} is too far away to be meant.")
        first = self.local.astimezone(UTC) + timedelta(seconds=seconds)
        return Recurrence(rule.text(self.local.tzinfo), str(self.local.tzinfo), first)

    def _first(self, rule: Rule, wall: time) -> When:
        zone = self.local.tzinfo
        for day in rule.days(self.today):
            moment = instant(day, wall, zone)
            if moment.at > self.local:
                last = self._last_from(day)
                if isinstance(last, Doubt):
                    return last
                rule = replace(rule, until=last or rule.until)
                return Recurrence(rule.text(zone, wall), str(zone), moment.at, moment.note)
        return Doubt(f"{self.words!r} never comes round.")

    def _last_from(self, first: date) -> date | Doubt | None:
        """The last day of a habit that goes on for so long from its first day."""
        until = self.spoken.until
        if not isinstance(until, Ahead):
            return None
        months, days = until.count(_MONTHS), until.count(_DAYS)
        last = days_on(months_on(first, int(months)), int(days) - 1)
        if last is None or months % 1 or days % 1:
            return Doubt(f"Until which day is it to go on: {self.words!r}?")
        return last


def instant(day: date, wall: time, zone: tzinfo | None) -> Moment:
    """The moment of a wall clock, with a note where that clock is turned back or forward."""
    said = datetime.combine(day, wall, tzinfo=zone)
    at = said.astimezone(UTC)
    shown = at.astimezone(zone)
    if shown.replace(tzinfo=None) != said.replace(tzinfo=None):
        note = f"{wall:%H:%M} does not exist on {day}, for the clocks go forward: {shown:%H:%M}."
        return Moment(at, note)
    if said.replace(fold=1).utcoffset() != said.utcoffset():
        note = f"{wall:%H:%M} comes twice on {day}, for the clocks go back: the first one."
        return Moment(at, note)
    return Moment(at)
