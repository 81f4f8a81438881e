"""Whatever is refused at the end of a leg, or breaks before its start, holds no task for ever."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import force_setattr

from remit.engine.local import DISPATCH
from remit.errors import Conflict, IllegalMove, LeaseLost
from remit.model.review import ReviewAnswer
from remit.model.run import Lease
from remit.model.status import Reason, Status
from remit.model.task import Priority, Task
from remit.plan import Planner, Ranking
from remit.settings import EngineSettings
from remit.store import queue
from remit.triggers.repeat import LOOP
from tests.engine.rig import Rig, until

TROUBLE: Final = timedelta(seconds=1)
REFUSALS: Final = [
    Conflict("The store refused the write: CHECK constraint failed."),
    IllegalMove("task-1", "running", "failed", ()),
    OSError("finish_task.sql is not there"),
    ValueError("a status that nobody knows"),
]


@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: type(error).__name__)
async def test_a_task_whose_end_is_refused_is_shown_to_the_owner_and_goes_on_with_his_word(
    tmp_path: Path, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async with Rig(tmp_path) as rig:
        rig.db.refused = {"finish": [error], "release_leg": [OSError("not there either")]}
        task = await rig.admit("a")
        await until(lambda: rig.db.writes["release_leg"] == 1)

        async def is_asked() -> bool:
            rig.clock.advance(TROUBLE)
            return bool(await rig.waiting())

        await until(is_asked)
        (review,) = await rig.waiting()
        held = await rig.get(task.id)

        assert (held.status, held.reason) == (Status.NEEDS_REVIEW, Reason.POISON)
        assert str(error).removesuffix(".") in review.question
        assert str(error) in caplog.text
        assert rig.app.engine.running == 0
        await rig.decide(review, ReviewAnswer.APPROVE)
        await rig.run()
        assert (await rig.get(task.id)).status is Status.COMPLETED
        assert len(rig.outbox.sent) == 1


async def test_a_task_that_somebody_else_holds_by_then_is_let_go(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        task = await rig.admit("a")
        await rig.run()
        done = await rig.get(task.id)
        lease = Lease(task.id, done.lease, rig.app.engine.worker, rig.app.ids.run())

        assert not await rig.db.write(queue.release_leg, lease, rig.app.ids.review(), "x", rig.now)
        assert (await rig.get(task.id)) == done


async def test_a_leg_that_cannot_be_released_does_not_hold_up_a_stop(tmp_path: Path) -> None:
    async with Rig(tmp_path, limits=EngineSettings(stop_limit=1)) as rig:
        rig.db.refused = {"finish": [ValueError("x")], "release_leg": [ValueError("y")] * 999}
        await rig.admit("a")
        await until(lambda: rig.db.writes["release_leg"] >= 1)
        stop = asyncio.create_task(rig.app.engine.stop())

        def is_stopped() -> bool:
            rig.clock.advance(TROUBLE)
            return stop.done()

        await until(is_stopped)
        assert rig.app.engine.running == 0


async def test_one_task_that_breaks_the_rules_keeps_no_other_from_its_start(tmp_path: Path) -> None:
    class Touchy(Planner):
        def rank(self, task: Task) -> Ranking:
            if task.title == "odd":
                raise RuntimeError("no rule foresaw this")
            return super().rank(task)

    async with Rig(tmp_path) as rig:
        force_setattr(rig.app.engine._rooms, "planner", Touchy())
        odd, even = await rig.admit("odd"), await rig.admit("even")
        await rig.run()

        for task in (odd, even):
            assert (await rig.get(task.id)).status is Status.COMPLETED
        assert (await rig.get(odd.id)).priority is Priority.MED


async def test_a_score_that_breaks_is_asked_for_again_and_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Unsure(Planner):
        weighed = 0

        def is_unsure(self, task: Task) -> bool:
            return task.rule is None

        async def weigh(self, task: Task) -> Ranking:
            self.weighed += 1
            if self.weighed == 1:
                raise LeaseLost(task.id, 1)
            return self.rank(task)

    async with Rig(tmp_path) as rig:
        planner = Unsure()
        force_setattr(rig.app.engine._rooms, "planner", planner)
        task = await rig.admit("a")
        await until(lambda: planner.weighed == 1)

        async def is_done() -> bool:
            rig.clock.advance(TROUBLE)
            return (await rig.get(task.id)).status is Status.COMPLETED

        await until(is_done)
    assert "could not be read or ranked" in caplog.text


@pytest.mark.parametrize(("loop", "asks"), [(DISPATCH, "outlook"), (LOOP, "due")])
async def test_a_store_that_refuses_for_long_is_shown_and_work_goes_on_once_it_answers(
    tmp_path: Path, loop: str, asks: str
) -> None:
    async with Rig(tmp_path) as rig:
        rig.db.broken = {asks}

        def is_shown() -> bool:
            rig.clock.advance(TROUBLE)
            return [each.name for each in rig.app.background.failing] == [loop]

        rig.app.engine.nudge()
        rig.app.repeater._news.set()
        await until(is_shown)
        rig.db.broken.clear()
        task = await rig.admit("a")

        async def is_done() -> bool:
            rig.clock.advance(TROUBLE)
            return (await rig.get(task.id)).status is Status.COMPLETED

        await until(is_done)


# Statements that SQLite refuses for one task, each time, though it takes all others.
OF_SPOILT: Final = "(SELECT title FROM tasks WHERE id = NEW.task_id) = 'spoilt'"
SPOILT: Final = {
    "the result of a step": f"INSERT ON steps WHEN {OF_SPOILT}",
    "the claim of a send": f"UPDATE ON deliveries WHEN {OF_SPOILT}",
    "the answer to a send": f"UPDATE ON deliveries WHEN NEW.status = 'sent' AND {OF_SPOILT}",
    "the end": "UPDATE ON tasks WHEN NEW.title = 'spoilt' AND NEW.status = 'completed'",
    "its release": f"INSERT ON runs WHEN {OF_SPOILT}",
    "its rank": "UPDATE ON tasks WHEN NEW.title = 'spoilt'",
}
NEVER_SAVED: Final = (
    "The result of this run could not be saved (The store could not do that: malformed JSON). "
    "Try it once more?"
)


async def run_beside(rig: Rig, spoilt: str, is_told: Callable[[], Awaitable[bool]]) -> Task:
    """Have SQLite refuse a statement of one task for good; return that task once both ended."""
    with closing(sqlite3.connect(rig.app.settings.home / "agent.db")) as db:
        db.execute(f"CREATE TRIGGER spoilt BEFORE {spoilt} BEGIN SELECT json('['); END")
    task, other = await rig.admit("spoilt"), await rig.admit("other")

    async def is_over() -> bool:
        rig.clock.advance(TROUBLE)
        return (await rig.get(other.id)).status is Status.COMPLETED and await is_told()

    await until(is_over)
    await until(lambda: rig.app.engine.running == 0)
    return task


@pytest.mark.parametrize("what", list(SPOILT)[:4])
async def test_a_statement_that_always_fails_for_one_task_is_asked_about_and_others_go_on(
    tmp_path: Path, what: str
) -> None:
    async with Rig(tmp_path, limits=EngineSettings(parallel=1)) as rig:

        async def is_asked() -> bool:
            return bool(await rig.waiting())

        task = await run_beside(rig, SPOILT[what], is_asked)
        (review,) = await rig.waiting()
        assert (review.task_id, review.question) == (task.id, NEVER_SAVED)
        sent = ["other"] if what in list(SPOILT)[:2] else ["other", "spoilt"]
        assert len(rig.outbox.sent) == len(sent)


@pytest.mark.parametrize(("what", "kind"), [("its release", "release"), ("its rank", "ranking")])
async def test_a_task_that_can_neither_go_on_nor_be_asked_about_is_shown_as_failing(
    tmp_path: Path, what: str, kind: str
) -> None:
    async with Rig(tmp_path, limits=EngineSettings(parallel=1)) as rig:

        async def is_shown() -> bool:
            return bool(rig.app.background.failing)

        task = await run_beside(rig, SPOILT[what], is_shown)
        (loop,) = rig.app.background.failing
        assert (loop.name, "malformed JSON" in loop.error) == (f"{kind}: {task.id}", True)
