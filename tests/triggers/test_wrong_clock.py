"""A clock that is 400 days ahead for two minutes leaves nothing waiting for that day."""

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from remit.model.delivery import SendRetry
from remit.model.recurrence import OnMissed, Overlap, Repeats
from remit.model.review import ReviewAnswer
from remit.model.status import Status
from remit.settings import DeliverSettings, ScheduleSettings, Settings
from remit.store import inbox, search, series
from remit.store.search import TaskFilter
from remit.testing import START, World
from remit.triggers import cue_admission
from tests.converse.talking import began, ids, say
from tests.restoring import asked, restore, save

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
AHEAD: Final = timedelta(days=400)


async def repeating(world: World, rule: str, first: timedelta = HOUR) -> None:
    cue = cue_admission.cue("news", ref="news", channel="outbox", content="News.")
    await world.app.intake.admit(replace(cue, repeats=Repeats(rule, "UTC", START + first)))


async def wrong_for_two_minutes(world: World, by: timedelta, *, restarts: bool) -> None:
    right = world.now
    world.clock.jump(right + by)
    await world.run(timedelta(minutes=2))
    world.clock.jump(right + timedelta(minutes=2))
    if restarts:
        await world.restart()
    await world.run()


async def slots_run(world: World, since: datetime, until: datetime) -> Counter[datetime]:
    """How often each slot was run; one may have been by the wrong clock."""
    page = await world.app.db.read(search.page, TaskFilter(limit=500))
    done = [task.slot for task in page.tasks if task.slot and task.started_at]
    return Counter(slot for slot in done if since < slot <= until)


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize(
    ("rule", "missed"),
    [
        *(("FREQ=DAILY", missed) for missed in OnMissed),
        ("FREQ=DAILY;COUNT=30", OnMissed.RUN_ONCE),  # by the wrong clock it had ended
        ("FREQ=HOURLY;INTERVAL=6", OnMissed.RUN_ALL),
    ],
)
async def test_a_series_goes_on_at_its_next_slot_after_the_clock_is_put_right(
    tmp_path: Path, rule: str, missed: OnMissed, restarts: bool
) -> None:
    settings = Settings(
        home=tmp_path, deliver=DeliverSettings(undo=0), schedule=ScheduleSettings(missed=missed)
    )
    async with World(tmp_path, settings=settings) as world:
        await repeating(world, rule)
        await world.run(2 * DAY + 2 * HOUR)
        began = world.now
        await wrong_for_two_minutes(world, AHEAD, restarts=restarts)

        await world.run(3 * DAY)

        ran = await slots_run(world, began, world.now)
        assert len(ran) == (12 if "HOURLY" in rule else 3)  # none left out
        assert set(ran.values()) == {1}
        (found,) = await world.app.db.read(series.list_series)
        assert found.last - world.now <= DAY
        assert found.ended_at is None


@pytest.mark.parametrize("restarts", [False, True])
async def test_a_restore_by_a_clock_that_was_ahead_asks_about_nothing_that_comes_later(
    tmp_path: Path, restarts: bool
) -> None:
    async with World(tmp_path) as world:
        await repeating(world, "FREQ=DAILY")
        await world.run(2 * HOUR)
        saved = save(world, tmp_path / "saved")
        right = world.now
        world.clock.jump(right + AHEAD)
        await restore(world, saved)
        await world.run(timedelta(minutes=2))
        for review in await asked(world):
            await world.decide(review, ReviewAnswer.DECLINE)
        world.clock.jump(right + timedelta(minutes=2))
        if restarts:
            await world.restart()
        await world.run()
        before = len(world.outbox.sent)

        await world.run(3 * DAY)
        answer = await say(world, await began(world), "Remind me tomorrow at 9 to call mom")
        assert await asked(world) == []
        assert len(ids(answer)) == 1
        assert len(world.outbox.sent) == before + 3


async def test_a_series_whose_first_slot_is_still_to_come_begins_with_it(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        await repeating(world, "FREQ=DAILY", 2 * DAY)
        await world.run(HOUR)
        await wrong_for_two_minutes(world, AHEAD, restarts=False)

        await world.run(3 * DAY)
        ran = await slots_run(world, START, world.now)
        assert ran == {START + 2 * DAY: 1, START + 3 * DAY: 1}


async def test_tries_and_questions_wait_no_longer_than_they_would_have(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        later = await world.add("Later", content="Later.", at=START + 2 * DAY)
        world.clock.jump(START + AHEAD)
        world.outbox.answers = [SendRetry("busy", 60.0)]
        tried = await world.add("Tell", content="Hello!")
        asking = await world.add("Tell mum", content="Hello!", recipient="mum")
        await world.run()
        (review,) = await world.waiting()
        assert review.id is not None
        await world.app.db.write(inbox.put_off, review.id, world.now + HOUR, world.now)
        world.clock.jump(START + HOUR)
        await world.run(timedelta(minutes=5))

        assert (await world.get(tried.id)).status is Status.COMPLETED
        (review,) = await world.waiting()
        assert review.task_id == asking.id
        assert review.later_until is not None
        assert review.later_until <= world.now
        await world.decide(review, ReviewAnswer.APPROVE)
        await world.run(3 * DAY)
        assert (await world.get(asking.id)).status is Status.COMPLETED
        assert (await world.get(later.id)).status is Status.COMPLETED  # a year early, and once


@pytest.mark.parametrize("overlap", Overlap)
async def test_a_clock_that_goes_back_to_long_ago_makes_no_slot_run_twice(
    tmp_path: Path, overlap: Overlap
) -> None:
    """As a board without a battery starts: long ago, and right some minutes later."""
    settings = Settings(
        home=tmp_path, deliver=DeliverSettings(undo=0), schedule=ScheduleSettings(overlap=overlap)
    )
    async with World(tmp_path, settings=settings) as world:
        await repeating(world, "FREQ=DAILY")
        await world.run(5 * DAY + 2 * HOUR)
        sent = len(world.outbox.sent)
        for ago in (20_000 * DAY, 3 * DAY):
            await wrong_for_two_minutes(world, -ago, restarts=True)
            await world.run(HOUR)
            assert len(world.outbox.sent) == sent
        await world.run(DAY)
        assert len(world.outbox.sent) == sent + 1
