"""When something comes back: the days it falls on, the hours the clocks leave out or show twice."""

import contextlib
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.errors import BadInput
from remit.model import rrule
from remit.model.recurrence import Freq, Repeats
from tests.soak import examples
from tests.tables import for_each, table

BERLIN = "Europe/Berlin"
ZONES = (BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")
START = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)  # a Monday, 08:30 in Berlin


def at(
    year: int, month: int, day: int, hour: int = 0, minute: int = 0, zone: str = BERLIN
) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=ZoneInfo(zone)).astimezone(UTC)


def some(rule: str, count: int = 5, first: datetime = START, zone: str = BERLIN) -> list[datetime]:
    return list(islice(rrule.slots(Repeats(rule, zone, first), first - timedelta(days=1)), count))


def days(rule: str, count: int = 5, first: datetime = START) -> list[str]:
    local = (slot.astimezone(ZoneInfo(BERLIN)) for slot in some(rule, count, first))
    return [f"{slot:%a %d %b %H:%M}" for slot in local]


@for_each(("rule", "expected"), table(__file__, "days"))
def test_a_rule_falls_on_these_days(rule: str, expected: list[str]) -> None:
    assert days(rule, len(expected)) == expected


def test_every_other_week_is_counted_by_weeks_that_begin_on_monday() -> None:
    wednesday = at(2026, 3, 4, 8, 30)

    assert days("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE", 3, wednesday) == [
        "Wed 04 Mar 08:30",
        "Mon 16 Mar 08:30",
        "Wed 18 Mar 08:30",
    ]


@for_each("rule", ["FREQ=DAILY;COUNT=2", "FREQ=DAILY;UNTIL=20260303T235959Z"])
def test_a_rule_that_ends_names_nothing_after_its_end(rule: str) -> None:
    assert len(some(rule, 10)) == 2
    assert list(rrule.slots(Repeats(rule, BERLIN, START), START + timedelta(days=1))) == []


def test_the_29th_of_february_comes_every_four_years() -> None:
    first = at(2028, 2, 29, 9)
    found = [slot.year for slot in some("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", 3, first)]

    assert found == [2028, 2032, 2036]


@for_each("rule", ["FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30"])
def test_a_day_that_never_comes_is_not_waited_for(rule: str) -> None:
    assert some(rule) == [START]


@for_each(
    "rule",
    [
        "FREQ=DAILY",
        "FREQ=HOURLY",
        "FREQ=HOURLY;BYDAY=SU;BYMONTHDAY=-1",
        "FREQ=HOURLY;INTERVAL=1000000",
        "FREQ=YEARLY",
    ],
)
def test_time_itself_ends_and_so_does_a_rule(rule: str) -> None:
    late = datetime(9999, 12, 30, 12, tzinfo=UTC)

    assert len(list(rrule.slots(Repeats(rule, "UTC", late), late))) <= 2


# The clocks ---------------------------------------------------------------------------------------


def test_an_hour_that_does_not_exist_is_put_off_by_as_much_as_the_clocks_go_forward() -> None:
    found = some("FREQ=DAILY;BYHOUR=2;BYMINUTE=30", 4, at(2026, 3, 27, 2, 30))

    assert found == [
        at(2026, 3, 27, 2, 30),
        at(2026, 3, 28, 2, 30),
        at(2026, 3, 29, 3, 30),
        at(2026, 3, 30, 2, 30),
    ]


def test_an_hour_that_comes_twice_is_run_the_first_time() -> None:
    found = some("FREQ=DAILY;BYHOUR=2;BYMINUTE=30", 3, at(2026, 10, 24, 2, 30))

    assert found[1] == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert found[2] == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)


def test_two_times_that_become_one_are_run_once() -> None:
    found = some("FREQ=DAILY;BYHOUR=2,3;BYMINUTE=30", 6, at(2026, 3, 28, 2, 30))

    assert found[2:4] == [at(2026, 3, 29, 3, 30), at(2026, 3, 30, 2, 30)]


def test_hours_are_counted_whatever_the_clocks_do() -> None:
    found = some("FREQ=HOURLY", 6, at(2026, 3, 29, 0))

    assert {later - earlier for earlier, later in pairwise(found)} == {timedelta(hours=1)}


# Whatever the rule --------------------------------------------------------------------------------

numbers = st.integers(1, 5)
parts = st.fixed_dictionaries(
    {"FREQ": st.sampled_from(list(Freq)), "INTERVAL": numbers},
    optional={
        "BYMONTH": st.sampled_from(["1", "2,3", "12"]),
        "BYMONTHDAY": st.sampled_from(["1", "13,-1", "31", "-3"]),
        "BYDAY": st.sampled_from(["MO", "SA,SU", "TU,TH"]),
        "COUNT": numbers,
    },
)
moments = st.datetimes(datetime(2026, 1, 1), datetime(2031, 1, 1)).map(  # noqa: DTZ001 - made aware
    lambda moment: moment.replace(tzinfo=UTC, microsecond=0)
)


@settings(max_examples=examples(200), deadline=None)
@given(parts=parts, first=moments, zone=st.sampled_from(ZONES))
def test_slots_only_ever_go_on_and_every_one_of_them_keeps_the_rule(
    parts: dict[str, object], first: datetime, zone: str
) -> None:
    text = ";".join(f"{name}={value}" for name, value in parts.items())
    rule, found = rrule.read(text), some(text, 8, first, zone)

    assert found[0] == first
    assert all(earlier < later for earlier, later in pairwise(found))
    for slot in found[1:]:
        local = slot.astimezone(ZoneInfo(zone)).date()
        assert not rule.months or local.month in rule.months
        assert not rule.weekdays or local.weekday() in {weekday.day for weekday in rule.weekdays}
        assert not rule.monthdays or any(_is(local, day) for day in rule.monthdays)


@settings(max_examples=examples(200), deadline=None)
@given(parts=parts, first=moments, zone=st.sampled_from(ZONES), hours=st.integers(0, 5000))
def test_where_one_looks_from_changes_nothing(
    parts: dict[str, object], first: datetime, zone: str, hours: int
) -> None:
    text = ";".join(f"{name}={value}" for name, value in parts.items())
    repeats, whence = Repeats(text, zone, first), first + timedelta(hours=hours)
    from_the_start = list(islice(rrule.slots(repeats, first - timedelta(1)), 300))
    later = [slot for slot in from_the_start if slot > whence]

    found = list(islice(rrule.slots(repeats, whence), 3))
    if later or len(from_the_start) < 300:
        assert found[: len(later)] == later[:3]


@settings(max_examples=examples(100), deadline=None)
@given(
    first=moments,
    zone=st.sampled_from(ZONES),
    wall=st.times().map(lambda wall: time(wall.hour, wall.minute)),
)
def test_a_daily_rule_comes_once_a_day_at_the_time_on_the_wall(
    first: datetime, zone: str, wall: time
) -> None:
    rule = f"FREQ=DAILY;BYHOUR={wall.hour};BYMINUTE={wall.minute}"
    _, *found = some(rule, 400, first.replace(second=0), zone)
    local = [slot.astimezone(ZoneInfo(zone)) for slot in found]

    assert all(later.date() - earlier.date() == timedelta(1) for earlier, later in pairwise(local))
    astray = [slot for slot in local if slot.time() != wall]
    assert len(astray) <= 2, "only where the clocks go forward"


def _is(day: date, wanted: int) -> bool:
    month = [day.replace(day=1) + timedelta(n) for n in range(31)]
    inside = [each for each in month if each.month == day.month]
    return (
        inside[wanted - 1 if wanted > 0 else wanted] == day if abs(wanted) <= len(inside) else False
    )


# What is refused ----------------------------------------------------------------------------------


@for_each(("rule", "why"), table(__file__, "refused"))
def test_what_cannot_be_kept_is_refused_with_a_sentence(rule: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        rrule.slots(Repeats(rule, BERLIN, START), START)


@for_each("zone", ["", "Mars/Base", "../etc/passwd", "\x00"])
def test_a_zone_that_is_none_is_refused(zone: str) -> None:
    with pytest.raises(BadInput, match="There is no time zone"):
        rrule.slots(Repeats("FREQ=DAILY", zone, START), START)


@given(text=st.text(alphabet="FREQDAILYBMOTHN=;,-+0123456789 ", max_size=40))
def test_no_text_at_all_breaks_the_reading(text: str) -> None:
    with contextlib.suppress(BadInput):
        assert rrule.read(text).interval > 0
