"""Starts that passed while nobody was there: what becomes of them is what the settings say."""

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.model.recurrence import OnMissed
from remit.model.review import ReviewAnswer
from remit.model.status import Status
from remit.settings import ScheduleSettings
from remit.testing import SleepyClock
from tests.calendar.caldav_servers import Server
from tests.calendar.caldav_stage import DAY, HOUR, NINE, Phone, Stage, agenda, event, todo
from tests.engine.rig import until
from tests.restoring import asked, restore, save

SKIP = ScheduleSettings(missed=OnMissed.SKIP)
ALL = ScheduleSettings(missed=OnMissed.RUN_ALL)


async def away(stage: Stage, phone: Phone, span: timedelta) -> list[str]:
    """Nobody is there while a daily series and a single event pass; return what is run then."""
    await stage.look()
    await phone.write("a", event("a", NINE + HOUR, "Report", "RRULE:FREQ=DAILY"))
    await phone.write("b", event("b", NINE + HOUR, "Call Anna"))
    await stage.look()
    await stage.restart(span)
    await stage.live(HOUR)
    fired = await stage.fired()
    assert set(fired.values()) <= {1}
    return sorted(f"{uid} {slot[:8]}" for uid, slot in fired)


async def test_missed_starts_are_not_run_if_the_settings_say_skip(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path, rules=SKIP) as (stage, phone):
        assert await away(stage, phone, 3 * DAY + 2 * HOUR) == []

        ended = [task for task in await stage.tasks() if task.status is Status.CANCELLED]
        assert {str(task.context["uid"]) for task in ended} == {"a", "b"}
        assert {task.result_summary for task in ended} == {
            "Skipped: Remit was not running, or the machine slept."
        }
        dropped = await stage.sql("SELECT key FROM occurrences WHERE state = 'dropped'")
        assert {str(row["key"])[:8] for row in dropped} == {
            *("", "20260302", "20260303", "20260304", "20260305")
        }
        # Those to come are run at their times.
        await stage.live(DAY, 6 * HOUR)
        assert [slot for _, slot in await stage.fired()] == ["20260306T100000Z"]


@pytest.mark.parametrize(
    ("rules", "days", "runs"),
    [
        (ALL, 3, "a 20260302, a 20260303, a 20260304, a 20260305, b 2026-03-"),
        # That the first had its task already does not matter.
        (replace(ALL, most=2), 5, "a 20260306, a 20260307, b 2026-03-"),
        (ScheduleSettings(), 2, "a 20260304, b 2026-03-"),
        (ScheduleSettings(catch_up=24), 3, "a 20260305"),
    ],
)
async def test_missed_starts_are_run_as_the_settings_say(
    server: Server, tmp_path: Path, rules: ScheduleSettings, days: int, runs: str
) -> None:
    async with agenda(server, tmp_path, rules=rules) as (stage, phone):
        assert await away(stage, phone, days * DAY + 2 * HOUR) == runs.split(", ")


async def test_what_was_written_shortly_after_its_time_was_not_missed(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path, rules=SKIP) as (stage, phone):
        await phone.write("a", event("a", NINE - timedelta(minutes=5), "Call Anna"))
        await stage.live(HOUR / 2)

        assert list((await stage.fired()).values()) == [1]


async def test_after_a_restore_starts_that_may_have_been_run_wait_for_a_word(
    server: Server, tmp_path: Path
) -> None:
    """An event that was known, one that was written since the backup, and one that is to come."""
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("a", event("a", NINE + HOUR, "Report", "RRULE:FREQ=DAILY"))
        await stage.look()
        saved = save(stage.world, tmp_path / "saved")
        await phone.write("b", event("b", NINE + 2 * HOUR, "Call Anna"))
        await stage.live(2 * DAY + 3 * HOUR, 3 * HOUR)
        assert sum((await stage.fired()).values()) == 4

        await stage.watch.close()
        await restore(stage.world, saved)
        stage.watch = stage._made()
        await phone.write("c", event("c", stage.now + HOUR, "Ring Bert"))
        await stage.live(2 * HOUR)

        assert {uid for uid, _ in await stage.fired()} == {"c"}
        questions = await asked(stage.world)
        titles = sorted([(await stage.world.get(each.task_id)).title for each in questions])
        assert titles == ["Call Anna", "Report"]  # one for all starts of a series
        for review in questions:
            await stage.world.decide(review, ReviewAnswer.APPROVE)
        await stage.live(HOUR)
        assert sorted(uid for uid, _ in await stage.fired()) == ["a", "b", "c"]
        assert set((await stage.fired()).values()) == {1}


@pytest.mark.parametrize("span", [timedelta(minutes=2), 3 * HOUR])
async def test_a_clock_that_was_far_ahead_for_a_while_costs_no_start_to_come(
    server: Server, tmp_path: Path, span: timedelta
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("a", event("a", NINE + HOUR, "Report", "RRULE:FREQ=DAILY"))
        await stage.live(2 * HOUR)
        right = stage.now
        stage.world.clock.jump(right + 400 * DAY)
        await stage.live(span)
        stage.world.clock.jump(right + span)
        await stage.world.run()
        await phone.write("b", event("b", right + 5 * HOUR, "Call Anna"))
        await stage.live(3 * DAY, 3 * HOUR)

        fired = await stage.fired()
        assert {"a 20260303", "a 20260304", "a 20260305", "b 2026-03-"} <= {
            f"{uid} {slot[:8]}" for uid, slot in fired
        }
        assert set(fired.values()) == {1}


@pytest.mark.parametrize(
    ("rules", "runs"),
    [
        (SKIP, []),
        (ScheduleSettings(catch_up=1), []),
        (ScheduleSettings(), ["a 20260302T140000Z"]),
        (ALL, [f"a 20260302T{hour}0000Z" for hour in (10, 12, 14)]),
    ],
)
async def test_starts_that_came_while_the_machine_slept_are_run_as_the_settings_say(
    server: Server, tmp_path: Path, rules: ScheduleSettings, runs: list[str]
) -> None:
    """The first start has its task already: the engine does not run it before it is decided."""
    async with agenda(server, tmp_path, rules=rules) as (stage, phone):
        await phone.write("a", event("a", NINE + HOUR, "Report", "RRULE:FREQ=HOURLY;INTERVAL=2"))
        await stage.look()
        await stage.world.run()
        stage.world.clock.advance(7 * HOUR - timedelta(minutes=30))
        stage.world.app.engine.nudge()
        await stage.world.app.engine.settled()
        await stage.live(timedelta(minutes=20))

        assert sorted(f"{uid} {slot}" for uid, slot in await stage.fired()) == runs


@pytest.mark.parametrize("kind", ["VEVENT", "VTODO"])
async def test_a_machine_that_slept_starts_what_fell_due_within_half_a_minute(
    server: Server, tmp_path: Path, kind: str
) -> None:
    """A start more than a day ahead has no task yet, so only the loop of the calendars knows it."""
    clock = SleepyClock()
    async with agenda(server, tmp_path, kind=kind, clock=clock) as (stage, phone):
        start = stage.now + 3 * DAY
        body = event("a", start, "Report")
        due = f"DUE:{start:%Y%m%dT%H%M%SZ}"
        await phone.write("a", body if kind == "VEVENT" else todo("a", due))
        await stage.look()
        await stage.look()
        stage.watch.start()
        await asyncio.sleep(0.05)

        clock.suspend(3 * DAY)
        await asyncio.sleep(0.05)
        assert not await stage.fired()
        clock.advance(timedelta(seconds=30))
        await until(partial(_has_fired, stage))


async def _has_fired(stage: Stage) -> bool:
    return bool(await stage.fired())
