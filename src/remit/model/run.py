"""A run is one leg of a task: who holds it, which steps it did, how it ended."""

from datetime import datetime

from msgspec import Struct

from remit.model.ids import RunId, TaskId, WorkerId


class Lease(Struct, frozen=True):
    """The right to move a task; a higher number ends all lower ones."""

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
