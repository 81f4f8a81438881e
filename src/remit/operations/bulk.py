"""Bulk actions: first a preview, then one guarded move for each task."""

import asyncio
from collections.abc import Sequence
from typing import Final

from remit.errors import BadInput, RemitError
from remit.model import ids
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap
from remit.model.ids import TaskId
from remit.model.view import TaskState, why_not
from remit.operations import arguments as args
from remit.operations import filters, tasks
from remit.operations.operation import AgentRule, Answer, Operation, OperationRequest, checked
from remit.owner import Owner
from remit.store import search
from remit.store import tasks as stored
from remit.store.search import TaskFilter

MOST: Final = 10_000
SHOWN: Final = 20
_BATCH: Final = 200  # so many wait for the disk together
_VERBS: Final = {
    "run": (tasks.RUN, Owner.run_now),
    "pause": (tasks.PAUSE, Owner.pause),
    "resume": (tasks.RESUME, Owner.resume),
    "cancel": (tasks.CANCEL, Owner.cancel),
    "delete": (tasks.DELETE, Owner.delete),
}


async def act(request: OperationRequest, arguments: args.Bulk) -> Answer:
    """Do one thing to many tasks, or preview it."""
    named, more = await _requested_tasks(request, arguments)
    known = await request.house.db.read(request.access.finds, named)
    found = await request.house.db.read(stored.statuses_of, known)
    there = {each.id for each in found}
    gone: list[Json] = [_refused(each, "It is not there.") for each in named if each not in there]
    content: JsonMap = {"action": arguments.action, "dryRun": arguments.dry_run, "more": more}
    if arguments.dry_run:
        return Answer(content | _preview(arguments.action, found, gone))
    done: list[Json] = []
    for start in range(0, len(found), _BATCH):
        batch = found[start : start + _BATCH]
        done += await asyncio.gather(*(_one(request, arguments.action, each.id) for each in batch))
    request.house.engine.nudge()
    return Answer(content | _result(done, gone))


async def _requested_tasks(
    request: OperationRequest, arguments: args.Bulk
) -> tuple[list[TaskId], bool]:
    """Return the requested tasks, and whether there are more than the limit."""
    if (arguments.ids is None) == (arguments.filter is None):
        raise BadInput("Give ids or filter (a filter line), one of them.", field="ids")
    if arguments.ids is not None:
        return [ids.task_id(each) for each in dict.fromkeys(arguments.ids)], False
    line = arguments.filter or ""
    asked = filters.typed(line, filters.context(request.house)) if line.strip() else TaskFilter()
    found = await request.house.db.read(search.ids, asked, MOST + 1)
    # What was not named is not even said to be gone to who may not know of it.
    known = await request.house.db.read(request.access.finds, found[:MOST])
    return known, request.access.reads and len(found) > MOST


async def _one(request: OperationRequest, action: str, task_id: TaskId) -> JsonMap:
    try:
        if action == "retry":
            task = await tasks.try_again(request, task_id, f"{request.ref}:{task_id}")
            return {"id": task_id, "done": True, "state": task.status.value, "became": task.id}
        row, verb = _VERBS[action]
        if request.caller.agent:
            one = args.TaskArguments(task_id)
            request = await request.house.db.read(checked, row.agents, request, one)
        task = await tasks.act(verb, request, task_id)
    except RemitError as error:
        return _refused(task_id, str(error))
    return {"id": task_id, "done": True, "state": task.status.value}


def _preview(action: str, found: Sequence[TaskState], gone: list[Json]) -> JsonMap:
    refused = [(each, why) for each in found if (why := why_not(each, action))]
    fitting = [each for each in found if why_not(each, action) is None]
    whole: list[Json] = [*(_refused(each.id, why) for each, why in refused), *gone]
    return {
        "matched": len(found) + len(gone),
        "done": len(fitting),
        "refused": len(whole),
        "first": [
            {"id": each.id, "title": each.title, "state": each.status.value}
            for each in fitting[:SHOWN]
        ],
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


BULK: Final = Operation(
    name="change_many_tasks",
    arguments=args.Bulk,
    scope=Scope.WRITE,
    agents=AgentRule.KNOWN,
    effect=act,
    summary="Do one thing to many tasks, named or all that match; with `dryRun` only say what",
    result="BulkResult",
    sentence="The tasks are changed.",
)
OPERATIONS: Final = (BULK,)
