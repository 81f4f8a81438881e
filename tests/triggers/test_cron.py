"""Lines of cron, read to the letter or refused."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.errors import BadInput
from remit.model import rrule
from remit.triggers import cron
from tests.soak import examples
from tests.tables import for_each, table

NOW: Final = datetime(2026, 3, 2, 9, 7, tzinfo=UTC)  # a Monday
ZONE: Final = "Europe/Berlin"


def local(line: str, count: int) -> list[str]:
    found = cron.repeats(line, ZONE, NOW)
    ahead = islice(rrule.slots(found, NOW), count)
    return [f"{at.astimezone(ZoneInfo(ZONE)):%a %d.%m. %H:%M}" for at in ahead]


@for_each(("line", "slots"), table(__file__, "slots"))
def test_a_line_comes_back_as_cron_reads_it(line: str, slots: list[str]) -> None:
    assert local(line, len(slots)) == slots


@for_each(("line", "why"), table(__file__, "refused"))
def test_what_cannot_be_kept_is_refused_with_a_sentence(line: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        cron.repeats(line, ZONE, NOW)


minute = st.sampled_from(["*", "0", "5,35", "*/20", "*/25", "10-12"])
hour = st.sampled_from(["*", "3", "*/6", "9-17", "22,23"])
day = st.sampled_from([("*", "*"), ("1,15", "*"), ("*", "1-5"), ("*", "sat,sun"), ("30", "*")])
month = st.sampled_from(["*", "3-4", "jun"])


@settings(max_examples=examples(40), deadline=None)
@given(minute, hour, day, month)
def test_every_minute_of_a_week_in_a_zone_without_summer_is_told_right(
    minute: str, hour: str, day: tuple[str, str], month: str
) -> None:
    """Held against a clock that goes minute by minute, and asks each field."""
    found = cron.repeats(f"{minute} {hour} {day[0]} {month} {day[1]}", "UTC", NOW)
    end = NOW + timedelta(days=7)
    mine = []
    for at in rrule.slots(found, NOW):
        if at > end:
            break
        mine.append(at)
    minutes = (NOW + timedelta(minutes=n) for n in range(1, 7 * 1440 + 1))
    wanted = [
        at
        for at in minutes
        if _is(minute, at.minute, 0, 59)
        and _is(hour, at.hour, 0, 23)
        and _is(day[0], at.day, 1, 31)
        and _is(month, at.month, 1, 12)
        and _is(day[1], (at.weekday() + 1) % 7, 0, 6)
    ]
    assert mine == wanted


def _is(field: str, value: int, least: int, most: int) -> bool:
    names = {"sat": 6, "sun": 0, "jun": 6}
    for part in field.split(","):
        span, _, step = part.partition("/")
        low, _, high = span.partition("-")
        if low == "*":
            start, end = least, most
        else:
            start = names[low] if low in names else int(low)
            end = int(high) if high else start
        if value in range(start, end + 1, int(step or 1)):
            return True
    return False
