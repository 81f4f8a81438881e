"""One leg of a task's way: who holds it, what was done, how it ended."""

from datetime import datetime

from msgspec import Struct

from remit.model.ids import RunId, TaskId, WorkerId


class Lease(Struct, frozen=True):
    """The right to move a task; a higher number ends every lower one."""

    task_id: TaskId
    number: int
    worker: WorkerId
    run_id: RunId


class Run(Struct, frozen=True):
    id: RunId
    task_id: TaskId
    lease: int
    worker: WorkerId
    started_at: datetime
    ended_at: datetime | None = None
    outcome: str | None = None
    note: str | None = None
