"""Calendars: how fast a file becomes slots, and what one changed resource costs."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from bench.measure import Measurement, Stopwatch, read_peak_bytes, require_count
from remit.calendar import expand
from remit.calendar.slots import TimeWindow

SINCE: Final = datetime(2026, 11, 2, tzinfo=UTC)
UNTIL: Final = SINCE + timedelta(days=30)
ZONE: Final = "Europe/Berlin"
CHANGED: Final = 200

# Of a hundred events, as in an office: most are once and long ago, some repeat, a few were moved.
_RULES: Final = (
    "FREQ=WEEKLY;BYDAY=MO",
    "FREQ=WEEKLY;BYDAY=MO,WE,FR",
    "FREQ=DAILY",
    "FREQ=MONTHLY;BYMONTHDAY=15",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU",
    "FREQ=MONTHLY;BYDAY=-1FR",
    "FREQ=YEARLY",
    "FREQ=WEEKLY;BYDAY=TH;COUNT=20",
    "FREQ=DAILY;UNTIL=20260301T080000Z",
    "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH",
)


def run(size: int, home: Path) -> list[Measurement]:
    del home
    return measure(_ours, size)


def measure(expand: Callable[[bytes], int], size: int) -> list[Measurement]:
    """The same figures for whatever turns a calendar into starts."""
    rows = []
    for events in (size // 10, size):
        raw, watch = office(events), Stopwatch()
        with watch:
            found = expand(raw)
        require_count("slots", found, starts(events))
        rows.append(_row(f"{events:,} events in a file", events, watch))
    one, watch = office(1), Stopwatch()
    with watch:
        for _ in range(CHANGED):
            expand(one)
    return [*rows, _row("one changed resource at a time", CHANGED, watch)]


def office(events: int) -> bytes:
    """A calendar of so many events, from early 2025 on."""
    body = "".join(_event(number) for number in range(events))
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Remit//bench//EN\n{body}END:VCALENDAR\n"
    return text.replace("\n", "\r\n").encode()


def starts(events: int) -> int:
    """How many of them start in the window, counted by hand for the ten rules."""
    # Mondays, three days a week, every day, a 15th, Tuesdays, a Friday, three that are over, one.
    each = (5, 13, 30, 1, 2, 1, 0, 0, 0, 1)
    return sum(each[number // 9 % len(each)] for number in range(0, events, 9))


def _event(number: int) -> str:
    day = datetime(2025, 1, 6, tzinfo=UTC) + timedelta(days=number % 300)
    rule = ""
    if number % 9 == 0:
        day = datetime(2025, 1, 6, tzinfo=UTC)
        rule = f"RRULE:{_RULES[number // 9 % len(_RULES)]}\n"
    said = "Bring the figures of last week and what is open.\\n" * 4
    return (
        f"BEGIN:VEVENT\nUID:{number}@bench\nDTSTAMP:20250101T000000Z\nSUMMARY:Event {number}\n"
        f"DTSTART;TZID={ZONE}:{day:%Y%m%d}T090000\nDTEND;TZID={ZONE}:{day:%Y%m%d}T093000\n"
        f"{rule}DESCRIPTION:{said}\nLOCATION:Room 5\nEND:VEVENT\n"
    )


def _ours(raw: bytes) -> int:
    found = expand.slots(raw, TimeWindow(SINCE, UNTIL), ZoneInfo(ZONE))
    require_count("refused", len(found.refused), 0)
    return len(found.slots)


def _row(name: str, count: int, watch: Stopwatch) -> Measurement:
    return Measurement(
        name=name,
        value=count / watch.wall_seconds,
        unit="events/s",
        count=count,
        wall_seconds=watch.wall_seconds,
        cpu_seconds=watch.cpu_seconds,
        rss_bytes=read_peak_bytes(),
    )
