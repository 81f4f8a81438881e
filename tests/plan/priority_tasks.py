"""Tasks and rules for the tests of priority."""

from datetime import UTC, datetime
from typing import Final

from msgspec.structs import replace

from remit.model.ids import SessionId, TaskId
from remit.model.task import Creator, Source, SourceKind, Task, TaskType
from remit.plan.priority import PriorityRules, load

MONDAY: Final = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
FILE: Final = "rules/priority.yml"
_PLAIN: Final = Task(
    id=TaskId("task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA"),
    type=TaskType.IMMEDIATE,
    source=Source(SourceKind.MANUAL, "1"),
    title="Find a beach",
    instructions="Find a beach",
    created_at=MONDAY,
    last_updated=MONDAY,
    created_by=Creator.USER,
    session_id=SessionId("ses-1"),
)


def made(title: str = "Find a beach", **more: object) -> Task:
    return replace(_PLAIN, title=title, **more)


def mail(sender: object, verified: object = True, **more: object) -> Task:
    """Return a mail's task, with its sender's authentication."""
    context = {"sender": sender, "sender_verified": verified}
    source = Source(SourceKind.EMAIL, "<1@x>")
    return made("A letter", source=source, context=context, **more)


def ruled(*conditions: str, lists: str = "{}") -> PriorityRules:
    """Return one rule per condition, each as YAML on one line, named by its place."""
    rules = "".join(
        f"  - {{name: rule {n}, priority: high, because: as I say, when: {each}}}\n"
        for n, each in enumerate(conditions, 1)
    )
    return load(f"version: 1\nlists: {lists}\nrules:\n{rules}", FILE)


def holds(condition: str, task: Task, lists: str = "{}") -> bool:
    return ruled(condition, lists=lists).find(task, UTC).rule is not None
