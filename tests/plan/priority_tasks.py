"""Tasks and rules for the tests of priority."""

from datetime import UTC, datetime
from typing import Final

from msgspec.structs import replace

from remit.model.task import Source, SourceKind, Task
from remit.plan.priority import PriorityRules, load_rules
from tests.sample_task import sample_task

MONDAY: Final = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
FILE: Final = "rules/priority.yml"
_PLAIN: Final = sample_task(at=MONDAY)


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
    return load_rules(f"version: 1\nlists: {lists}\nrules:\n{rules}", FILE)


def holds(condition: str, task: Task, lists: str = "{}") -> bool:
    return ruled(condition, lists=lists).find(task, UTC).rule is not None
