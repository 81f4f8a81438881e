"""A stop in good order, a start after any other, and a disk that is full for a while."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from remit.engine.local import DISPATCH
from remit.model.delivery import Delivery
from remit.model.run import Run
from remit.model.status import Reason, Status
from remit.model.task import Task
from remit.settings import EngineSettings
from remit.store import queue, runs
from tests.engine.rig import (
    PATIENCE,
    SLOW,
    Rig,
    SlowBrain,
    SlowCheck,
    SlowOutbox,
    everything,
    until,
)

NOW = EngineSettings(stop_limit=0)  # wait for nobody


async def outcomes(rig: Rig, task: Task) -> list[str | None]:
    found: list[Run] = await rig.app.db.read(runs.of_task, task.id)
    return [run.outcome for run in reversed(found)]


async def test_a_stop_lets_the_step_end_and_the_next_start_goes_on_behind_it(
    tmp_path: Path,
) -> None:
    brain = SlowBrain()
    async with Rig(tmp_path, brain=brain) as rig:
        task = await rig.admit("slow")
        await brain.reached()
        stopping = asyncio.create_task(rig.app.engine.stop())
        await asyncio.sleep(0.02)
        assert not stopping.done()
        brain.open.set()
        await stopping

        parked = await rig.get(task.id)
        assert parked.status is Status.RUNNING
        assert await rig.steps(task.id) == ["plan_step", "retrieve_context", "execute_tool"]
        assert rig.outbox.tried == []
        await rig.restart()
        await rig.run()

        assert (await rig.get(task.id)).status is Status.COMPLETED
        assert brain.entered == 1
        assert await outcomes(rig, task) == ["parked", "done"]


@pytest.mark.parametrize("where", ["brain", "check"])
async def test_a_step_that_does_not_end_in_time_is_parked_and_done_again(
    tmp_path: Path, where: str
) -> None:
    brain, check = SlowBrain(), SlowCheck()
    slow = brain if where == "brain" else check
    (check if where == "brain" else brain).open.set()
    async with Rig(tmp_path, brain=brain, checks={"slow": check}, limits=NOW) as rig:
        task = await rig.admit("slow", contract=SLOW)
        await slow.reached()
        await rig.restart()

        assert slow.cancelled == 1
        parked = await rig.get(task.id)
        assert (parked.attempts, parked.crashes) == (0, 0)
        slow.open.set()
        await rig.run()
        assert (await rig.get(task.id)).status is Status.COMPLETED
        assert len(rig.outbox.sent) == 1


async def test_a_stop_during_a_send_waits_for_its_record_however_long(tmp_path: Path) -> None:
    outbox = SlowOutbox()
    async with Rig(tmp_path, channels={"outbox": outbox}, limits=NOW) as rig:
        task = await rig.admit("two", delivery=[Delivery("outbox"), Delivery("outbox")])
        await outbox.gate.reached()
        stopping = asyncio.create_task(rig.app.engine.stop())
        await asyncio.sleep(0.05)
        assert not stopping.done()
        assert outbox.gate.cancelled == 0
        outbox.gate.open.set()
        await stopping

        halfway = await rig.get(task.id)
        assert [each.status for each in halfway.delivery] == ["sent", "pending"]
        await rig.restart()
        await rig.run()
        assert (await rig.get(task.id)).status is Status.COMPLETED
        assert len(outbox.tried) == 2


async def test_the_owners_wish_survives_a_stop(tmp_path: Path) -> None:
    brain = SlowBrain()
    async with Rig(tmp_path, brain=brain, limits=NOW) as rig:
        task = await rig.admit("pause me")
        await brain.reached()
        await rig.app.owner.pause(task.id)
        await rig.restart()
        await rig.run()

        assert (await rig.get(task.id)).status is Status.PAUSED
        assert rig.outbox.tried == []


async def test_nothing_is_claimed_once_a_stop_has_begun(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.app.engine.stop()
        task = await rig.admit("late")
        await asyncio.sleep(0.02)
        assert (await rig.get(task.id)).status is Status.NEW
        await rig.restart()
        await rig.run()
        assert (await rig.get(task.id)).status is Status.COMPLETED


async def test_a_loop_that_closes_without_a_stop_is_like_a_death_and_does_not_hang(
    tmp_path: Path,
) -> None:
    brain, outbox = SlowBrain(), SlowOutbox()
    rig = Rig(tmp_path, brain=brain, channels={"outbox": outbox})
    async with rig:
        thinking = await rig.admit("think")
        sending = await rig.admit("send", delivery=[Delivery("outbox", content="x")])
        await brain.reached()
        await outbox.gate.reached()
        legs = [leg for leg, _ in rig.app.engine._legs.values()]
        for leg in legs:
            leg.cancel()  # as asyncio.run does on its way out
        await asyncio.wait(legs, timeout=PATIENCE)
        assert all(leg.cancelled() for leg in legs)
        await rig.restart()
        brain.open.set()
        outbox.gate.open.set()
        await rig.run()

        assert (await rig.get(thinking.id)).status is Status.COMPLETED
        assert (await rig.get(sending.id)).reason is Reason.AMBIGUOUS


async def claims_no_more(rig: Rig) -> None:
    """Let what is at work go on; what falls free is not taken up again here."""
    engine = rig.app.engine
    engine._stopping = True
    engine._wake.set()
    await rig.app.background.finish(DISPATCH)


async def taken_away(rig: Rig, task: Task) -> None:
    """Another worker takes the lease of a task that is still at work here, and puts it aside."""
    other = rig.app.ids.worker()
    await rig.db.write(queue.release_orphans, other, rig.app.ids.review, rig.now)
    await rig.app.owner.pause(task.id)


async def test_a_leg_that_lost_its_lease_writes_nothing_more(tmp_path: Path) -> None:
    brain = SlowBrain()
    async with Rig(tmp_path, brain=brain) as rig:
        task = await rig.admit("ghost")
        await brain.reached()
        await claims_no_more(rig)
        await taken_away(rig, task)
        brain.open.set()
        await until(lambda: rig.app.engine.running == 0)

        assert (await rig.get(task.id)).status is Status.PAUSED
        assert await rig.steps(task.id) == []
        assert rig.outbox.tried == []


# A full disk --------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["rank_page", "claim", "move", "claim_send"])
async def test_a_disk_that_is_full_for_a_while_loses_nothing(tmp_path: Path, verb: str) -> None:
    async with Rig(tmp_path) as rig:
        gate = rig.db.late[verb] = asyncio.Event()
        for n in range(5):
            await rig.admit(f"{n}")
        await until(lambda: rig.db.writes[verb] >= 1)
        rig.db.full = True
        gate.set()
        for _ in range(5):
            await asyncio.sleep(0.005)
            rig.clock.advance(timedelta(seconds=1))
        assert len(rig.outbox.sent) <= 5

        rig.db.full = False
        await until(lambda: _tick(rig) and len(rig.outbox.sent) == 5)
        await rig.run()
        assert {task.status for task in await everything(rig)} == {Status.COMPLETED}
        assert len(rig.outbox.tried) == 5


def _tick(rig: Rig) -> bool:
    rig.clock.advance(timedelta(milliseconds=100))
    return True


async def test_an_answer_that_cannot_be_written_down_waits_for_the_disk(tmp_path: Path) -> None:
    outbox = SlowOutbox()
    async with Rig(tmp_path, channels={"outbox": outbox}) as rig:
        task = await rig.admit("sent")
        await outbox.gate.reached()
        rig.db.full = True
        outbox.gate.open.set()
        await until(lambda: rig.db.writes["settle_send"] >= 1)
        rig.clock.advance(timedelta(seconds=1))
        await until(lambda: rig.db.writes["settle_send"] >= 2)
        rig.db.full = False
        rig.clock.advance(timedelta(seconds=1))
        await until(lambda: rig.app.engine.running == 0)

        await rig.run()
        assert (await rig.get(task.id)).status is Status.COMPLETED
        assert len(outbox.sent) == 1


async def test_a_stop_does_not_wait_for_ever_for_a_full_disk(tmp_path: Path) -> None:
    brain = SlowBrain()
    async with Rig(tmp_path, brain=brain, limits=NOW) as rig:
        task = await rig.admit("full")
        await brain.reached()
        rig.db.full = True
        brain.open.set()
        await until(lambda: rig.db.writes["move"] >= 1)
        stopping = asyncio.create_task(rig.app.engine.stop())
        await until(lambda: _tick(rig) and stopping.done())
        await rig.restart()
        await rig.run()

        assert (await rig.get(task.id)).status is Status.COMPLETED
        assert len(rig.outbox.sent) == 1


async def test_a_heart_that_cannot_be_written_beats_on(tmp_path: Path) -> None:
    brain = SlowBrain()
    async with Rig(tmp_path, brain=brain) as rig:
        await rig.admit("slow")
        await brain.reached()
        rig.db.full = True
        rig.clock.advance(timedelta(seconds=15))
        await until(lambda: rig.db.writes["beat"] == 2)
        rig.db.full = False
        rig.clock.advance(timedelta(seconds=15))
        await until(lambda: rig.db.writes["beat"] == 3)
        brain.open.set()
        await rig.run()
