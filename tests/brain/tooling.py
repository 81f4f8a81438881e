"""Shared by the tests of tools: a task, and scripted calls."""

from typing import Final

from msgspec.structs import replace

from remit.model.codec import Json
from remit.model.ids import SessionId, TaskId
from remit.model.task import Creator, Source, SourceKind, Task, TaskType
from remit.testing import START

SENDS: Final[dict[str, Json]] = {"reply": "<deliverable>Done.</deliverable>"}


def task(**changes: object) -> Task:
    made = Task(
        id=TaskId("task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA"),
        type=TaskType.IMMEDIATE,
        source=Source(SourceKind.MANUAL, "1"),
        title="Look",
        instructions="Look around.",
        created_at=START,
        last_updated=START,
        created_by=Creator.USER,
        session_id=SessionId("ses-1"),
    )
    return replace(made, **changes)


def use(tool: str, **args: Json) -> dict[str, Json]:
    return {"tool": tool, "args": args}


def once(*calls: Json, when: str | None = None) -> dict[str, Json]:
    """Return a script entry that calls some tools, once."""
    entry: dict[str, Json] = {"use": list(calls), "times": 1}
    return entry | ({"when": when} if when else {})
