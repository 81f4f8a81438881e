"""Shared by the tests of expansion: a calendar around events, a window, expectations."""

from datetime import UTC, date, datetime, time
from typing import Final
from zoneinfo import ZoneInfo

from remit.calendar.expand import DEFAULT, slots
from remit.calendar.slots import CalendarLimits, CalendarSlot, Expansion, TimeWindow

UTC_ZONE: Final = ZoneInfo("UTC")


def midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def year(number: int = 2026) -> TimeWindow:
    return TimeWindow(datetime(number, 1, 1, tzinfo=UTC), datetime(number + 1, 1, 1, tzinfo=UTC))


def calendar(*parts: str) -> bytes:
    body = "".join(parts)
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Remit//tests//EN\n{body}END:VCALENDAR\n"
    return text.replace("\n", "\r\n").encode()


def event(uid: str, *lines: str, kind: str = "VEVENT") -> str:
    said = "".join(f"{line}\n" for line in lines)
    return f"BEGIN:{kind}\nUID:{uid}\nDTSTAMP:20260101T000000Z\nSUMMARY:{uid}\n{said}END:{kind}\n"


def expand(
    raw: bytes,
    window: TimeWindow | None = None,
    zone: ZoneInfo = UTC_ZONE,
    limits: CalendarLimits = DEFAULT,
) -> Expansion:
    return slots(raw, window or year(), zone, limits)


def line(slot: CalendarSlot) -> str:
    """Return a slot as the expectations are written: instant, key or -, flags."""
    flags = ",".join(sorted(slot.flags))
    return f"{zulu(slot.start)} {slot.key or '-'} {flags}".strip()


def zulu(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
