"""Forty zones, two years: no instant twice, no day forgotten, gap and fold as promised."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import pytest

from remit.calendar.slots import CalendarLimits, SlotFlag, TimeWindow
from tests.calendar.rig import calendar, event, expand
from tests.soak import one_in
from tests.tables import text_table

# Half hours, quarters, turns at midnight, both halves of the world, Ramadan, none at all.
ZONES: Final = text_table(__file__, "zones")
SINCE: Final = datetime(2026, 1, 1, tzinfo=UTC)
UNTIL: Final = datetime(2028, 1, 1, tzinfo=UTC)
DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
FAR: Final = timedelta(hours=30)


class Meant(NamedTuple):
    """What a wall time is, found by trying the offsets around it."""

    at: datetime
    turn: str


def test_there_are_forty_zones_and_most_of_them_turn_their_clocks() -> None:
    assert len(set(ZONES)) == 40
    assert sum(bool(list(_turns(ZoneInfo(name)))) for name in ZONES) > 25


@one_in(4)
@pytest.mark.parametrize("name", ZONES)
def test_a_daily_series_starts_once_each_day_whatever_the_clocks_do(name: str) -> None:
    zone = ZoneInfo(name)
    for at in sorted({time(9), *(_within(turn, zone) for turn in _turns(zone))}):
        raw = calendar(event("a", f"DTSTART;TZID={name}:20251225T{at:%H%M%S}", "RRULE:FREQ=DAILY"))
        found = expand(raw, TimeWindow(SINCE, UNTIL), zone)

        wanted = {meant.at: meant.turn for meant in _meant_each_day(at, zone)}
        turns = {
            slot.start: "".join(slot.flags & {SlotFlag.GAP, SlotFlag.FOLD}) for slot in found.slots
        }
        assert turns == wanted
        assert len(turns) == len(found.slots)
        # Each day on the wall has its own, but for those that never were.
        assert len(turns) in (729, 730, 731)


@one_in(4)
@pytest.mark.parametrize("name", ZONES)
def test_an_hourly_series_starts_every_hour_that_passes(name: str) -> None:
    zone = ZoneInfo(name)
    for turn in _turns(zone):
        first = (turn - DAY).astimezone(zone)
        raw = calendar(
            event("a", f"DTSTART;TZID={name}:{first:%Y%m%dT%H%M%S}", "RRULE:FREQ=HOURLY;COUNT=48")
        )
        found = expand(raw, TimeWindow(turn - 2 * DAY, turn + 3 * DAY), zone)

        starts = [slot.start for slot in found.slots]
        assert starts == [turn - DAY + n * HOUR for n in range(48)]


@one_in(4)
@pytest.mark.parametrize("name", ZONES)
def test_windows_that_meet_have_every_slot_in_one_of_them(name: str) -> None:
    zone = ZoneInfo(name)
    raw = calendar(
        event("a", f"DTSTART;TZID={name}:20260101T023000", "RRULE:FREQ=DAILY"),
        event("b", "DTSTART:20260101T003000", "RRULE:FREQ=WEEKLY;BYDAY=SU,MO"),
        event("c", "DTSTART;VALUE=DATE:20260101", "RRULE:FREQ=DAILY;INTERVAL=3"),
    )
    limits = CalendarLimits(slots=100_000)
    whole = expand(raw, TimeWindow(SINCE, UNTIL), zone, limits)

    edges = [SINCE + n * timedelta(days=35) for n in range(22)] + [UNTIL]
    pieces = [
        slot
        for since, until in pairwise(edges)
        if since < until
        for slot in expand(raw, TimeWindow(since, min(until, UNTIL)), zone, limits).slots
    ]
    assert pieces == list(whole.slots)
    assert len({(slot.uid, slot.start) for slot in pieces}) == len(pieces)


def _turns(zone: ZoneInfo) -> Iterator[datetime]:
    """The instants in the two years at which the offset changes, to the minute."""
    at = SINCE
    while at < UNTIL:
        if _offset(at, zone) != _offset(at + DAY, zone):
            low, high = at, at + DAY
            while high - low > timedelta(minutes=1):
                middle = low + (high - low) // 2
                middle = middle.replace(second=0, microsecond=0)
                if _offset(middle, zone) == _offset(low, zone):
                    low = max(middle, low + timedelta(minutes=1))
                else:
                    high = middle
            yield low if _offset(low, zone) != _offset(at, zone) else high
        at += DAY


def _within(turn: datetime, zone: ZoneInfo) -> time:
    """A time of day that the clocks skip, or show twice, at a turn."""
    before, after = _offset(turn - HOUR, zone), _offset(turn, zone)
    edge = (turn + min(before, after)).replace(tzinfo=None)
    return (edge + abs(after - before) / 2).time()


def _meant_each_day(at: time, zone: ZoneInfo) -> Iterator[Meant]:
    day = datetime(2025, 12, 25, tzinfo=UTC).date()
    while day.year < 2028 or day.day < 3:
        meant = _meant(datetime.combine(day, at, UTC), zone)
        if SINCE <= meant.at < UNTIL:
            yield meant
        day += DAY


def _meant(wall: datetime, zone: ZoneInfo) -> Meant:
    """Try every offset the zone has around a wall time; `wall` wears UTC for arithmetic alone."""
    around = {_offset(wall + n * FAR, zone) for n in (-1, 0, 1)}
    hits = sorted({wall - offset for offset in around if _shows(wall - offset, zone) == wall})
    if len(hits) == 2:
        return Meant(hits[0], "fold")
    if hits:
        return Meant(hits[0], "")
    # It never shows: the clocks before the gap would have shown it then.
    return Meant(wall - _offset(wall - FAR, zone), "gap")


def _shows(at: datetime, zone: ZoneInfo) -> datetime:
    return at.astimezone(zone).replace(tzinfo=UTC, fold=0)


def _offset(at: datetime, zone: ZoneInfo) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta(0)
