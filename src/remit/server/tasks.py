"""Tasks: listed, looked at, their files, and the one address that takes several operations."""

import asyncio
import base64
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from urllib.parse import quote

from remit.errors import BadInput, NotFound
from remit.files import checks
from remit.journal import follow, tries
from remit.model.codec import Json, JsonMap, picked
from remit.model.ids import TaskId
from remit.model.run import Event
from remit.model.task_file import TaskFile
from remit.model.view import show
from remit.operations import tasks as operations
from remit.operations.arguments import (
    Arguments,
    CancelTask,
    EditTask,
    PauseTask,
    ResumeTask,
    RunTask,
    TaskChange,
)
from remit.operations.settings_arguments import KeepFile
from remit.operations.shapes import review_to_json
from remit.operations.table import perform
from remit.server import listing, shapes
from remit.server.call import Call, CallResult, result_of
from remit.server.routes import VIEW, RouteTerms, numbers, page, read
from remit.store import events, inbox, reviews, runs, spending, tasks
from remit.store.database import Tx
from remit.store.inbox import WaitingReview
from remit.store.opening import task_files

RECENT: Final = 50
_ACTIONS: Final = {"pause": PauseTask, "resume": ResumeTask, "cancel": CancelTask, "run": RunTask}


@read("/api/tasks/needs-attention", "Attention", VIEW)
async def attention(call: Call) -> CallResult:
    """What waits for the owner."""
    now, undo = call.app.clock.now(), call.app.settings.deliver.undo
    found = await call.app.db.read(inbox.questions, now, limit=500)
    asked: list[Json] = [review_to_json(each, undo) for each in found]
    stopped = {each.task.id: each.task for each in found}
    shown: list[Json] = [show(task, call.view) for task in stopped.values()]
    unread = listing.refusals_to_json(await call.app.db.read(listing.look))
    return CallResult({"reviews": asked, "tasks": shown, "events": unread})


@read("/api/tasks/{id}", "TaskDetail", VIEW, tagged=True)
async def look(call: Call) -> CallResult:
    """One task, with its recent log, its reviews and its runs."""
    version, content = await detail(call)
    return CallResult(content, headers={"ETag": f'"{version}"'})


@read(
    "/api/tasks/{id}/log",
    "Log",
    numbers("after", "Go on after this turnNumber.", 0, 0, 10**15 - 1),
    numbers("limit", "How many.", 100, 1, 1000),
)
async def log(call: Call) -> CallResult:
    """What happened to a task, in order."""
    after, limit = call.number("after", 0), call.number("limit", 100, least=1, most=1000)
    found = await call.app.db.read(_log, call.task_id, after, limit + 1)
    rows: list[Json] = [follow.record(event) for event in found[:limit]]
    return CallResult({"log": rows, "next": found[limit - 1].n if len(found) > limit else None})


@RouteTerms(
    method="PATCH",
    path="/api/tasks/{id}",
    gives="Task",
    query=(VIEW,),
    body=TaskChange,
    operation=operations.edit_task,
    tagged=True,
)
async def change(call: Call) -> CallResult:
    """Pause, resume, cancel or run now; or change what has not begun."""
    body = call.arguments(TaskChange)
    asked: Arguments = EditTask(
        body.id, body.title, body.instructions, body.scheduled_for, body.priority, body.delivery
    )
    changes = asked != EditTask(body.id)
    if not changes and body.action is None:
        raise BadInput("Give an action, or what is to be changed.", field="action")
    if changes and body.action is not None:
        raise BadInput("Give an action or what is to be changed, not both.", field="action")
    if body.action is not None:
        asked = _ACTIONS[body.action](id=body.id)
    return result_of(await perform(call, asked))


@read("/api/tasks/{id}/builder-state", "BuilderState")
async def builder_state(call: Call) -> CallResult:
    """Its contract and what the checks found, as S2's builder-state.json."""
    now = call.app.clock.now()
    return CallResult(await call.app.db.read(_builder_state, call.task_id, now))


async def detail(call: Call) -> tuple[str, JsonMap]:
    """Return a task's version and all its details."""
    return await call.app.db.read(_detail, call, call.task_id)


def _detail(tx: Tx, call: Call, task_id: TaskId) -> tuple[str, JsonMap]:
    version, task = tasks.version(tx, task_id), tasks.get(tx, task_id)
    used, undo = spending.told_apart(tx, task_id), call.app.settings.deliver.undo
    asked = [WaitingReview(each, task, used) for each in reviews.of_task(tx, task_id)]
    return version, {
        **show(task, call.view),
        "log": [follow.record(each) for each in events.last_of_task(tx, task_id, RECENT)],
        "reviews": [review_to_json(each, undo) for each in asked],
        "runs": [shapes.run(each) for each in runs.of_task(tx, task_id, RECENT)],
        "usage": shapes.usage(used),
    }


def _log(tx: Tx, task_id: TaskId, after: int, limit: int) -> list[Event]:
    tasks.find_row(tx, task_id)
    return events.of_task(tx, task_id, after, limit)


def _builder_state(tx: Tx, task_id: TaskId, now: datetime) -> JsonMap:
    return tries.builder_state(tx, [tasks.get(tx, task_id)], now)


# Whatever is in it, a browser runs and loads nothing of it.
_SANDBOX: Final = "sandbox; default-src 'none'; frame-ancestors 'none'"
_SHOWN: Final = checks.IMAGES | checks.OFFICE | {checks.PDF, checks.ZIP, checks.TEXT, "text/csv"}


@read("/api/tasks/{id}/files", "TaskFiles")
async def list_files(call: Call) -> CallResult:
    """The files of a task, in and out."""
    task = await call.app.db.read(tasks.get, call.task_id)
    found: list[Json] = [file_to_json(each) for each in task.files]
    return CallResult({"files": found})


@read("/api/tasks/{id}/files/{sha256}", "FileContent")
async def download(call: Call) -> CallResult:
    """One of its files, to be saved."""
    task = await call.app.db.read(tasks.get, call.task_id)
    file = next((each for each in task.files if each.sha256 == call.path["sha256"]), None)
    kept = task_files(call.app.settings)
    content = await asyncio.to_thread(kept.read, file.sha256) if file else None
    if file is None or content is None:
        raise NotFound("file", f"{call.path['sha256'][:12]!r} of {call.task_id}")
    name = quote(file.name, safe="")
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
        "Content-Security-Policy": _SANDBOX,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
    media = file.type if file.type in _SHOWN else checks.UNKNOWN
    return CallResult(None, media=media, headers=headers, raw=content)


def file_to_json(file: TaskFile) -> JsonMap:
    return picked(file, "name type size sha256 made taint")


save_file: Final = page("/tasks/{id}/files/{sha256}")(download.does)


async def named_files(call: Call, named: Sequence[str]) -> dict[str, str]:
    """Return the files that a form names, by their names: each says its hash and its name.

    What a form without a script carries is kept first.
    """
    for each in call.uploads:
        content = base64.b64encode(each.content).decode("ascii")
        await perform(call, KeepFile(each.name[:300] or "file", content))
    found: dict[str, str] = {}
    for one in named:
        digest, _, given_name = one.partition(" ")
        name = checks.safe_name(given_name)
        while found.get(name, digest) != digest:
            name = f"copy of {name}"
        found[name] = digest
    return found
