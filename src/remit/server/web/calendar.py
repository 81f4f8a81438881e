"""The calendar sheet: a week or a month, and what is planned on each day."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from itertools import groupby
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.errors import BadInput
from remit.server.page_language import say
from remit.server.web.words import date_words

_DAY: Final = timedelta(days=1)
_WEEK: Final = 7
_MORNING, _EVENING = 7, 19  # these hours are always shown
_IN_HOUR: Final = 2  # of one series; more become one mark with a number
_OFTEN: Final = 4  # runs of one series on one day; more are shown above the hours
_IN_DAY: Final = 4  # marks of a day in a month; more become a link
_LATEST: Final = 2200


class CalendarSpan(StrEnum):
    WEEK = "week"
    MONTH = "month"


class CalendarMark(Struct, frozen=True, kw_only=True):
    """One thing at one time: planned, or how it ended."""

    at: datetime  # on the owner's clock
    title: str
    kind: str  # the colour
    word: str
    icon: str
    href: str  # empty: nothing to open; it is changed in its calendar
    series: str = ""
    calendar: str = ""  # the name of its calendar
    opens: bool = False  # there is no task yet: the slot itself is shown
    times: int = 1

    @property
    def said(self) -> str:
        """All of it in one line, for screen readers."""
        often = f", {self.times} times" if self.times > 1 else ""
        stands = f", {self.stands}" if self.calendar else ""
        return f"{self.at:%H:%M} {self.title}, {self.word}{often}{stands}"

    @property
    def stands(self) -> str:
        """Where it comes from, and where it can be changed while it has no task."""
        change = "" if self.href else "; change it in your calendar"
        return f"from the calendar {self.calendar}{change}"


class CalendarDay(Struct, frozen=True):
    on: date
    marks: tuple[CalendarMark, ...]
    is_today: bool
    outside: bool = False  # outside the shown month
    more: int = 0


class CalendarHour(Struct, frozen=True):
    at: int
    days: tuple[tuple[CalendarMark, ...], ...]
    is_now: bool


class CalendarSheet(Struct, frozen=True):
    """Which days are shown, and the links to earlier and later ones."""

    span: CalendarSpan
    first: date
    until: date  # the day after the last
    on: date

    def bounds(self, zone: tzinfo | None) -> tuple[datetime, datetime]:
        return _midnight(self.first, zone), _midnight(self.until, zone)

    @property
    def title(self) -> str:
        if self.span is CalendarSpan.MONTH:
            return date_words(self.on, "%B %Y")
        last = self.until - _DAY
        until = date_words(last, f"{last.day} %b %Y")
        if self.first.month == last.month:
            return say("{0} to {1}", self.first.day, date_words(last, f"{last.day} %B %Y"))
        if self.first.year == last.year:
            return say("{0} to {1}", date_words(self.first, f"{self.first.day} %b"), until)
        return say("{0} to {1}", date_words(self.first, f"{self.first.day} %b %Y"), until)

    @property
    def before(self) -> date:
        return (
            self.on - 7 * _DAY if self.span is CalendarSpan.WEEK else self.on.replace(day=1) - _DAY
        )

    @property
    def after(self) -> date:
        if self.span is CalendarSpan.WEEK:
            return self.on + 7 * _DAY
        return (self.on.replace(day=1) + 32 * _DAY).replace(day=1)


def sheet(span: CalendarSpan, on: date) -> CalendarSheet:
    """Return seven days from a day on, or its month in whole weeks; those begin on Monday."""
    if not 1971 <= on.year < _LATEST:  # noqa: PLR2004 - before that nothing was planned here
        raise BadInput("Choose a day between 1971 and 2199.", field="on")
    if span is CalendarSpan.WEEK:
        return CalendarSheet(span, on, on + 7 * _DAY, on)
    begins = on.replace(day=1)
    ends = (begins + 32 * _DAY).replace(day=1)
    first = begins - begins.weekday() * _DAY
    return CalendarSheet(span, first, ends + (-ends.weekday() % _WEEK) * _DAY, on)


def days(shown: CalendarSheet, marks: Sequence[CalendarMark], now: datetime) -> list[CalendarDay]:
    """Return every day of the sheet with its marks."""
    by_day = _by_day(marks)
    found: list[CalendarDay] = []
    on = shown.first
    while on < shown.until:
        of_day = tuple(
            _merge_marks(by_day.get(on, ()), 1 if shown.span is CalendarSpan.MONTH else _IN_HOUR)
        )
        outside = shown.span is CalendarSpan.MONTH and on.month != shown.on.month
        found.append(CalendarDay(on, of_day, on == now.date(), outside))
        on += _DAY
    return found


def weeks(
    shown: CalendarSheet, marks: Sequence[CalendarMark], now: datetime
) -> list[list[CalendarDay]]:
    """Return a month as rows of weeks; of a full day the first marks and a count."""
    found = [_short(day) for day in days(shown, marks, now)]
    return [found[n : n + _WEEK] for n in range(0, len(found), _WEEK)]


def often(shown: CalendarSheet, marks: Sequence[CalendarMark]) -> list[tuple[CalendarMark, ...]]:
    """Return, for each day of a week, the series that would fill its hours."""
    by_day = _by_day(marks)
    week = [by_day.get(shown.first + n * _DAY, ()) for n in range(_WEEK)]
    return [tuple(mark for mark in _merge_marks(day, _OFTEN) if mark.times > 1) for day in week]


def hours(shown: CalendarSheet, marks: Sequence[CalendarMark], now: datetime) -> list[CalendarHour]:
    """Return a week as rows of hours, from the first used to the last."""
    rare = _rare(marks)
    used = {mark.at.hour for mark in rare}
    first, last = min({_MORNING, *used}), max({_EVENING, *used})
    by_day = _by_day(rare)
    week = [by_day.get(shown.first + n * _DAY, ()) for n in range(_WEEK)]
    here = shown.first <= now.date() < shown.until
    if here:
        first, last = min(first, now.hour), max(last, now.hour)
    return [
        CalendarHour(at, tuple(_of_hour(day, at) for day in week), here and now.hour == at)
        for at in range(first, last + 1)
    ]


def _rare(marks: Sequence[CalendarMark]) -> list[CalendarMark]:
    counted = Counter(_mark_key(mark) for mark in marks if mark.series)
    return [mark for mark in marks if counted[_mark_key(mark)] <= _OFTEN]


def _mark_key(mark: CalendarMark) -> tuple[date, str, str]:
    return mark.at.date(), mark.series, mark.kind


def _of_hour(day: Sequence[CalendarMark], at: int) -> tuple[CalendarMark, ...]:
    return tuple(_merge_marks([mark for mark in day if mark.at.hour == at], _IN_HOUR))


def _merge_marks(marks: Sequence[CalendarMark], most: int) -> Iterator[CalendarMark]:
    """Merge similar marks of one series into one with a number, if there are many."""
    kinds: dict[tuple[str, str], list[CalendarMark]] = {}
    for n, mark in enumerate(marks):
        kinds.setdefault((mark.series or f"{n}", mark.kind), []).append(mark)
    shown: list[CalendarMark] = []
    for alike in kinds.values():
        shown += alike if len(alike) <= most else [replace(alike[0], times=len(alike))]
    yield from sorted(shown, key=lambda mark: mark.at)


def _short(day: CalendarDay) -> CalendarDay:
    over = len(day.marks) - _IN_DAY
    if over <= 0:
        return day
    return replace(day, marks=day.marks[: _IN_DAY - 1], more=over + 1)


def _by_day(marks: Sequence[CalendarMark]) -> dict[date, Sequence[CalendarMark]]:
    ordered = sorted(marks, key=lambda mark: mark.at)
    return {on: tuple(of_day) for on, of_day in groupby(ordered, lambda mark: mark.at.date())}


def _midnight(on: date, zone: tzinfo | None) -> datetime:
    return datetime.combine(on, time(), zone)
