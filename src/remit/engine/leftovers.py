"""Removes the worktree of a finished task and keeps its branch."""

from collections.abc import Collection
from contextlib import suppress
from typing import Final

from remit.errors import NotFound, RemitError
from remit.journal.follow import Journal
from remit.model.event import Event, EventKind
from remit.model.ids import TaskId
from remit.model.status import TERMINAL, Status
from remit.ports import Clock
from remit.specialist.shelve import shelve
from remit.specialist.worktree import Worktrees
from remit.store import tasks
from remit.store.database import Database
from remit.system.background import Background

LOOP: Final = "worktree cleanup"
# A completed task has removed its worktree itself, and may get it again for a while, for its
# deferred checks.
_ENDED: Final = TERMINAL - {Status.COMPLETED}


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
        self._background.start(LOOP, lambda: self._watching(journal))

    async def stop(self) -> None:
        await self._background.stop(LOOP)

    async def settle(self, over: Collection[Status] = _ENDED) -> None:
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
        async for page in journal.pages(since):
            if any(map(_ends, page)):
                await self.settle()


def _ends(event: Event) -> bool:
    return event.kind is EventKind.TASK_MOVED and event.data.get("to") in _ENDED
