"""Runs the deferred checks of a group when it ends, once, and records the result on each task.

Who waits is in the store, so a crash costs only a second check. The findings are written in one
transaction, with a question to the owner if a check failed.

It also removes the worktrees of tasks that are over.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from typing import Final, TypeAlias

from msgspec.structs import replace

from remit import review
from remit.errors import NotFound, RemitError
from remit.intake import admit
from remit.journal.follow import GATHER_SECONDS, Journal
from remit.model.codec import Json, JsonMap, to_json
from remit.model.contract import Finding, Result, Timing
from remit.model.deferred import (
    FAILED,
    FIXES,
    PRD,
    DeferredBatch,
    DeferredCriterion,
    DueCriterion,
    GroupEnd,
    batches,
    deferred_criteria,
    due_checks,
    group_of,
    project_of,
)
from remit.model.ids import Ids, TaskId
from remit.model.reply import PROJECT
from remit.model.review import Review
from remit.model.run import Event, EventKind
from remit.model.status import TERMINAL, Status
from remit.model.task import Creator, Cue, Source, SourceKind, Task
from remit.ports import Clock
from remit.specialist.worktree import Worktrees, shelve
from remit.store import debts, deferred, tasks
from remit.store.database import Database
from remit.store.debts import CheckedBatch
from remit.system.background import Background, wait_until

LOOP: Final = "deferred checks"
_PAUSE: Final = 1.0
_MOST_FILES: Final = 200  # listed in a fix task
_LONGEST: Final = 200  # characters of a path

# One finding for each criterion; an obstacle is a finding too.
Check: TypeAlias = Callable[[DeferredBatch, Sequence[DueCriterion]], Awaitable[tuple[Finding, ...]]]


class Deferred:
    """Stores deferred criteria and has them checked when their group has ended."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        ids: Ids,
        zone: tzinfo,
        check: Check,
        background: Background,
    ) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._zone = zone
        self._check = check
        self._waits = True  # whether criteria may be waiting; if not, the database is not asked
        self._shared = getattr(db, "shared", False)  # then others put criteria off, too
        self._news = asyncio.Event()
        self._background = background
        db.on_commit(lambda _: self._news.set())

    async def put_off(self, task: Task, branch: str, paths: tuple[str, ...]) -> int:
        """Store which criteria of a task are checked when its group ends; return their number."""
        now = self._clock.now()
        batch = DeferredBatch(project_of(task), branch, group_of(task, now, self._zone))
        waits = deferred_criteria(task, batch, paths, now)
        await self._db.write(deferred.put_off, waits)
        self._waits = True
        self._news.set()
        return len(waits)

    def start(self) -> None:
        """Settle the groups that ended meanwhile, then watch."""
        self._background.start(LOOP, self._watching)

    async def stop(self) -> None:
        """Stop. A check that is interrupted runs again after the next start."""
        await self._background.stop(LOOP)

    async def catch_up(self) -> datetime | None:
        """Settle every group that has ended; return when the clock ends the next one."""
        if not self._waits and not self._shared:
            return None
        self._waits = False  # set first: criteria deferred during the look count again
        try:
            return await self._settle()
        except BaseException:
            self._waits = True
            raise

    async def _settle(self) -> datetime | None:
        found = batches(await self._db.read(deferred.list_deferred))
        self._waits = self._waits or bool(found)
        coming, failed = list[datetime | None](), list[Exception]()
        for batch, waits in found.items():
            try:
                coming.append(await self._close(batch, waits))
            except Exception as error:  # noqa: BLE001 - raised when the others had their turn
                failed.append(error)
        if failed:
            raise failed[0]
        return min((at for at in coming if at is not None), default=None)

    async def _close(
        self, batch: DeferredBatch, waits: Sequence[DeferredCriterion]
    ) -> datetime | None:
        """Check a batch if its group has ended; else return when the clock ends it."""
        over = batch.group.over_at(self._zone)
        if over is not None and over > self._clock.now():
            return over
        members = {each.task_id for each in waits}
        if not await self._db.read(deferred.at_work, batch, members):
            every = due_checks(waits)
            found = tuple(zip(every, await self._check(batch, every), strict=True))
            now = self._clock.now()
            ended = CheckedBatch(batch, found, self._asks(batch, found, now))
            await self._db.write(debts.close_group, ended, now)
        return None

    def _asks(
        self, batch: DeferredBatch, found: Sequence[tuple[DueCriterion, Finding]], now: datetime
    ) -> tuple[Task, Review] | None:
        """Return the task that would fix what failed, with its question; None if nothing failed."""
        failed = [(each, one) for each, one in found if one.result is Result.FAIL]
        if not failed:
            return None
        what = ", ".join(dict.fromkeys(each.criterion.activity for each, _ in failed))
        text = f"{what} failed on {batch.branch} of {batch.project}, with {batch.group.said}."
        failures = "\n\n".join(_failure_text(each, one) for each, one in failed)
        task = admit.make(_fix(batch, failed, what, f"{text}\n\n{failures}"), self._ids, now)
        question = review.fix(task, text[:1].upper() + text[1:], failures)
        return task, replace(question, id=self._ids.review(), opened_at=now)

    # Watching -----------------------------------------------------------------------------------

    async def _watching(self) -> None:
        while True:
            self._news.clear()
            coming = await self.catch_up()
            await self._clock.sleep(_PAUSE)
            await self._wait_until_due(coming)

    async def _wait_until_due(self, coming: datetime | None) -> None:
        """Until something is written, or until a day is over by the clock on the wall."""
        if coming is None:
            await self._news.wait()
        else:
            await wait_until(self._news, self._clock, coming)


def _fix(
    batch: DeferredBatch, failed: Sequence[tuple[DueCriterion, Finding]], what: str, text: str
) -> Cue:
    """Make the cue of a task on the same project that must pass what failed."""
    waits = [each for one, _ in failed for each in one.waits]
    paths = dict.fromkeys(p for each in waits for p in each.paths if len(p) <= _LONGEST)
    late = [replace(one.criterion, timing=Timing.IMMEDIATE) for one, _ in failed]
    context: JsonMap = {
        "files": list[Json](paths)[:_MOST_FILES],
        FIXES: list[Json](dict.fromkeys(each.task_id for each in waits)),
        FAILED: [to_json(each) for each in late],
    }
    if batch.group.ends is GroupEnd.PRD:
        context[PRD] = batch.group.name
    return Cue(
        source=Source(SourceKind.MANUAL, f"late:{waits[0].task_id}"),
        title=f"Fix {what}, which failed with {batch.group.said}"[: admit.MOST_TITLE],
        text=f"Fix what failed: {text}",
        context=context,
        assigned_agent=f"{PROJECT}{batch.project}",
        created_by=Creator.SCHEDULER,
    )


def _failure_text(each: DueCriterion, found: Finding) -> str:
    """Return what failed, without characters that a text may not contain."""
    text = f"{each.criterion.activity}: {each.criterion.description}\n{found.error or 'failed'}"
    return "".join(char for char in text if char.isprintable() or char in "\n\t")


# Worktrees that are left over ---------------------------------------------------------------------

CLEANUP: Final = "worktree cleanup"
# A completed task has removed its worktree itself, and may get it again for a while, for its
# deferred checks.
_OVER: Final = TERMINAL - {Status.COMPLETED}


class Leftovers:
    def __init__(
        self, db: Database, clock: Clock, trees: Worktrees, background: Background
    ) -> None:
        self._db = db
        self._clock = clock
        self._trees = trees
        self._background = background

    async def start(self, journal: Journal) -> None:
        """Remove the worktrees that a dead process left; then those of every task that ends."""
        await self.settle(TERMINAL)
        self._background.start(CLEANUP, lambda: self._watching(journal))

    async def stop(self) -> None:
        await self._background.stop(CLEANUP)

    async def settle(self, over: Collection[Status] = _OVER) -> None:
        """Remove every worktree whose task is over or unknown.

        One that cannot be removed stays until the next start.
        """
        for tree in await self._trees.standing():
            if await self._is_over(tree.task_id, over):
                with suppress(RemitError, OSError):
                    await shelve(self._trees, tree, self._clock.now())

    async def _is_over(self, task_id: TaskId, over: Collection[Status]) -> bool:
        try:
            return (await self._db.read(tasks.get, task_id)).status in over
        except NotFound:
            return True

    async def _watching(self, journal: Journal) -> None:
        since = await journal.last()
        await self.settle()
        async for page in journal.pages(since, gather_seconds=GATHER_SECONDS):
            if any(map(_is_end, page)):
                await self.settle()


def _is_end(event: Event) -> bool:
    return event.kind is EventKind.TASK_MOVED and event.data.get("to") in _OVER
