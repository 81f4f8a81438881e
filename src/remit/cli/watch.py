"""Watches one task through the database file until it rests, whichever process runs it."""

from collections.abc import Callable
from typing import Final

from remit.model.ids import TaskId
from remit.model.run import Event
from remit.model.status import Status
from remit.model.task import Task
from remit.store import events, reviews, tasks
from remit.store.read_only import ReadOnlyStore

PAUSE: Final = 0.05  # seconds between two polls


class EventWatch:
    """Reports each event once, in order."""

    def __init__(
        self, tx: ReadOnlyStore, task_id: TaskId, tell: Callable[[Event], None], *, after: int = 0
    ) -> None:
        self.task_id = task_id
        self._tx = tx
        self._tell = tell
        self._n = after
        self._version = -1

    def poll(self) -> Task | None:
        """Report what is new since the last poll; return the task if it changed."""
        version = self._tx.version
        if version == self._version:
            return None
        self._version = version
        # The task before its events: everything it rests on was reported when it is returned.
        task = tasks.get(self._tx, self.task_id)
        for event in events.of_task(self._tx, self.task_id, self._n):
            self._tell(event)
            self._n = event.n
        return task

    def rests(self, task: Task) -> bool:
        """Whether nothing will happen to it without the owner."""
        if task.ended or task.status in (Status.NEEDS_REVIEW, Status.PAUSED):
            return True
        if task.status is not Status.NEW:
            return False
        return any(r.decision is None for r in reviews.of_task(self._tx, task.id))
