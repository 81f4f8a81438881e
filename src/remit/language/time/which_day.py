"""Resolves which day is meant, seen from today; two candidates are a doubt."""

from datetime import date, timedelta
from typing import Final

from msgspec import Struct

from remit.language.time.day import CalendarDate, Day, DayOffset, MonthEnd, NamedWeekday
from remit.language.time.ends import End
from remit.language.time.words import WhichWeek

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
