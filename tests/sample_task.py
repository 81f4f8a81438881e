"""A plain task of the owner's, for every test that needs one."""

from datetime import datetime

from msgspec.structs import replace

from remit.model.contract import Contract, Verdict
from remit.model.ids import SessionId, TaskId
from remit.model.task import Creator, Source, SourceKind, Task, TaskType
from remit.testing import START


def sample_task(title: str = "Find a beach", at: datetime = START, **changes: object) -> Task:
    """Return a task that begins at once and whose instructions are its title."""
    plain = Task(
        id=TaskId("task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA"),
        type=TaskType.IMMEDIATE,
        source=Source(SourceKind.MANUAL, "1"),
        title=title,
        instructions=title,
        created_at=at,
        last_updated=at,
        created_by=Creator.USER,
        session_id=SessionId("ses-1"),
    )
    return replace(plain, **changes)


def contract_of(task: Task) -> Contract:
    assert task.contract is not None
    return task.contract


def verdict_of(task: Task) -> Verdict:
    assert task.verdict is not None
    return task.verdict
