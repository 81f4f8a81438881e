"""How many at once: in all, from one source, in one session; and who comes first."""

from collections import Counter
from pathlib import Path

import pytest

from remit.model.delivery import Delivery
from remit.model.reply import Prompt, Reply
from remit.model.status import Status
from remit.model.task import SourceKind
from remit.settings import EngineSettings
from tests.engine.rig import HI, Gate, Rig, SlowBrain, everything


class Sessions(Gate):
    """A brain that counts who thinks at once in each session."""

    def __init__(self) -> None:
        super().__init__()
        self.open.set()
        self.now: Counter[str] = Counter()
        self.together = 0

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del prompt
        self.now[session] += 1
        self.together = max(self.together, self.now[session])
        await self.passed()
        self.now[session] -= 1
        return Reply(HI)


async def test_tasks_of_one_session_never_overlap_and_come_in_order(tmp_path: Path) -> None:
    brain = Sessions()
    async with Rig(tmp_path, brain=brain) as rig:
        for n in range(24):
            await rig.admit(f"{n:02}", session=f"ses-{n % 3}")
        await rig.run()

        assert brain.together == 1
        assert len(rig.outbox.sent) == 24
        begun = await everything(rig)
        for session in range(3):
            mine = [task for task in begun if task.session_id == f"ses-{session}"]
            order = sorted(mine, key=lambda task: task.started_at or rig.now)
            assert [task.title for task in order] == sorted(task.title for task in mine)


async def test_no_more_work_at_once_than_the_operator_allows(tmp_path: Path) -> None:
    brain = SlowBrain()
    async with Rig(tmp_path, brain=brain, limits=EngineSettings(parallel=5)) as rig:
        for n in range(17):
            await rig.admit(f"{n}")
        await brain.reached(5)
        assert rig.app.engine.running == 5
        brain.open.set()
        await rig.run()

        assert brain.most == 5
        assert len(rig.outbox.sent) == 17


async def test_no_more_from_one_source_than_the_operator_allows(tmp_path: Path) -> None:
    brain = SlowBrain()
    limits = EngineSettings(sources={"caldav": 2, "email": 1})
    async with Rig(tmp_path, brain=brain, limits=limits) as rig:
        for n in range(6):
            await rig.admit(f"c{n}", kind=SourceKind.CALDAV)
            await rig.admit(f"e{n}", kind=SourceKind.EMAIL)
        await rig.admit("m", kind=SourceKind.MANUAL)
        await brain.reached(4)

        assert rig.app.engine.running == 4
        brain.open.set()
        await rig.run()
        assert len(rig.outbox.sent) == 13
        assert rig.app.engine._sources.total() == 0


async def test_a_task_that_was_there_when_a_process_died_starts_alone(tmp_path: Path) -> None:
    brain = SlowBrain()
    async with Rig(tmp_path, brain=brain) as rig:
        for n in range(4):
            await rig.admit(f"{n}")
        await brain.reached(4)
        await rig.crash()

        await brain.reached(5)
        assert rig.app.engine.running == 1
        await rig.admit("fresh")
        await brain.reached(6)
        assert rig.app.engine.running == 2
        brain.open.set()
        await rig.run()

        ended = await everything(rig)
        assert {(task.status, task.crashes) for task in ended} == {(Status.COMPLETED, 0)}


@pytest.mark.parametrize("parallel", [1, 64])
async def test_a_burst_is_done_once_each(tmp_path: Path, parallel: int) -> None:
    async with Rig(tmp_path, limits=EngineSettings(parallel=parallel)) as rig:
        for n in range(100):
            await rig.admit(f"{n}", delivery=[Delivery("outbox", content=f"{n}")])
        await rig.run()

        assert Counter(parcel.body for parcel in rig.outbox.sent) == Counter(
            str(n) for n in range(100)
        )
