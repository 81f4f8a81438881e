"""Slots that are missed, late or meet: what the rules say becomes of them, and no slot vanishes."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from remit.model import rrule
from remit.model.ids import SeriesId, TaskId
from remit.model.recurrence import OnMissed, Overlap, Repeats, Series, SlotFate
from remit.model.rrule import ClockChange
from remit.model.status import Reason, Status
from remit.settings import ScheduleSettings
from remit.store import moves, series, series_orders, slots
from remit.triggers.repeat import following
from tests.store.scene import AT, Scene
from tests.tables import for_each
from tests.triggers.app_of_slots import INSTANT, Days, days

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
DAILY: Final = Repeats("FREQ=DAILY", "Europe/Berlin", AT + DAY)
HOURLY: Final = Repeats("FREQ=HOURLY", "Europe/Berlin", AT + HOUR)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path / "many.db")
    yield made
    made.close()


@pytest.fixture
def daily(tmp_path: Path) -> Iterator[Days]:
    made = days(tmp_path, DAILY)
    yield made
    made.check()
    assert made.scene.complaints() == []
    made.scene.close()


def ruled(made: Days, missed: OnMissed | None = None, overlap: Overlap | None = None) -> Days:
    made.scene.do(series.rule, made.series.id, missed=missed, overlap=overlap)
    return made


# How a slot ends ----------------------------------------------------------------------------------


def test_what_begins_long_after_its_time_is_late_and_says_by_how_much(daily: Days) -> None:
    daily.tick()
    daily.scene.now = DAILY.first + 3 * HOUR
    daily.tick()

    (slot,) = daily.ledger()
    assert (slot.fate, slot.late, slot.task_id) == (SlotFate.LATE, 3 * HOUR, daily.first.id)


def test_what_is_put_in_after_its_time_is_caught_up_and_what_lay_before_it_was_missed(
    daily: Days,
) -> None:
    daily.go(DAY)
    daily.scene.now += 4 * DAY + HOUR
    daily.tick()

    assert daily.fates() == [SlotFate.RAN, *[SlotFate.MISSED] * 3, SlotFate.CAUGHT_UP]
    assert daily.ledger()[-1].late == HOUR
    assert {slot.why for slot in daily.ledger()[1:4]} == {slots.ASLEEP}


def test_what_the_owner_cancelled_skipped_or_paused_away_is_skipped_with_its_reason(
    daily: Days,
) -> None:
    scene, series_id = daily.scene, daily.series.id
    daily.go(DAY)
    scene.do(moves.cancel, _coming(daily), scene.now)
    daily.go(DAY)
    scene.do(series_orders.skip, series_id, None, scene.now)
    daily.go(DAY)
    scene.do(series_orders.pause, series_id, scene.now)
    daily.go(2 * DAY + HOUR)
    scene.do(series_orders.resume, series_id, scene.now)
    daily.go(DAY)

    told = [(slot.fate, slot.why) for slot in daily.ledger()]
    assert told == [
        (SlotFate.RAN, None),
        (SlotFate.SKIPPED, series_orders.CANCELLED),
        (SlotFate.SKIPPED, series_orders.UNWANTED),
        (SlotFate.SKIPPED, series_orders.PAUSED),
        (SlotFate.SKIPPED, series_orders.PAUSED),
        (SlotFate.RAN, None),
    ]


def test_a_slot_that_waits_has_no_fate_yet(daily: Days) -> None:
    daily.tick()
    daily.scene.now = DAILY.first
    found = series_orders.slots_of_series(
        daily.scene.tx, daily.series.id, AT, DAILY.first + INSTANT
    )

    assert [(slot.fate, slot.task_id) for slot in found] == [(None, daily.first.id)]
    daily.tick()


def test_a_slot_that_was_moved_counts_as_late_only_after_its_new_time(daily: Days) -> None:
    daily.tick()
    scene = daily.scene
    scene.do(series_orders.move, daily.series.id, None, DAILY.first + 5 * HOUR, scene.now)
    scene.now = DAILY.first + 5 * HOUR
    daily.tick()

    assert daily.fates() == [SlotFate.RAN]


def test_what_was_moved_beyond_the_next_slot_is_not_passed_over_by_it(daily: Days) -> None:
    daily.tick()
    scene = daily.scene
    scene.do(series_orders.move, daily.series.id, None, DAILY.first + 25 * HOUR, scene.now)
    daily.go(DAY + DAY + HOUR)
    daily.tick()

    assert daily.fates() == [SlotFate.RAN, SlotFate.RAN]
    assert daily.ledger()[0].started == DAILY.first + 25 * HOUR


def test_the_latest_slots_are_told_whatever_lies_before_them(daily: Days) -> None:
    daily.go(2 * DAY)
    daily.scene.now += 20 * DAY
    daily.tick()
    daily.go(3 * DAY)

    found = series_orders.latest(daily.scene.tx, daily.series.id, daily.scene.now, 6)
    assert [slot.at for slot in found] == daily.ruled()[-6:]
    assert [slot.fate for slot in found][:2] == [SlotFate.MISSED, SlotFate.MISSED]


# Missed -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("missed", "then"),
    [
        (OnMissed.SKIP, [SlotFate.MISSED] * 4),
        (OnMissed.RUN_ONCE, [*[SlotFate.MISSED] * 3, SlotFate.CAUGHT_UP]),
        (OnMissed.RUN_ALL, [SlotFate.LATE, *[SlotFate.CAUGHT_UP] * 3]),
    ],
)
def test_what_was_missed_is_run_as_the_series_says(
    daily: Days, missed: OnMissed, then: list[SlotFate]
) -> None:
    ruled(daily, missed=missed).go(DAY)
    daily.scene.now += 4 * DAY + HOUR
    daily.tick()
    daily.go(DAY)

    assert daily.fates() == [SlotFate.RAN, *then, SlotFate.RAN]


def test_run_all_has_a_bound_and_the_oldest_give_way(tmp_path: Path) -> None:
    made = days(tmp_path, DAILY, ScheduleSettings(missed=OnMissed.RUN_ALL, most=3))
    made.go(DAY)
    made.scene.now += 20 * DAY + HOUR
    made.tick()

    assert made.fates().count(SlotFate.MISSED) == 17
    assert made.fates()[-3:] == [SlotFate.CAUGHT_UP] * 3
    made.check()


def test_a_slot_that_was_seen_in_time_is_run_by_whoever_runs_nothing_late(tmp_path: Path) -> None:
    made = days(tmp_path, DAILY, ScheduleSettings(missed=OnMissed.SKIP))
    made.tick()
    made.scene.now = DAILY.first + timedelta(seconds=30)
    made.tick()

    assert made.fates() == [SlotFate.RAN]


def test_what_is_older_than_the_settings_allow_is_not_caught_up(tmp_path: Path) -> None:
    yearly = replace(DAILY, rule="FREQ=YEARLY")
    made = days(tmp_path, yearly, ScheduleSettings(catch_up=24))
    made.tick()
    made.scene.now = yearly.first + 25 * HOUR
    made.tick()
    made.scene.now = datetime(2027, 3, 3, 9, 0, tzinfo=UTC) + 23 * HOUR
    made.tick()

    assert made.fates() == [SlotFate.MISSED, SlotFate.LATE]
    made.check()


def test_a_series_that_ended_while_nobody_was_there_says_what_it_missed(tmp_path: Path) -> None:
    thrice = replace(DAILY, rule="FREQ=DAILY;COUNT=3")
    made = days(tmp_path, thrice, ScheduleSettings(missed=OnMissed.SKIP))
    made.tick()
    made.scene.now += 10 * DAY
    made.tick()

    assert made.fates() == [SlotFate.MISSED] * 3
    assert [slot.late for slot in made.ledger()] == [None] * 3
    assert made.series.ended_at == made.scene.now
    made.check()


# Meeting ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overlap", "then"),
    [
        (Overlap.SKIP, [SlotFate.RAN, SlotFate.SKIPPED, SlotFate.SKIPPED, SlotFate.SKIPPED]),
        (Overlap.QUEUE_ONE, [SlotFate.RAN, SlotFate.SKIPPED, SlotFate.SKIPPED, SlotFate.LATE]),
        (Overlap.QUEUE_ALL, [SlotFate.RAN, SlotFate.LATE, SlotFate.LATE, SlotFate.LATE]),
        (Overlap.CANCEL_OTHER, [SlotFate.RAN, SlotFate.SKIPPED, SlotFate.SKIPPED, SlotFate.LATE]),
    ],
)
def test_what_is_due_while_one_is_at_work_goes_as_the_series_says(
    tmp_path: Path, overlap: Overlap, then: list[SlotFate]
) -> None:
    made = ruled(days(tmp_path, HOURLY), overlap=overlap)
    _at_work_for(made, hours=3)
    first = made.scene.get(made.first.id)
    made.scene.wait(120)
    made.end()
    made.tick()

    assert made.fates() == then
    assert first.cancel_requested == (overlap is Overlap.CANCEL_OTHER)
    made.check()
    assert made.scene.complaints() == []


def test_whoever_may_not_begin_beside_another_does_not_even_if_nobody_looked_before(
    tmp_path: Path,
) -> None:
    """The engine may be quicker than the watch; the claim asks for itself."""
    made = days(tmp_path, HOURLY, ScheduleSettings(overlap=Overlap.SKIP))
    scene = made.scene
    made.tick()
    scene.now = HOURLY.first
    made.tick(ends=False)
    (claim,) = made.at_work
    review = scene.question(claim, Reason.INPUT)
    scene.finish(claim, "wait", Status.NEEDS_REVIEW, review=review)
    scene.now = HOURLY.first + HOUR

    assert scene.claim() == []

    (second,) = [slot for slot in made.ledger() if slot.at == HOURLY.first]
    assert second.fate is SlotFate.RAN
    found = series_orders.slots_of_series(scene.tx, made.series.id, scene.now, scene.now + INSTANT)
    assert [(slot.fate, slot.why) for slot in found] == [(SlotFate.SKIPPED, slots.AT_WORK)]
    assert scene.complaints() == []


def test_a_slot_that_the_owner_cancelled_is_not_skipped_once_more(tmp_path: Path) -> None:
    made = ruled(days(tmp_path, HOURLY), overlap=Overlap.SKIP)
    made.tick()
    made.scene.now = HOURLY.first
    made.tick(ends=False)
    made.scene.do(moves.cancel, _coming(made), made.scene.now)
    made.scene.wait(3600)
    made.tick(ends=False)

    assert [slot.why for slot in made.ledger()] == [None, series_orders.CANCELLED]


def test_the_word_of_a_series_counts_more_than_the_settings(tmp_path: Path) -> None:
    made = days(tmp_path, HOURLY, ScheduleSettings(overlap=Overlap.SKIP))
    ruled(made, overlap=Overlap.QUEUE_ALL)
    _at_work_for(made, hours=2)
    made.end()
    made.tick()

    assert SlotFate.SKIPPED not in made.fates()


def test_only_so_many_wait_in_a_row(tmp_path: Path) -> None:
    made = days(tmp_path, HOURLY, ScheduleSettings(overlap=Overlap.QUEUE_ALL, most=3))
    _at_work_for(made, hours=6)

    assert made.fates() == [SlotFate.RAN, *[SlotFate.SKIPPED] * 3, None, None, None]


def test_what_one_owner_is_asked_about_is_cancelled_by_the_next_if_the_series_says_so(
    tmp_path: Path,
) -> None:
    made = ruled(days(tmp_path, HOURLY), overlap=Overlap.CANCEL_OTHER)
    scene = made.scene
    made.tick()
    scene.now = HOURLY.first
    made.tick(ends=False)
    (claim,) = made.at_work
    made.at_work = []
    scene.finish(claim, "wait", Status.NEEDS_REVIEW, review=scene.question(claim, Reason.INPUT))
    scene.now += HOUR
    made.tick()

    assert scene.get(claim.task.id).status is Status.CANCELLED
    assert made.fates() == [SlotFate.RAN, SlotFate.RAN]


# The clocks ---------------------------------------------------------------------------------------


@for_each(
    ("rule", "at", "flags"),
    [
        (
            "FREQ=DAILY;BYHOUR=2;BYMINUTE=30",
            datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
            {ClockChange.GAP},
        ),
        (
            "FREQ=DAILY;BYHOUR=2;BYMINUTE=30",
            datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
            {ClockChange.FOLD},
        ),
        (
            "FREQ=DAILY;BYHOUR=2;BYMINUTE=30",
            datetime(2026, 5, 1, 0, 30, tzinfo=UTC),
            set[ClockChange](),
        ),
        ("FREQ=HOURLY", datetime(2026, 3, 29, 1, 30, tzinfo=UTC), set[ClockChange]()),
        ("FREQ=DAILY", DAILY.first, set[ClockChange]()),
    ],
)
def test_a_slot_says_what_the_clocks_do_there(
    rule: str, at: datetime, flags: set[ClockChange]
) -> None:
    assert rrule.flags(replace(DAILY, rule=rule), at) == flags


# Many at once -------------------------------------------------------------------------------------


def test_each_series_has_its_own_place_in_the_crowd_and_keeps_it(scene: Scene) -> None:
    rules = ScheduleSettings(jitter=60)
    made = [days_of(scene, n) for n in range(40)]
    scene.now = DAILY.first

    def shifts() -> list[timedelta]:
        steps = [following(each, scene.ids, scene.now, rules) for each in made]
        tasks = [step.made[-1] for step in steps]
        return [
            task.scheduled_for - task.slot for task in tasks if task.scheduled_for and task.slot
        ]

    found = shifts()
    assert found == shifts()
    assert len(set(found)) > 30
    assert all(timedelta(0) <= shift < timedelta(minutes=1) for shift in found)


def test_a_shift_never_comes_near_the_next_slot(scene: Scene) -> None:
    each = replace(days_of(scene, 1), repeats=replace(DAILY, rule="FREQ=MINUTELY"))
    scene.now = DAILY.first
    (task,) = following(each, scene.ids, scene.now, ScheduleSettings(jitter=3600)).made

    assert task.slot is not None
    assert task.scheduled_for is not None
    assert task.scheduled_for - task.slot <= timedelta(seconds=15)


def test_what_is_held_back_in_a_crowd_begins_after_its_while_and_not_before(daily: Days) -> None:
    scene, hold = daily.scene, timedelta(seconds=40)
    daily.tick()
    scene.now = DAILY.first + HOUR
    step = following(daily.series, scene.ids, scene.now, daily.rules, hold)
    scene.do(slots.advance, daily.series, step, scene.now)

    assert scene.claim() == []
    scene.now += hold
    daily.tick()
    assert daily.fates() == [SlotFate.LATE]


def days_of(scene: Scene, n: int) -> Series:
    scene.wait()
    task = scene.admit(f"News {n}", repeats=DAILY)
    assert task.series_id is not None
    return series.find(scene.tx, SeriesId(task.series_id))


def _at_work_for(made: Days, hours: int) -> None:
    """The first run begins and takes so long."""
    made.tick()
    made.scene.now = HOURLY.first
    made.tick(ends=False)
    for _ in range(hours):
        made.scene.wait(3600)
        made.tick(ends=False)


def _coming(made: Days) -> TaskId:
    (found,) = series_orders.coming(made.scene.tx, made.series, made.scene.now, 1)
    assert found.task_id is not None
    return found.task_id
