"""One leg of a task's way: who holds it, what was done, how it ended."""

from dataclasses import dataclass
from datetime import datetime

from remit.model.codec import Json
from remit.model.ids import RunId, TaskId, WorkerId


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to move a task; a higher number ends every lower one."""

    task_id: TaskId
    number: int
    worker: WorkerId
    run_id: RunId


@dataclass(frozen=True, slots=True)
class Run:
    id: RunId
    task_id: TaskId
    lease: int
    worker: WorkerId
    started_at: datetime
    ended_at: datetime | None = None
    outcome: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A named piece of work whose result is kept; it is never done again."""

    task_id: TaskId
    round: int
    name: str
    output: Json
    ended_at: datetime
