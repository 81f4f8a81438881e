"""Who watches for the end of a group: survives a disk that takes nothing, looks only if it must."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from pathlib import Path

from msgspec.structs import replace

from remit.engine.deferred import Deferred
from remit.errors import StoreTrouble
from remit.model.contract import (
    DEFERRED,
    Contract,
    ContractType,
    Criterion,
    Finding,
    Result,
    Timing,
    Verdict,
)
from remit.model.deferred import DeferredBatch, DueCriterion
from remit.model.status import Status
from remit.model.task import Task
from remit.store import deferred
from remit.store.opening import Sqlite
from remit.system.background import Background
from remit.testing import FrozenClock
from tests.engine.rig import Watched, until
from tests.store.scene import Scene

LATE = Criterion("e2e", "It works", timing=Timing.DEFERRED)
CONTRACT = Contract(ContractType.VERIFIABLE, (LATE,))
PENDING = Verdict((Finding("e2e", Result.SKIPPED, DEFERRED),))


@dataclass
class Checks:
    """Passes whatever it is given, and keeps it."""

    seen: list[DeferredBatch] = field(default_factory=list)

    async def check(
        self, batch: DeferredBatch, every: Sequence[DueCriterion]
    ) -> tuple[Finding, ...]:
        self.seen.append(batch)
        return tuple(Finding(each.criterion.activity, Result.PASS) for each in every)


def ended(scene: Scene) -> Task:
    """Work whose verdict is pending, and which nobody holds any more."""
    claim = scene.running(contract=CONTRACT, verdict=PENDING, assigned_agent="project:shop")
    scene.finish(claim, "done", Status.COMPLETED)
    return replace(claim.task, status=Status.COMPLETED)


async def test_who_watches_goes_on_after_trouble_with_the_disk(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "agent.db")
    task, clock, checks = ended(scene), FrozenClock(), Checks()
    ids, db = scene.ids, Watched(Sqlite(tmp_path / "agent.db"))
    db.refused = {"list_deferred": [StoreTrouble("the disk is full")] * 2}
    scene.close()
    late = Deferred(db, clock, ids, UTC, checks.check, Background(clock.now, clock.sleep))
    await late.put_off(task, "main", ("a.py",))

    late.start()

    async def is_checked() -> bool:
        clock.advance(timedelta(hours=1))
        return bool(checks.seen)

    await until(is_checked)
    await late.stop()
    await late.stop()  # does no harm
    assert len(checks.seen) == 1
    assert db.reads["list_deferred"] > 2
    await db.close()


async def test_where_nothing_waits_nobody_looks(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "agent.db")
    task, clock, checks = ended(scene), FrozenClock(), Checks()
    ids, db = scene.ids, Watched(Sqlite(tmp_path / "agent.db"))
    scene.close()
    late = Deferred(db, clock, ids, UTC, checks.check, Background(clock.now, clock.sleep))

    assert await late.catch_up() is None  # once, for what a process before it left
    assert await late.catch_up() is None
    assert db.reads.total() == 1
    assert await late.put_off(task, "main", ()) == 1
    over = await late.catch_up()
    assert over is not None
    clock.jump(over)
    assert await late.catch_up() is None

    assert len(checks.seen) == 1
    assert await db.read(deferred.list_deferred) == []
    await db.close()


async def test_one_batch_that_breaks_its_check_keeps_no_other_waiting(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "agent.db")
    work, clock, checks = [ended(scene), ended(scene)], FrozenClock(), Checks()
    ids, db = scene.ids, Watched(Sqlite(tmp_path / "agent.db"))
    scene.close()
    broken = ["main"]

    async def check(batch: DeferredBatch, every: Sequence[DueCriterion]) -> tuple[Finding, ...]:
        if batch.branch in broken:
            raise RuntimeError("nobody foresaw this")
        return await checks.check(batch, every)

    loops = Background(clock.now, clock.sleep)
    late = Deferred(db, clock, ids, UTC, check, loops)
    for task, branch in zip(work, ("main", "next"), strict=True):
        await late.put_off(task, branch, ("a.py",))
    clock.advance(timedelta(days=2))
    late.start()
    await until(lambda: [each.name for each in loops.failing] == ["deferred checks"])
    assert [batch.branch for batch in checks.seen] == ["next"]
    broken.clear()

    async def is_checked() -> bool:
        clock.advance(timedelta(seconds=1))
        return len(checks.seen) > 1

    await until(is_checked)
    assert [batch.branch for batch in checks.seen] == ["next", "main"]
    await late.stop()
    await db.close()
