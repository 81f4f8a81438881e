"""Moves with only quick work between them are written with the next write of the leg."""

from pathlib import Path

import pytest

from remit.model.contract import Contract, ContractType, Criterion
from remit.model.delivery import Delivery
from remit.model.status import Status
from remit.verify.written import CHECKS
from tests.engine.rig import SLOW, Moody, Rig, SlowCheck

HERE = Delivery("dashboard")
OUT = Delivery("outbox")
BRIEF = Contract(ContractType.VERIFIABLE, (Criterion("length", "brief", "<=9 words"),))
WAY = ["ready", "running", "verifying", "delivering", "completed"]


@pytest.mark.parametrize(
    ("delivery", "contract", "moves"),
    [([HERE], BRIEF, 0), ([OUT], BRIEF, 1), ([HERE, OUT], BRIEF, 1), ([HERE], SLOW, 1)],
)
async def test_a_move_is_written_alone_only_before_what_takes_long_or_leaves(
    tmp_path: Path, delivery: list[Delivery], contract: Contract, moves: int
) -> None:
    slow = SlowCheck()
    slow.open.set()
    async with Rig(tmp_path, checks={**CHECKS, "slow": slow}) as rig:
        task = await rig.admit("hi", delivery=delivery, contract=contract)
        await rig.run()

        assert rig.db.writes["move"] == moves
        assert await rig.moves(task.id) == WAY
        numbers = [event.n for event in await rig.history(task.id)]
        assert numbers == list(range(1, len(numbers) + 1))


async def test_what_fails_after_an_unwritten_move_ends_from_there(tmp_path: Path) -> None:
    long = " ".join(["word"] * 10)
    brain = Moody(*[f"<deliverable>{long}</deliverable>"] * 9)
    async with Rig(tmp_path, brain=brain, checks=CHECKS) as rig:
        task = await rig.admit("long", delivery=[HERE], contract=BRIEF)
        await rig.run()

        assert (await rig.get(task.id)).status is Status.NEEDS_REVIEW
        assert (await rig.moves(task.id))[-2:] == ["verifying", "needs_review"]


async def test_a_crash_before_the_write_finds_the_task_where_it_was(tmp_path: Path) -> None:
    async with Rig(tmp_path, checks=CHECKS) as rig:
        rig.db.broken.add("finish")
        task = await rig.admit("again", delivery=[HERE], contract=BRIEF)
        await rig.crash()
        await rig.run()

        assert await rig.moves(task.id) == WAY
        assert (await rig.get(task.id)).delivery[0].status == "sent"
