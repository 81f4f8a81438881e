"""When: timers, clocks that jump, and an engine that does nothing while nothing is due."""

import asyncio
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from remit.store import tasks
from remit.testing import FrozenClock, SleepyClock, World
from tests.engine.rig import PATIENCE, Rig, until
from tests.soak import SOAK

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MANY = 20_000 if SOAK else 500


async def test_a_clock_that_jumps_three_days_on_or_an_hour_back_runs_each_task_once(
    tmp_path: Path,
) -> None:
    async with World(tmp_path) as world:
        start = world.now
        for hour in range(1, 100):
            text = f"{hour:02}"
            await world.add(text, content=text, at=start + hour * HOUR)

        await world.run(2 * HOUR)
        world.clock.jump(world.now - HOUR)
        await world.run(3 * HOUR)
        world.clock.jump(world.now + 3 * DAY)
        await world.run()
        world.clock.jump(world.now - HOUR)
        await world.run(2 * DAY)

        # What falls due at once runs beside each other, so only each batch is in order.
        sent = sorted(parcel.body for parcel in world.outbox.sent)
        assert sent == [f"{n:02}" for n in range(1, 100)]


async def test_a_machine_that_slept_notices_what_fell_due_within_half_a_minute(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    clock = world.clock = SleepyClock()
    async with world:
        await world.add("morning", content="Good morning", at=world.now + DAY)
        await world.run()

        clock.suspend(DAY)
        await asyncio.sleep(0.05)
        assert world.outbox.sent == []
        clock.advance(timedelta(seconds=30))
        await until(lambda: len(world.outbox.sent) == 1)


class TickingClock(FrozenClock):
    """Every look at it takes a little time."""

    def now(self) -> datetime:
        self._at += timedelta(milliseconds=7)
        return self._at


async def test_what_falls_due_between_two_looks_at_the_clock_is_not_slept_over(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    clock = world.clock = TickingClock()
    async with world:
        for n, offset in enumerate(range(20, 90, 2), 1):
            await world.add(f"{n}", content="x", at=clock._at + timedelta(milliseconds=offset))
            await until(partial(sent, world, n))


def sent(world: World, many: int) -> bool:
    world.clock.advance(timedelta(milliseconds=1))
    return len(world.outbox.sent) == many


async def test_an_idle_engine_neither_reads_nor_writes(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.add("later", content="later", at=rig.now + 30 * DAY)
        await rig.run()
        await asyncio.sleep(0.05)
        before = rig.db.reads.total(), rig.db.writes.total()

        for _ in range(50):
            rig.clock.advance(timedelta(minutes=3))
            await asyncio.sleep(0.001)

        assert (rig.db.reads.total(), rig.db.writes.total()) == before


async def test_it_is_settled_only_if_nothing_came_at_the_last_moment(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.run()
        settled = asyncio.create_task(rig.app.engine.settled())
        await asyncio.sleep(0)  # it has seen that all is idle, and looks once more
        rig.app.engine.nudge()
        await asyncio.sleep(0)
        assert not settled.done()
        await asyncio.wait_for(settled, PATIENCE)


async def test_a_heart_beats_only_while_there_is_work(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        rig.clock.advance(timedelta(minutes=1))
        await asyncio.sleep(0.02)
        assert rig.db.writes["beat"] == 1  # the one at the start

        gate = asyncio.Event()
        rig.db.late["settle_send"] = gate
        await rig.add("x", content="x")
        await until(lambda: rig.db.writes["settle_send"] == 1)
        rig.clock.advance(timedelta(minutes=1))
        await until(lambda: rig.db.writes["beat"] == 2)
        gate.set()
        await rig.run()


@pytest.mark.soak
async def test_thousands_of_scheduled_tasks_cost_no_coroutine(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        await world.run()
        before = len(asyncio.all_tasks())
        for n in range(0, MANY, 500):
            at = world.now + timedelta(seconds=3600 + n)
            await asyncio.gather(*(world.add(f"{n + i}", content="x", at=at) for i in range(500)))
        await world.run()

        counts = await world.app.db.read(tasks.counts)
        assert counts == {"ready": MANY}
        assert len(asyncio.all_tasks()) <= before + 2  # the nap until the first of them
        assert world.app.engine.running == 0
