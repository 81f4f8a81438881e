"""Shared by the tests of tools: a task, and scripted calls."""

from typing import Final

from remit.model.codec import Json
from remit.model.task import Task
from tests.sample_task import sample_task

SENDS: Final[dict[str, Json]] = {"reply": "<deliverable>Done.</deliverable>"}


def task(**changes: object) -> Task:
    return sample_task(**{"title": "Look", "instructions": "Look around.", **changes})  # type: ignore[arg-type]


def use(tool: str, **args: Json) -> dict[str, Json]:
    return {"tool": tool, "args": args}


def once(*calls: Json, when: str | None = None) -> dict[str, Json]:
    """Return a script entry that calls some tools, once."""
    entry: dict[str, Json] = {"use": list(calls), "times": 1}
    return entry | ({"when": when} if when else {})
