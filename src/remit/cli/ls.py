"""`remit ls`: list the newest tasks, one line each."""

import os
from datetime import datetime
from typing import Annotated, Final

from msgspec.structs import replace

from remit.cli import clock, out, words
from remit.cli.lookup import database_of
from remit.cli.out import AsJson, Piece, StyledText, flag, number_flag
from remit.model.proof import is_unverified, why_unverified
from remit.model.status import Status
from remit.model.task import Priority, SourceKind, Task, TaskType
from remit.model.view import JsonView
from remit.model.view import show as view
from remit.store import reviews, search, tasks
from remit.store.database import Tx
from remit.store.read_only import open_read_only
from remit.store.search import TaskFilter

_LIMIT: Final = number_flag("At most this many; default: 50.", "--limit", "-n", most=search.MOST)
_ONLY_STATUS: Final = flag("Only tasks with this status; repeatable.", "--status", "-s")


def ls(  # noqa: PLR0913 - every flag is one
    *,
    status: Annotated[tuple[Status, ...], _ONLY_STATUS] = (),
    source: Annotated[SourceKind | None, flag("Only tasks from this source.")] = None,
    kind: Annotated[TaskType | None, flag("Only tasks of this type.", "--type")] = None,
    priority: Annotated[Priority | None, flag("Only tasks of this priority.")] = None,
    advisory: Annotated[bool, flag("Only unverified results, with the reason.")] = False,
    text: Annotated[str | None, flag("Only tasks with all these words.", "--query", "-q")] = None,
    limit: Annotated[int, _LIMIT] = 50,
    cursor: Annotated[str | None, flag("Continue after this task.")] = None,
    all_: Annotated[bool, flag("List all tasks, not only the first page.", "--all")] = False,
    deleted: Annotated[bool, flag("Only deleted tasks.")] = False,
    ids: Annotated[bool, flag("Print only ids, one per line.")] = False,
    json: AsJson = False,
) -> int:
    """List tasks, newest first."""
    wanted = TaskFilter(
        statuses=status,
        source=source,
        type=kind,
        priority=priority,
        unverified=advisory,
        text=text,
        limit=search.MOST if all_ else limit,
        deleted=deleted,
    )
    with open_read_only(database_of(os.environ)) as tx:
        if cursor is not None:
            wanted = replace(wanted, before=words.find_task(tx, cursor))
        page = None if all_ else search.page(tx, wanted)
        found = [*(page.tasks if page else words.every_task(tx, wanted))]
        more = page.next if page else None
        if json:
            out.emit({"tasks": [view(task, JsonView.S3) for task in found], "next": more})
        elif ids:
            for task in found:
                out.line(task.id)
        else:
            _print(tx, found, more, why=advisory)
    return 0


def _print(tx: Tx, found: list[Task], more: str | None, *, why: bool) -> None:
    if not found:
        out.say(_empty_sentence(tx))
        return
    now = clock.now()
    asking = reviews.asking(tx, [task.id for task in found])
    ranked = any(task.priority is not Priority.LOW for task in found)
    last = ["TITLE", "WHY"] if why else ["TITLE"]
    head = ["ID", "STATUS", "WHEN", *(["PRIORITY"] if ranked else []), *last]
    rows: list[list[Piece]] = []
    for task in found:
        row: list[Piece] = [
            StyledText(words.short_id(tx, task.id), "dim"),
            _status(task, now, asks=task.id in asking),
            words.relative(words.latest(task), now),
        ]
        if ranked:
            row.append(task.priority.value)
        rows.append([*row, task.title, why_unverified(task) or ""] if why else [*row, task.title])
    out.table(rows, head)
    if more is not None:
        out.hint(f"There are more: remit ls --cursor {more}, or --all.")


def _status(task: Task, now: datetime, *, asks: bool) -> StyledText:
    """Return its status; an unverified result is marked."""
    text = words.status(task, now, asks=asks)
    return StyledText(f"{text.text}, not verified", "yellow") if is_unverified(task) else text


def _empty_sentence(tx: Tx) -> str:
    if tasks.counts(tx):
        return "No task fits."
    return 'No tasks yet. Add one: remit add "Say hello" --text "Hello!"'
