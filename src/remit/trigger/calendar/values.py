"""The values of a calendar's lines: dates and times, spans, periods and texts."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from remit.trigger.calendar.lines import Line
from remit.trigger.calendar.words import Unfit
from remit.trigger.calendar.zones import Zones

_STAMP: Final = re.compile(
    r"([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2})([0-9]{2})([0-9]{2})(Z?))?"
)
_SPAN: Final = re.compile(
    r"([+-]?)P(?:([0-9]{1,5})W)?(?:([0-9]{1,6})D)?"
    r"(?:T(?:([0-9]{1,6})H)?(?:([0-9]{1,8})M)?(?:([0-9]{1,9})S)?)?"
)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_LAST_SECOND: Final = 59


class Stamp(Struct, frozen=True):
    """A date, or a time on a wall; without a zone it floats."""

    wall: datetime  # naive; midnight for a date
    zone: tzinfo | None = None
    day: bool = False

    def __str__(self) -> str:
        return f"{self.wall:%Y-%m-%d}" if self.day else f"{self.wall:%Y-%m-%d %H:%M}"


class Span(Struct, frozen=True):
    """A length: whole days on the wall, and the rest by the second."""

    days: int = 0
    rest: timedelta = timedelta(0)


def stamps(lines: list[Line], zones: Zones) -> list[Stamp]:
    """Every date or time in a list of properties, such as all EXDATEs of an event."""
    return [
        stamp(one, line.params, zones) for line in lines for one in line.value.split(",") if one
    ]


def stamp(text: str, params: dict[str, str], zones: Zones) -> Stamp:
    """One date or time; a time with a TZID has that zone, one with a Z is in UTC."""
    found = _STAMP.fullmatch(text.strip())
    if found is None:
        raise Unfit(f"{text!r:.40} is no date or time; one looks like 20261104T090000")
    year, month, day, hour, minute, second, utc = found.groups()
    try:
        if hour is None:
            return Stamp(datetime(int(year), int(month), int(day)), day=True)  # noqa: DTZ001 - a wall
        # A leap second has no place on a wall; it is taken as the second before.
        last = min(int(second), _LAST_SECOND)
        wall = datetime(int(year), int(month), int(day), int(hour), int(minute), last)  # noqa: DTZ001 - a wall
    except ValueError:
        raise Unfit(f"there is no {text!r:.40} in any year's calendar") from None
    if utc:
        return Stamp(wall, UTC)
    return Stamp(wall, zones.find(params["TZID"]) if params.get("TZID") else None)


def span(text: str) -> Span:
    """A DURATION; one that goes back in time is refused."""
    found = _SPAN.fullmatch(text.strip())
    if found is None or text.strip()[-1:] in "PT":
        raise Unfit(f"{text!r:.40} is no duration; one looks like PT30M or P1D")
    sign, weeks, days, hours, minutes, seconds = found.groups(default="0")
    if sign == "-":
        raise Unfit(f"its duration {text!r:.40} goes back in time")
    rest = timedelta(hours=int(hours), minutes=int(minutes), seconds=int(seconds))
    return Span(int(weeks) * 7 + int(days), rest)


class Extra(Struct, frozen=True):
    """An RDATE: one more start, and its own end if it was written as a period."""

    start: Stamp
    end: Stamp | Span | None = None


def extras(lines: list[Line], zones: Zones) -> list[Extra]:
    """Every RDATE, be it a date, a time or a period."""
    found: list[Extra] = []
    for line in lines:
        for one in line.value.split(","):
            first, slash, last = one.partition("/")
            if not slash:
                found += [Extra(stamp(first, line.params, zones))] if first else []
            elif "P" in last:
                found.append(Extra(stamp(first, line.params, zones), span(last)))
            else:
                end = stamp(last, line.params, zones)
                found.append(Extra(stamp(first, line.params, zones), end))
    return found


def text(raw: str) -> str:
    """A text without its escapes."""
    if "\\" not in raw:
        return raw
    return _ESCAPED.sub(lambda found: "\n" if found[1] in "nN" else found[1], raw)
