"""The state of a task and which actions are possible now, for pages, API and bulk actions.

The move itself decides in the end; this predicts its answer.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from remit.model.ids import TaskId
from remit.model.status import ACTIVE, PAUSABLE, TERMINAL, Status
from remit.model.task import Task

_UNBEGUN: Final = frozenset({Status.NEW, Status.READY})


class TaskState(Struct, frozen=True, kw_only=True):
    id: TaskId
    title: str
    status: Status
    pausing: bool  # requested by the owner, not yet done by the engine
    leaving: bool  # being cancelled
    deleted: bool
    held: bool  # a worker holds it right now
    resume_to: Status | None = None

    @property
    def can(self) -> Mapping[str, bool]:
        """Which actions are possible."""
        status, stays = self.status, not self.leaving
        paused_unbegun = status is Status.PAUSED and self.resume_to in _UNBEGUN
        waits = status is Status.READY or status in ACTIVE
        return {
            "run": waits and not self.held and stays,
            "pause": status in PAUSABLE and stays and not self.pausing,
            "resume": status is Status.PAUSED or self.pausing,
            "cancel": status not in TERMINAL and stays,
            "retry": status in TERMINAL,
            "edit": status in _UNBEGUN or paused_unbegun,
            "delete": not self.deleted,
            "restore": self.deleted,
        }


def standing_of(task: Task, *, held: bool) -> TaskState:
    return TaskState(
        id=task.id,
        title=task.title,
        status=task.status,
        pausing=task.pause_requested,
        leaving=task.cancel_requested,
        deleted=task.deleted_at is not None,
        held=held,
        resume_to=task.resume_to,
    )


def why_not(task: TaskState, action: str) -> str | None:
    """Return why an action is not possible now; None if it is."""
    if task.can[action]:
        return None
    stands = task.status.value
    if task.deleted or task.leaving:
        stands = "deleted" if task.deleted else "being cancelled"
    return f"It is {stands.replace('_', ' ')}."
