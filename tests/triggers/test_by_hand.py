"""A run by hand is a task of its own: it uses up no slot, and the next one knows of it."""

from datetime import timedelta
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from remit.model.ids import SeriesId
from remit.model.recurrence import OnMissed, Overlap, Slot, SlotFate
from remit.model.status import Status
from remit.model.task import Task
from remit.settings import DeliverSettings, EngineSettings, ScheduleSettings, Settings
from remit.store import series, series_orders
from remit.store.database import Tx
from remit.testing import START, World, script
from remit.triggers import cue_admission
from tests.engine.rig import SlowBrain, until
from tests.test_repeat import DAILY, cue

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
THINKS: Final = replace(cue_admission.cue("Find news", ref="n", channel="outbox"), repeats=DAILY)


async def told(world: World, task: Task) -> list[Slot]:
    assert task.series_id is not None
    return await world.app.db.read(
        series_orders.slots_of_series, task.series_id, START, world.now + HOUR / 2
    )


async def test_who_asks_twice_within_a_minute_asks_once(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        first = await world.app.intake.admit(cue())
        await world.run()
        one, two = [await world.app.owner.run_now(first.id) for _ in range(2)]
        world.clock.advance(timedelta(minutes=1))
        later = await world.app.owner.run_now(first.id)
        await world.run()

    assert one.id == two.id != later.id
    assert len(world.outbox.sent) == 2


async def test_the_next_slot_knows_what_the_run_by_hand_came_to(tmp_path: Path) -> None:
    brain = script(
        [
            {"when": "All there is", "reply": "<deliverable>What is new.</deliverable>"},
            {"reply": "<deliverable>All there is.</deliverable>"},
        ]
    )
    async with World(tmp_path, brain=brain) as world:
        first = await world.app.intake.admit(THINKS)
        await world.run()
        await world.app.owner.run_now(first.id)
        await world.run(2 * HOUR)

    assert [parcel.body for parcel in world.outbox.sent] == ["All there is.", "What is new."]


async def test_what_is_due_already_is_begun_and_not_doubled(tmp_path: Path) -> None:
    busy = Settings(
        home=tmp_path, deliver=DeliverSettings(undo=0), engine=EngineSettings(parallel=1)
    )
    async with World(tmp_path, settings=busy) as world:
        first = await world.app.intake.admit(cue())
        await world.run()
        await world.app.engine.stop()
        world.clock.advance(HOUR)
        same = await world.app.owner.run_now(first.id)

    assert same.id == first.id


async def test_a_run_by_hand_is_nothing_that_is_skipped_or_moved(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        first = await world.app.intake.admit(cue())
        await world.run()
        await world.app.engine.stop()
        beside = await world.app.owner.run_now(first.id)
        assert first.series_id is not None
        await world.app.owner.skip_slot(first.series_id)
        skipped, ahead = await world.app.db.read(_coming, first.series_id)

        assert (await world.get(first.id)).status is Status.CANCELLED
        assert (await world.get(beside.id)).status is Status.NEW
        assert (skipped.at, skipped.fate) == (DAILY.first, SlotFate.SKIPPED)  # it can be taken back
        assert (ahead.at, ahead.fate) == (DAILY.first + DAY, None)


async def test_a_run_that_takes_too_long_is_cut_short_by_the_next_if_it_is_to_be(
    tmp_path: Path,
) -> None:
    brain, rules = SlowBrain(), ScheduleSettings(overlap=Overlap.CANCEL_OTHER, missed=OnMissed.SKIP)
    home = Settings(home=tmp_path, deliver=DeliverSettings(undo=0), schedule=rules)
    async with World(tmp_path, brain=brain, settings=home) as world:
        first = await world.app.intake.admit(THINKS)
        await world.app.repeater.catch_up()
        await world.app.engine.settled()
        world.clock.advance(HOUR)
        await brain.reached()
        world.clock.advance(DAY)
        await until(lambda: brain.cancelled == 1)
        brain.open.set()
        await world.run()
        slots = await told(world, first)

        assert (await world.get(first.id)).status is Status.CANCELLED
        assert [slot.fate for slot in slots] == [SlotFate.RAN, SlotFate.RAN]
        assert len(world.outbox.sent) == 1


def _coming(tx: Tx, series_id: SeriesId) -> list[Slot]:
    return series_orders.coming(tx, series.find(tx, series_id), START, 2)
