"""The owner's word at any time: pause, resume, cancel, delete; never in the middle of a send."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from remit.errors import Transient
from remit.model.delivery import Delivery
from remit.model.status import ACTIVE, Status
from remit.model.task import Task
from tests.engine.rig import SLOW, Gate, Moody, Rig, SlowBrain, SlowCheck, SlowOutbox, until

TWO = (Delivery("outbox"), Delivery("outbox"))


@dataclass
class Caught:
    """A task that was caught in the middle of a status."""

    rig: Rig
    task: Task
    gate: Gate
    outbox: SlowOutbox
    brain: SlowBrain

    async def told(self, task: Task) -> None:
        """The engine hears of the owner's word, as the server tells it."""
        self.rig.app.engine.heed(task)

    async def ends(self) -> Task:
        self.gate.open.set()
        await self.rig.run()
        return await self.rig.get(self.task.id)


@asynccontextmanager
async def caught_in(status: Status, home: Path) -> AsyncIterator[Caught]:
    """A task with a contract and two deliveries, held where the test wants it."""
    brain, check, outbox = SlowBrain(), SlowCheck(), SlowOutbox()
    gates = {
        Status.RUNNING: brain,
        Status.VERIFYING: check,
        Status.DELIVERING: outbox.gate,
    }
    for other, each in gates.items():
        if other is not status:
            each.open.set()
    rig = Rig(home, brain=brain, channels={"outbox": outbox}, checks={"slow": check})
    async with rig:
        task = await rig.admit("catch me", contract=SLOW, delivery=TWO)
        await gates[status].reached()
        assert (await rig.get(task.id)).status is status
        yield Caught(rig, task, gates[status], outbox, brain)
        gates[status].open.set()


@pytest.mark.parametrize("status", [Status.RUNNING, Status.VERIFYING])
@pytest.mark.parametrize("word", ["cancel", "delete"])
async def test_a_step_is_cut_short_by_a_cancel_and_nothing_goes_out(
    tmp_path: Path, status: Status, word: str
) -> None:
    async with caught_in(status, tmp_path) as caught:
        owner = caught.rig.app.owner
        await caught.told(await getattr(owner, word)(caught.task.id))
        await caught.rig.run()

        ended = await caught.rig.get(caught.task.id)
        assert ended.status is Status.CANCELLED
        assert (ended.deleted_at is not None) is (word == "delete")
        assert not ended.cancel_requested
        assert caught.gate.cancelled == 1
        assert caught.outbox.tried == []


@pytest.mark.parametrize("word", ["cancel", "delete"])
async def test_a_cancel_during_a_send_lets_it_end_and_sends_no_other(
    tmp_path: Path, word: str
) -> None:
    async with caught_in(Status.DELIVERING, tmp_path) as caught:
        await caught.told(await getattr(caught.rig.app.owner, word)(caught.task.id))
        await asyncio.sleep(0.02)
        assert caught.gate.cancelled == 0
        assert caught.gate.inside == 1

        # What the owner wished for is seen at the next boundary: before the second claim.
        ended = await caught.ends()
        assert ended.status is Status.CANCELLED
        assert [each.status for each in ended.delivery] == ["sent", "pending"]
        assert len(caught.outbox.tried) == 1


async def test_everything_out_then_a_crash_then_a_cancel_is_completed_all_the_same(
    tmp_path: Path,
) -> None:
    async with Rig(tmp_path) as rig:
        gate = asyncio.Event()
        rig.db.late["settle_send"] = gate
        task = await rig.admit("long", delivery=[Delivery("outbox", content="a\n" * 300)])
        await until(lambda: rig.db.done["settle_send"] == 1)
        await rig.app.owner.cancel(task.id)
        await rig.crash()
        await rig.run()

        ended = await rig.get(task.id)
        assert ended.status is Status.COMPLETED
        assert ended.result_summary == "a"
        assert len(rig.outbox.tried) == 1


@pytest.mark.parametrize(
    ("status", "told"),
    [*((status, True) for status in sorted(ACTIVE)), ("running", False), ("verifying", False)],
)
async def test_paused_where_it_was_and_resumed_everything_is_done_once(
    tmp_path: Path, status: str, told: bool
) -> None:
    async with caught_in(Status(status), tmp_path) as caught:
        owner, engine = caught.rig.app.owner, caught.rig.app.engine
        task = await owner.pause(caught.task.id)
        assert task.pause_requested
        if told:
            engine.heed(task)
        paused = await caught.ends()

        assert paused.status is Status.PAUSED
        assert paused.resume_to == status
        assert not paused.pause_requested
        if status != Status.DELIVERING:
            assert caught.outbox.tried == []
            assert caught.gate.cancelled == int(told)
        await caught.rig.restart()
        await caught.rig.run(timedelta(days=3))
        assert (await caught.rig.get(caught.task.id)).status is Status.PAUSED

        await caught.rig.app.owner.resume(caught.task.id)
        ended = await caught.ends()
        assert ended.status is Status.COMPLETED
        assert len({parcel.key for parcel in caught.outbox.sent}) == 2
        assert len(caught.outbox.tried) == 2
        asked_again = told and status == Status.RUNNING
        assert caught.brain.entered == 1 + asked_again


async def test_a_pause_that_is_taken_back_in_time_changes_nothing(tmp_path: Path) -> None:
    async with caught_in(Status.RUNNING, tmp_path) as caught:
        owner = caught.rig.app.owner
        await owner.pause(caught.task.id)
        await caught.told(await owner.resume(caught.task.id))

        assert (await caught.ends()).status is Status.COMPLETED
        assert caught.gate.cancelled == 0


@pytest.mark.parametrize("word", ["pause", "cancel", "delete"])
async def test_a_task_that_waits_for_its_next_try_hears_at_once(tmp_path: Path, word: str) -> None:
    async with Rig(tmp_path, brain=Moody(Transient("busy", after=3600))) as rig:
        task = await rig.admit("retry")
        await rig.run()
        await getattr(rig.app.owner, word)(task.id)
        await rig.run()

        wanted = Status.PAUSED if word == "pause" else Status.CANCELLED
        assert (await rig.get(task.id)).status is wanted


async def test_a_question_is_not_put_to_an_owner_who_has_cancelled(tmp_path: Path) -> None:
    brain = SlowBrain()
    async with Rig(tmp_path, brain=brain) as rig:
        task = await rig.admit("ask", delivery=[Delivery("outbox", "mum")])
        await brain.reached()
        gate = rig.db.late["move"] = asyncio.Event()
        brain.open.set()
        await until(lambda: rig.db.done["move"] == 1)
        # The word comes after the last boundary: the engine has not heard of it.
        await rig.app.owner.cancel(task.id)
        gate.set()
        await rig.run()

        assert (await rig.get(task.id)).status is Status.CANCELLED
        assert await rig.waiting() == []


@pytest.mark.parametrize("verb", ["move", "post"])
async def test_a_word_that_comes_in_the_middle_of_a_write_waits_for_it(
    tmp_path: Path, verb: str
) -> None:
    """A leg that was cut between a write and its answer would not know where its task stands."""
    brain = SlowBrain()
    async with Rig(tmp_path, brain=brain) as rig:
        task = await rig.admit("both", delivery=[Delivery("dashboard"), Delivery("outbox")])
        await brain.reached()
        gate = rig.db.late[verb] = asyncio.Event()
        brain.open.set()
        await until(lambda: rig.db.done[verb] == 1)
        rig.app.engine.heed(await rig.app.owner.cancel(task.id))
        await asyncio.sleep(0.02)
        gate.set()
        await rig.run()

        ended = await rig.get(task.id)
        assert ended.status is Status.CANCELLED
        assert ended.delivery[0].status == ("sent" if verb == "post" else "pending")
        assert rig.outbox.tried == []
