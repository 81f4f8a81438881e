"""Background loops of the engine: writes task logs from the journal, removes finished worktrees."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from remit.errors import NotFound, RemitError
from remit.journal.follow import GATHER_SECONDS, Journal
from remit.journal.scribe import TaskLogWriter, whole
from remit.model.ids import TaskId
from remit.model.run import Event, EventKind
from remit.model.status import TERMINAL, Status
from remit.ports import Clock
from remit.specialist.worktree import Worktrees, shelve
from remit.store import tasks
from remit.store.database import Database
from remit.system.background import Background
from remit.system.files import write_atomic


async def keep_logs(journal: Journal, folder: Path) -> None:
    """Write every event into its task's log until the journal ends; continues from a mark."""
    scribe, mark = TaskLogWriter(folder), folder / ".written"
    since = _read(mark)
    async for page in journal.pages(since, ends=True, gather_seconds=GATHER_SECONDS):
        await whole(_write, scribe, mark, page)


def _write(scribe: TaskLogWriter, mark: Path, page: list[Event]) -> None:
    scribe.write(page)
    mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # there may be no log yet
    # The mark may lag behind the logs but not run ahead; existing lines are not written twice.
    write_atomic(mark, str(page[-1].seq), durable=False)


def _read(mark: Path) -> int:
    try:
        return int(mark.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0


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
