"""To-do copies of tasks: what was written to the phones' list, and with which etag."""

from datetime import datetime

from msgspec import Struct

from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor
from remit.store import events, meta, rows
from remit.store.database import Tx


class TodoCopy(Struct, frozen=True):
    """What was last written of a task; without an etag somebody deleted it for good."""

    task_id: TaskId
    etag: str
    digest: str


def get(tx: Tx, task_id: TaskId) -> TodoCopy | None:
    row = tx.one("get_mirrored", {"task": task_id})
    return TodoCopy(task_id, str(row["etag"]), str(row["digest"])) if row else None


def ended_before(tx: Tx, before: datetime, limit: int) -> list[TodoCopy]:
    """Return copies whose tasks ended before a moment."""
    found = tx.all("list_old_mirrored", {"before": rows.ms(before), "limit": limit})
    return [
        TodoCopy(TaskId(str(row["task_id"])), str(row["etag"]), str(row["digest"])) for row in found
    ]


def put(tx: Tx, copy: TodoCopy) -> None:
    tx.run("put_mirrored", {"task": copy.task_id, "etag": copy.etag, "digest": copy.digest})


def mark(tx: Tx) -> int:
    """Return up to which journal event the list is current."""
    return int(meta.get(tx, "mirrored") or 0)


def mark_at(tx: Tx, seq: int) -> None:
    meta.put(tx, "mirrored", str(seq))


def note(tx: Tx, task_id: TaskId, details: JsonMap, now: datetime) -> None:
    """Journal in a task's log what somebody did in the list; it has no other effect."""
    row = tx.one("record_task_event", {"id": task_id, "now": rows.ms(now)})
    assert row is not None  # noqa: S101 - tasks are kept
    entry = NewEvent(EventKind.TASK_UPDATED, Actor.META, details)
    events.append(tx, task_id, rows.number(row["events"]), entry, now)
