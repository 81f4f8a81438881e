"""Bulk actions: first a preview, then one guarded move for each task."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from remit.errors import BadInput, RemitError
from remit.model import ids
from remit.model.codec import Json, JsonMap
from remit.model.ids import TaskId
from remit.model.task import Task
from remit.model.task_state import TaskState, why_not
from remit.server import agents, filters, listing
from remit.server.bodies import Bulk
from remit.server.call import Call, CallResult, Route
from remit.store import search, tasks
from remit.store.search import TaskFilter

MOST: Final = 10_000
SHOWN: Final = 20
_BATCH: Final = 200  # writes that wait for the disk together


async def act(call: Call) -> CallResult:
    """Do one thing to many tasks, or return what it would do."""
    body = call.read(Bulk)
    named, more = await _named(call, body)
    known = await call.house.db.read(call.access.finds, named)
    found = await call.house.db.read(tasks.statuses_of, known)
    there = {each.id for each in found}
    gone: list[Json] = [_refused(each, "It is not there.") for each in named if each not in there]
    told: JsonMap = {"action": body.action, "dryRun": body.dry_run, "more": more}
    if body.dry_run:
        return CallResult(told | _preview(body.action, found, gone))
    done: list[Json] = []
    for start in range(0, len(found), _BATCH):
        batch = found[start : start + _BATCH]
        done += await asyncio.gather(*(_one(call, body.action, each.id) for each in batch))
    call.house.engine.nudge()
    return CallResult(told | _result(done, gone))


async def _named(call: Call, body: Bulk) -> tuple[list[TaskId], bool]:
    """Return which tasks are meant, and whether there are more than the limit."""
    if (body.ids is None) == (body.filter is None):
        raise BadInput("Give ids or filter (a filter line), one of them.", field="ids")
    if body.ids is not None:
        return [ids.task_id(each) for each in dict.fromkeys(body.ids)], False
    line = body.filter or ""
    asked = (
        filters.typed(line, listing.filter_context(call.house)) if line.strip() else TaskFilter()
    )
    found = await call.house.db.read(search.ids, asked, MOST + 1)
    # A caller that may not know a task is not even told that it is missing.
    known = await call.house.db.read(call.access.finds, found[:MOST])
    return known, call.access.reads and len(found) > MOST


async def _one(call: Call, action: str, task_id: TaskId) -> JsonMap:
    owner = call.owner
    does: dict[str, Callable[[TaskId], Awaitable[Task]]] = {
        "run": owner.run_now,
        "pause": owner.pause,
        "resume": partial(agents.resume, call),
        "cancel": owner.cancel,
        "delete": owner.delete,
    }
    try:
        if action == "retry":
            cue = await owner.retry(task_id, f"{call.ref}:{task_id}")
            task = await call.house.intake.admit(agents.repeated(call, cue))
            return {"id": task_id, "done": True, "state": task.status.value, "became": task.id}
        task = await does[action](task_id)
    except RemitError as error:
        return _refused(task_id, str(error))
    call.house.engine.heed(task)
    return {"id": task_id, "done": True, "state": task.status.value}


def _preview(action: str, found: Sequence[TaskState], gone: list[Json]) -> JsonMap:
    refused = [(each, why) for each in found if (why := why_not(each, action))]
    fitting = [each for each in found if why_not(each, action) is None]
    first: list[Json] = [
        {"id": each.id, "title": each.title, "state": each.status.value} for each in fitting[:SHOWN]
    ]
    told: list[Json] = [_refused(each.id, why) for each, why in refused]
    whole = [*told, *gone]
    return {
        "matched": len(found) + len(gone),
        "done": len(fitting),
        "refused": len(whole),
        "first": first,
        "results": whole[:SHOWN],
    }


def _result(done: Sequence[Json], gone: list[Json]) -> JsonMap:
    whole = [*done, *gone]
    well = sum(1 for each in whole if isinstance(each, dict) and each["done"])
    return {
        "matched": len(whole),
        "done": well,
        "refused": len(whole) - well,
        "first": [],
        "results": whole,
    }


def _refused(task_id: TaskId, why: str) -> JsonMap:
    return {"id": task_id, "done": False, "why": why}


ROUTES: Final = (
    Route(
        method="POST",
        path="/api/tasks/bulk",
        does=act,
        says="Do one thing to many tasks, named or all that match; with `dryRun` only say what",
        gives="BulkResult",
        body=Bulk,
    ),
)
