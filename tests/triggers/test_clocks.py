"""Whatever a clock does: each slot is accounted for, and none is begun twice."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.model.caller import OWNER, Scope
from remit.model.delivery import SendRetry
from remit.model.recurrence import OnMissed, Overlap, Repeats, SlotFate
from remit.model.review import ReviewAnswer
from remit.model.status import Status
from remit.model.task import Task
from remit.operations.callers import SIGN_IN_LIFE, CallerRegistry
from remit.settings import DeliverSettings, ScheduleSettings, Settings
from remit.store import inbox, search, series, series_orders, sessions, slots
from remit.store.opening import Sqlite
from remit.store.search import TaskFilter
from remit.testing import START, World, script
from remit.triggers import cue_admission
from remit.triggers.repeat import LOOP, following
from tests.converse.talking import began, ids, say
from tests.restoring import asked, restore, save
from tests.soak import examples
from tests.test_repeat import cue
from tests.triggers.app_of_slots import INSTANT, Days, days
from tests.triggers.test_by_hand import THINKS

MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
# Two days before the clocks of Europe go forward, and of Lord Howe by half an hour back.
SPRING: Final = datetime(2026, 3, 27, 9, 0, tzinfo=UTC)

ZONES: Final = (
    *("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"),
    *("America/Santiago", "Africa/Casablanca", "Pacific/Apia", "Asia/Tehran", "America/Nuuk"),
)
RULES: Final = (
    "FREQ=DAILY;BYHOUR=2;BYMINUTE=30",
    "FREQ=HOURLY",
    "FREQ=HOURLY;INTERVAL=7",
    "FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=0,30",
    "FREQ=WEEKLY;BYDAY=SU;BYHOUR=2;BYMINUTE=15",
    "FREQ=DAILY;COUNT=5",
)


def _wait(made: Days, minutes: int) -> None:
    made.go(minutes * MINUTE)


def _sleep(made: Days, minutes: int) -> None:
    """A laptop is shut: time passes, and nobody looks until it has."""
    made.scene.now += minutes * MINUTE
    made.tick()


def _set_back(made: Days, minutes: int) -> None:
    made.scene.now -= min(minutes * MINUTE, made.scene.now - SPRING)
    made.tick()


def _restart(made: Days, minutes: int) -> None:
    """A process ends with what it had begun, and the next one does it."""
    made.tick(ends=False)
    made.scene.now += minutes * MINUTE
    made.end()
    made.tick()


_ACTS: Final[tuple[Callable[[Days, int], None], ...]] = (_wait, _sleep, _set_back, _restart)
acts = st.tuples(
    st.sampled_from(_ACTS),
    st.sampled_from((1, 30, 60, 61, 24 * 60, 3 * 24 * 60)) | st.integers(1, 5 * 24 * 60),
)


@settings(max_examples=examples(60), deadline=None)
@given(
    rule=st.sampled_from(RULES),
    zone=st.sampled_from(ZONES),
    missed=st.sampled_from(list(OnMissed)),
    overlap=st.sampled_from(list(Overlap)),
    lived=st.lists(acts, max_size=10),
)
def test_no_slot_vanishes_and_none_is_begun_twice_whatever_the_clock_does(
    rule: str,
    zone: str,
    missed: OnMissed,
    overlap: Overlap,
    lived: list[tuple[Callable[[Days, int], None], int]],
) -> None:
    rules = ScheduleSettings(missed=missed, overlap=overlap, most=20)
    with TemporaryDirectory() as folder:
        made = days(Path(folder), Repeats(rule, zone, SPRING + HOUR), rules, now=SPRING)
        for act, minutes in lived:
            act(made, minutes)
            made.check()
        assert made.scene.complaints() == []
        made.scene.close()


async def test_even_without_the_lock_two_watches_put_in_each_slot_once(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        task = await world.app.intake.admit(cue())
        assert task.series_id is not None
        await world.app.repeater.stop()
        other = Sqlite(world.app.settings.database_file)
        found = await world.app.db.read(series.find, task.series_id)
        world.clock.advance(3 * DAY + 2 * HOUR)  # and at once, before the engine sees the time
        steps = [following(found, world.app.ids, world.now) for _ in range(2)]
        # The app first: it keeps the end of the journal in mind, and goes on writing below.
        won = [
            await world.app.db.write(slots.advance, found, steps[0], world.now),
            await other.write(slots.advance, found, steps[1], world.now),
        ]
        await other.close()
        await world.run(MINUTE)
        told = await world.app.db.read(
            series_orders.slots_of_series, task.series_id, START, world.now + INSTANT
        )

    assert sorted(won) == [False, True]
    assert [slot.fate for slot in told] == [*[SlotFate.MISSED] * 3, SlotFate.CAUGHT_UP]
    assert len(world.outbox.sent) == 1


@pytest.mark.parametrize(("missed", "slept"), [("skip", 5 * HOUR), ("run_once", 100 * HOUR)])
async def test_a_slot_that_came_while_the_machine_slept_is_not_run_late_before_anybody_decides(
    tmp_path: Path, missed: str, slept: timedelta
) -> None:
    rules = ScheduleSettings(missed=OnMissed(missed), stagger=0)
    home = Settings(home=tmp_path, deliver=DeliverSettings(undo=0), schedule=rules)
    weekly = Repeats("FREQ=WEEKLY", "UTC", START + HOUR)
    async with World(tmp_path, settings=home) as world:
        first = await world.app.intake.admit(cue(repeats=weekly))
        await world.run()
        await world.app.background.stop(LOOP)  # it naps a little longer than the engine
        world.clock.advance(HOUR + slept)
        world.app.engine.nudge()
        await world.app.engine.settled()
        sent = len(world.outbox.sent)
        assert first.series_id is not None
        told = await world.app.db.read(
            series_orders.slots_of_series, first.series_id, START, world.now + INSTANT
        )

    assert sent == 0
    assert [slot.fate for slot in told] == [SlotFate.MISSED]


async def test_a_run_after_the_clock_was_set_back_is_remembered_too(tmp_path: Path) -> None:
    brain = script([{"reply": "<deliverable>Found it.</deliverable>"}])
    async with World(tmp_path, brain=brain) as world:
        await world.app.intake.admit(THINKS)
        await world.run(12 * DAY)
        (coming,) = await _ready(world)
        world.clock.jump(world.now - 8 * DAY)
        beside = await world.app.owner.run_now(coming.id)
        await world.run()
        shared = await world.app.db.read(sessions.look_back, coming)

    assert shared.summary is not None
    assert beside.id in {run.task_id for run in shared.runs}


async def _ready(world: World) -> list[Task]:
    page = await world.app.db.read(search.page, TaskFilter(limit=500))
    return [task for task in page.tasks if task.status is Status.READY]


# A clock that was wrong for a while ---------------------------------------------------------------

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


@pytest.mark.parametrize("restarts", [False, True])
async def test_what_the_owner_left_out_stays_out_if_the_clock_is_behind_for_a_while(
    tmp_path: Path, restarts: bool
) -> None:
    async with World(tmp_path) as world:
        await repeating(world, "FREQ=DAILY")
        await world.run(2 * DAY + 2 * HOUR)
        (found,) = await world.app.db.read(series.list_series)
        began, coming = world.now, found.last
        for wanted in (None, coming + DAY, coming + 2 * DAY):  # the last has no occurrence yet
            await world.app.db.write(series_orders.skip, found.id, wanted, world.now)
        await world.run()
        await wrong_for_two_minutes(world, -7 * HOUR, restarts=restarts)

        await world.run(5 * DAY)

        assert await slots_run(world, began, world.now) == {
            coming + 3 * DAY: 1,
            coming + 4 * DAY: 1,
        }


@pytest.mark.parametrize("restarts", [False, True])
async def test_what_came_before_a_restore_is_asked_about_if_the_clock_was_behind_for_a_while(
    tmp_path: Path, restarts: bool
) -> None:
    async with World(tmp_path) as world:
        await repeating(world, "FREQ=DAILY")
        await world.run(2 * HOUR)
        saved = save(world, tmp_path / "saved")
        await world.run(8 * HOUR)
        await restore(world, saved)
        arrived = world.now - HOUR
        await wrong_for_two_minutes(world, -7 * HOUR, restarts=restarts)

        again = cue_admission.cue("again", ref="again", channel="outbox", content="A reply.")
        await world.app.intake.admit(replace(again, said_at=arrived))
        await world.run(HOUR)
        assert len(await asked(world)) == 1


async def test_who_signed_in_by_a_clock_that_was_ahead_is_in_no_longer_than_others(
    tmp_path: Path,
) -> None:
    async with World(tmp_path) as world:
        keeper = CallerRegistry(world.app.db, world.clock, world.app.ids, "token")
        await repeating(world, "FREQ=DAILY")
        await world.run(2 * HOUR)
        right = world.now
        world.clock.jump(right + AHEAD)
        await world.run(MINUTE)
        code = await keeper.code()
        await keeper.new_sign_in()
        await keeper.make(OWNER, "late", frozenset({Scope.READ}), agent=False, days=3)
        while not await keeper.limiter.begin("192.0.2.1", ""):
            pass
        world.clock.jump(right + 2 * MINUTE)
        await world.run()

        assert await keeper.sign_in_by_code(code) is None
        (there,) = await keeper.sign_ins()
        assert there.expires_at <= world.now + SIGN_IN_LIFE
        (token,) = await keeper.tokens()
        assert token.expires_at is not None
        assert token.expires_at <= world.now + 3 * DAY
        assert await keeper.limiter.begin("192.0.2.1", "") <= HOUR
