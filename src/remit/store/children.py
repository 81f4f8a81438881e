"""Tasks that a brain made while it worked on another."""

from datetime import datetime

from remit.model.codec import JsonMap
from remit.model.event import Entry, Kind
from remit.model.ids import TaskId
from remit.model.status import Actor, Status
from remit.model.task import SourceKind, Task
from remit.store import events, rows
from remit.store.database import Tx


def refs(tx: Tx, family: str, limit: int) -> list[str]:
    """The source refs that begin so: what one round of one task has made, up to a limit."""
    found = tx.all(
        "list_children",
        {
            "kind": SourceKind.AGENT.value,
            "first": family,
            "end": family + "\U0010ffff",
            "limit": limit,
        },
    )
    return [str(row["source_ref"]) for row in found]


def tell_parent(tx: Tx, child: Task, to: Status, summary: str | None, now: datetime) -> None:
    """Write into the log of the task that made this one how it ended."""
    parent = child.context.get("parent")
    if child.source.kind is not SourceKind.AGENT or not isinstance(parent, str):
        return
    row = tx.one("note_task", {"id": parent, "now": rows.ms(now)})
    if row is None:
        return
    data: JsonMap = {"what": "a task it made has ended", "task": child.id, "to": to}
    data |= {"summary": summary} if summary else {}
    entry = Entry(Kind.TASK_UPDATED, Actor.EXECUTOR, data)
    events.append(tx, TaskId(parent), rows.number(row["events"]), entry, now)
