"""Tasks, their files and questions; the one address of a task that takes several operations."""

import asyncio
import base64
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from urllib.parse import quote

from remit.errors import BadInput, NotFound
from remit.files import checks
from remit.journal import follow, tries
from remit.model import ids
from remit.model.codec import Json, JsonMap, pick_fields
from remit.model.ids import ReviewId, TaskId
from remit.model.review import InboxGroup
from remit.model.run import Event
from remit.model.task_file import TaskFile
from remit.model.view import show
from remit.operations import reviews as review_operations
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
from remit.operations.shapes import review_receipt, review_to_json
from remit.operations.table import perform
from remit.server import listing, shapes
from remit.server.call import Call, CallResult, result_of, wrong_cursor
from remit.server.routes import (
    CURSOR,
    VIEW,
    QueryParameter,
    RouteTerms,
    cut,
    numbers,
    page,
    read,
)
from remit.store import events, inbox, reviews, runs, spending, tasks
from remit.store.database import Tx
from remit.store.inbox import InboxCounts, WaitingReview
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


_AFTER: Final = numbers("after", "Go on after this turnNumber.", 0, 0, 10**15 - 1)
_LINES: Final = numbers("limit", "How many.", 100, 1, 1000)


@read("/api/tasks/{id}/log", "Log", _AFTER, _LINES)
async def log(call: Call) -> CallResult:
    """What happened to a task, in order."""
    limit = _LINES.of(call)
    happened = await call.app.db.read(_log, call.task_id, _AFTER.of(call), limit + 1)
    found, last = cut(happened, limit)
    rows: list[Json] = [follow.record(event) for event in found]
    return CallResult({"log": rows, "next": last.n if last else None})


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
    return pick_fields(file, "name type size sha256 made taint")


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


# Questions, and what else waits for the owner -----------------------------------------------------

_QUESTIONS: Final = numbers("limit", "How many.", 100, 1, 500)
_OF_EACH: Final = numbers("limit", "How many of each.", 50, 1, 500)


@read(
    "/api/reviews",
    "Reviews",
    QueryParameter(
        "group",
        "Every question is one to decide; the inbox has what failed.",
        {"enum": [InboxGroup.DECIDE.value, InboxGroup.FIX.value]},
    ),
    QueryParameter("later", "Those that are put off, and only those.", {"enum": ["true", "false"]}),
    CURSOR,
    _QUESTIONS,
)
async def list_reviews(call: Call) -> CallResult:
    """Questions that wait for the owner, oldest first."""
    limit = _QUESTIONS.of(call)
    try:
        found, needs = await call.app.db.read(
            _open_reviews,
            call.app.clock.now(),
            call.flag("later"),
            call.cursor(ids.review_id),
            limit + 1,
        )
    except NotFound:
        raise wrong_cursor(call.text("cursor")) from None
    if call.word("group", InboxGroup) not in (None, InboxGroup.DECIDE):
        found = []  # every question is to be decided
    shown, last = cut(found, limit)
    listed: list[Json] = [_review_json(call, each) for each in shown]
    more = last.review.id if last else None
    return CallResult({"reviews": listed, "next": more, "needs": inbox_counts_to_json(needs)})


@read("/api/inbox", "Inbox", _OF_EACH, VIEW)
async def look_inbox(call: Call) -> CallResult:
    """All that waits for the owner: to decide, to look at, to fix."""
    limit, now = _OF_EACH.of(call), call.app.clock.now()
    asked, needs = await call.app.db.read(_open_reviews, now, False, None, limit)
    look = await call.app.db.read(inbox.look, now, limit)
    fix = await call.app.db.read(inbox.fix, now, limit)
    shown: list[Json] = [_review_json(call, each) for each in asked]
    return CallResult(
        {
            "reviews": shown,
            "look": [show(task, call.view) for task in look],
            "fix": [show(task, call.view) for task in fix],
            "needs": inbox_counts_to_json(needs),
        }
    )


@read("/api/reviews/{id}", "Review", tagged=True)
async def look_review(call: Call) -> CallResult:
    """One question, open or decided."""
    return result_of(await review_operations.look(call, call.review_id))


def inbox_counts_to_json(needs: InboxCounts) -> JsonMap:
    return pick_fields(needs, "total decide look fix later decisions")


def _review_json(call: Call, found: WaitingReview) -> JsonMap:
    content = review_to_json(found, call.app.settings.deliver.undo)
    return content if call.access.reads else review_receipt(content)


def _open_reviews(
    tx: Tx,
    now: datetime,
    put_off: bool,
    after: ReviewId | None,
    limit: int,
) -> tuple[list[WaitingReview], InboxCounts]:
    found = inbox.questions(tx, now, later=put_off, after=after, limit=limit)
    return found, inbox.needs(tx, now)
