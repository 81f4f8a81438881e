"""Form handlers of the task page; each redirects back to the page."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Final, TypeAlias

from msgspec.structs import replace
from pydantic import Field

from remit.errors import Conflict
from remit.model.caller import Scope
from remit.model.ids import TaskId
from remit.model.task import Task
from remit.owner import Owner
from remit.server.bodies import EmptyBody, RequestBody
from remit.server.call import Call, CallResult, Does, Route
from remit.server.web import shell
from remit.store import tasks as stored

Verb: TypeAlias = Callable[[Owner, TaskId], Awaitable[Task]]
_LONGEST: Final = 100_000


class RetryForm(RequestBody):
    """New instructions for a retry."""

    instructions: Annotated[str, Field(max_length=_LONGEST)] = ""


def _does(verb: Verb) -> Does:
    async def act(call: Call) -> CallResult:
        call.read(EmptyBody)
        task = await verb(call.house.owner, call.task_id)
        call.house.engine.heed(task)
        return shell.elsewhere(f"/tasks/{task.id}")

    return act


async def remove(call: Call) -> CallResult:
    """Hide it, and return to the list."""
    call.read(EmptyBody)
    task = await call.house.owner.delete(call.task_id)
    call.house.engine.heed(task)
    return shell.elsewhere("/tasks")


async def confirm(call: Call) -> CallResult:
    """Ask for confirmation, for browsers without scripts."""
    task = await call.house.db.read(stored.get, call.task_id)
    return await shell.page(call, "pages/task_delete.html", {"task": task})


async def again(call: Call) -> CallResult:
    """Show a form with the current instructions."""
    task = await call.house.db.read(stored.get, call.task_id)
    if not task.ended:
        sentence = f"Task {task.id} is {task.status}; only an ended task can be tried again."
        raise Conflict(sentence)
    return await shell.page(call, "pages/task_again.html", {"task": task})


async def retry(call: Call) -> CallResult:
    """Retry it as a new task; the old one stays."""
    said = call.read(RetryForm).instructions.strip()
    cue = await call.house.owner.retry(call.task_id, call.ref)
    if said and said != (cue.instructions or "").strip():
        cue = replace(cue, instructions=said)
    task = await call.house.intake.admit(cue)
    return shell.elsewhere(f"/tasks/{task.id}")


async def ask(call: Call) -> CallResult:
    """Go to its conversation; if there is none, to a new one about it."""
    call.read(EmptyBody)
    place = await call.house.talk.resume(call.task_id)
    return shell.elsewhere(f"/conversations/{place.id}")


_ACTS: Final[tuple[tuple[str, Verb, str], ...]] = (
    ("pause", Owner.pause, "Stop at the next safe place"),
    ("resume", Owner.resume, "Go on where it was"),
    ("cancel", Owner.cancel, "End it"),
    ("run", Owner.run_now, "Start at once what was planned for later"),
    ("undo", Owner.undo, "Call back what was approved"),
    ("restore", Owner.undelete, "Show it again"),
)
ROUTES: Final = (
    *(
        Route(
            method="POST",
            path=f"/tasks/{{id}}/{name}",
            does=_does(verb),
            says=says,
            gives="Page",
            page=True,
            body=EmptyBody,
            scope=Scope.APPROVE if name == "undo" else None,
        )
        for name, verb, says in _ACTS
    ),
    Route(
        method="POST",
        path="/tasks/{id}/delete",
        does=remove,
        says="Hide it; cancel it first if it runs",
        gives="Page",
        page=True,
        body=EmptyBody,
    ),
    Route(
        method="GET",
        path="/tasks/{id}/delete",
        does=confirm,
        says="Whether it is to be deleted",
        gives="Page",
        page=True,
    ),
    Route(
        method="GET",
        path="/tasks/{id}/again",
        does=again,
        says="Other instructions for another try",
        gives="Page",
        page=True,
    ),
    Route(
        method="POST",
        path="/tasks/{id}/retry",
        does=retry,
        says="Try it again, as a new task",
        gives="Page",
        page=True,
        body=RetryForm,
    ),
    Route(
        method="POST",
        path="/tasks/{id}/ask",
        does=ask,
        says="Talk about it",
        gives="Page",
        page=True,
        body=EmptyBody,
    ),
)
