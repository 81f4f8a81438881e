"""Parses iCalendar values: dates and times, durations, periods and texts."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from remit.calendar.expansion import UnfitCalendar
from remit.calendar.zones import CalendarProperty, Zones

_STAMP: Final = re.compile(
    r"([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2})([0-9]{2})([0-9]{2})(Z?))?"
)
_SPAN: Final = re.compile(
    r"([+-]?)P(?:([0-9]{1,5})W)?(?:([0-9]{1,6})D)?"
    r"(?:T(?:([0-9]{1,6})H)?(?:([0-9]{1,8})M)?(?:([0-9]{1,9})S)?)?"
)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_LAST_SECOND: Final = 59


class CalendarTime(Struct, frozen=True):
    """A date, or a wall time; without a zone it floats."""

    wall: datetime  # naive; midnight for a date
    zone: tzinfo | None = None
    day: bool = False

    def __str__(self) -> str:
        return f"{self.wall:%Y-%m-%d}" if self.day else f"{self.wall:%Y-%m-%d %H:%M}"


class CalendarDuration(Struct, frozen=True):
    """A length: whole wall days, and the rest in seconds."""

    days: int = 0
    rest: timedelta = timedelta(0)


def stamps(lines: list[CalendarProperty], zones: Zones) -> list[CalendarTime]:
    """Parse every date or time in a list of properties, such as all EXDATEs of an event."""
    return [
        stamp(one, line.params, zones) for line in lines for one in line.value.split(",") if one
    ]


def stamp(text: str, params: dict[str, str], zones: Zones) -> CalendarTime:
    """Parse one date or time; a TZID gives its zone, a Z means UTC."""
    found = _STAMP.fullmatch(text.strip())
    if found is None:
        raise UnfitCalendar(f"{text!r:.40} is no date or time; one looks like 20261104T090000")
    year, month, day, hour, minute, second, utc = found.groups()
    try:
        if hour is None:
            return CalendarTime(datetime(int(year), int(month), int(day)), day=True)  # noqa: DTZ001 - a wall
        # A leap second has no wall time; it counts as the second before.
        last = min(int(second), _LAST_SECOND)
        wall = datetime(int(year), int(month), int(day), int(hour), int(minute), last)  # noqa: DTZ001 - a wall
    except ValueError:
        raise UnfitCalendar(f"there is no {text!r:.40} in any year's calendar") from None
    if utc:
        return CalendarTime(wall, UTC)
    return CalendarTime(wall, zones.find(params["TZID"]) if params.get("TZID") else None)


def span(text: str) -> CalendarDuration:
    """Parse a DURATION; a negative one is refused."""
    found = _SPAN.fullmatch(text.strip())
    if found is None or text.strip()[-1:] in "PT":
        raise UnfitCalendar(f"{text!r:.40} is no duration; one looks like PT30M or P1D")
    sign, weeks, days, hours, minutes, seconds = found.groups(default="0")
    if sign == "-":
        raise UnfitCalendar(f"its duration {text!r:.40} goes back in time")
    rest = timedelta(hours=int(hours), minutes=int(minutes), seconds=int(seconds))
    return CalendarDuration(int(weeks) * 7 + int(days), rest)


class ExtraDate(Struct, frozen=True):
    """An RDATE: one more start, with its own end if it is a period."""

    start: CalendarTime
    end: CalendarTime | CalendarDuration | None = None


def extras(lines: list[CalendarProperty], zones: Zones) -> list[ExtraDate]:
    """Parse every RDATE: a date, a time or a period."""
    found: list[ExtraDate] = []
    for line in lines:
        for one in line.value.split(","):
            first, slash, last = one.partition("/")
            if not slash:
                found += [ExtraDate(stamp(first, line.params, zones))] if first else []
            elif "P" in last:
                found.append(ExtraDate(stamp(first, line.params, zones), span(last)))
            else:
                end = stamp(last, line.params, zones)
                found.append(ExtraDate(stamp(first, line.params, zones), end))
    return found


def text(raw: str) -> str:
    """Return a text without its escapes."""
    if "\\" not in raw:
        return raw
    return _ESCAPED.sub(lambda found: "\n" if found[1] in "nN" else found[1], raw)
