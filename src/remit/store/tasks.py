"""Tasks: insert, read, change and delete."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Concatenate, Final, ParamSpec, TypeVar

from msgspec.structs import replace

from remit.errors import Conflict, NotFound, OutOfDate
from remit.model.codec import Json, JsonMap, to_json
from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.run import EventKind, NewEvent
from remit.model.status import TERMINAL, Actor, Status
from remit.model.task import SourceKind, Task, TaskType
from remit.model.view import TaskState
from remit.store import events, rows
from remit.store.database import Row, Tx, quick

P = ParamSpec("P")
T = TypeVar("T")

MAX_PLANNED: Final = 2_000


@quick
def admit(tx: Tx, task: Task) -> Task:
    """Store a new task with its first event; the same source again returns the earlier task."""
    task = _at_first_time(task)
    added = tx.run("insert_task", _columns(task))
    if not added:
        source = {"kind": task.source.kind.value, "ref": task.source.ref}
        # Only this conflict makes the insert add nothing.
        return with_deliveries(tx, rows.found(tx.one("get_task_by_source", source)))
    for n, delivery in enumerate(task.delivery):
        tx.run("insert_delivery", _delivery_columns(task, n, delivery))
    events.append(tx, task.id, 1, _creation_event(task), task.created_at)
    return _begun(tx, task) if _comes_back(task) else task


def amend(tx: Tx, task: Task, now: datetime) -> None:
    """Store what an answer made of a task that has not begun, with the whole new plan."""
    row = tx.one("amend_task", amended_columns(task) | {"now": rows.ms(now)})
    if row is None:
        raise Conflict(f"Task {task.id} has begun; what it asked about is settled.")
    replace_deliveries(tx, task)
    entry = NewEvent(
        EventKind.TASK_UPDATED, Actor.OWNER, {"what": "as you answered", **task_to_journal(task)}
    )
    events.append(tx, task.id, rows.number(row["events"]), entry, now)
    if _comes_back(task):
        _begun(tx, task)


def read(tx: Tx, task: Task, now: datetime) -> Row | None:
    """Store what the words of a message ask for; None if they no longer wait."""
    task = _at_first_time(task)
    columns = _columns(task)
    names = (*_AMENDED, "assigned_agent", "priority")
    row = tx.one(
        "set_read_message", {name: columns[name] for name in names} | {"now": rows.ms(now)}
    )
    if row is None:
        return None
    replace_deliveries(tx, task)
    entry = NewEvent(
        EventKind.TASK_UPDATED, Actor.INTAKE, {"what": "read", **task_to_journal(task)}
    )
    events.append(tx, task.id, rows.number(row["events"]), entry, now)
    if _comes_back(task):
        _begun(tx, task)
    return row


def amended_columns(task: Task) -> dict[str, str | int | None]:
    """Return the columns that may change before a task begins."""
    columns = _columns(task)
    return {name: columns[name] for name in _AMENDED}


def replace_deliveries(tx: Tx, task: Task) -> None:
    """Replace all planned deliveries by those of the task."""
    tx.run("delete_deliveries", {"task": task.id})
    for n, delivery in enumerate(task.delivery):
        tx.run("insert_delivery", _delivery_columns(task, n, delivery))


@quick
def version(tx: Tx, task_id: TaskId) -> str:
    """Return a text that changes with every change of a task."""
    return version_of(find_row(tx, task_id))


def version_of(row: Row) -> str:
    return "-".join(str(rows.number(row[name])) for name in ("events", "lease", "updated_at"))


def matching(
    tx: Tx,
    expected: str,
    verb: Callable[Concatenate[Tx, TaskId, P], T],
    task_id: TaskId,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Run a verb on a task if its version is still the expected one."""
    if version(tx, task_id) != expected:
        raise OutOfDate(f"Task {task_id} has changed since you looked at it; look again.")
    return verb(tx, task_id, *args, **kwargs)


def _begun(tx: Tx, task: Task) -> Task:
    from remit.store import series  # noqa: PLC0415 - who only looks need not wait for the rules

    return series.begin(tx, task)


def _at_first_time(task: Task) -> Task:
    """Set the time of a repeating task without one to the first time of its rule."""
    if task.repeats is None or task.scheduled_for is not None or task.gaps:
        return task
    return replace(task, type=TaskType.SCHEDULED, scheduled_for=task.repeats.first)


def _comes_back(task: Task) -> bool:
    """Whether a series begins with it: once nothing of the request is open."""
    return task.repeats is not None and not task.gaps and task.series_id is None


@quick
def get(tx: Tx, task_id: TaskId) -> Task:
    return with_deliveries(tx, find_row(tx, task_id))


def find_row(tx: Tx, task_id: TaskId) -> Row:
    row = tx.one("get_task", {"id": task_id})
    if row is None:
        raise NotFound("task", task_id)
    return row


def with_deliveries(tx: Tx, row: Row) -> Task:
    if not row["parcels"]:
        return rows.task(row)
    found = tx.all("list_deliveries", {"task": row["id"]})
    return rows.task(row, tuple(rows.delivery(part) for part in found))


def all_with_deliveries(tx: Tx, found: Sequence[Row]) -> list[Task]:
    """Load many tasks with one query for their deliveries."""
    ids = [row["id"] for row in found if row["parcels"]]
    parts: dict[object, list[Delivery]] = {}
    if ids:
        for part in tx.all("list_deliveries_of_tasks", {"tasks": json.dumps(ids)}):
            parts.setdefault(part["task_id"], []).append(rows.delivery(part))
    return [rows.task(row, tuple(parts.get(row["id"], ()))) for row in found]


def by_id(tx: Tx, some: Sequence[TaskId]) -> dict[TaskId, Task]:
    """Return the existing ones among some tasks, deleted ones too."""
    found = tx.all("list_tasks_by_id", {"tasks": json.dumps(list(some))})
    return {task.id: task for task in all_with_deliveries(tx, found)}


def of_agent(tx: Tx, agent: str, most: int) -> list[Task]:
    """Return the newest tasks of one agent or project, oldest of them first."""
    found = tx.all("list_assigned_tasks", {"agent": agent, "most": most})
    return all_with_deliveries(tx, found[::-1])


def delete(tx: Tx, task_id: TaskId, now: datetime) -> Task:
    """Hide an ended task; its journal stays."""
    return _mark(tx, task_id, now, "deleted", rows.ms(now))


def undelete(tx: Tx, task_id: TaskId, now: datetime) -> Task:
    return _mark(tx, task_id, now, "restored", None)


def _mark(tx: Tx, task_id: TaskId, now: datetime, what: str, deleted_at: int | None) -> Task:
    row = tx.one("set_task_deleted", {"id": task_id, "deleted_at": deleted_at, "now": rows.ms(now)})
    if row is None:
        raise NotFound("ended task", task_id)
    entry = NewEvent(EventKind.TASK_UPDATED, Actor.OWNER, {"what": what})
    events.append(tx, task_id, rows.number(row["events"]), entry, now)
    return get(tx, task_id)


def _columns(task: Task) -> dict[str, str | int | None]:
    return {
        "id": task.id,
        "type": task.type.value,
        "source_kind": task.source.kind.value,
        "source_ref": task.source.ref,
        "title": task.title,
        "instructions": task.instructions,
        "priority": task.priority.value,
        "session_id": task.session_id,
        "series_id": task.series_id,
        "slot_at": rows.millis(task.slot),
        "precomposed": task.plan.precomposed,
        "parcels": len(task.delivery),
        "created_by": task.created_by.value,
        "taint": task.taint.value,
        "assigned_agent": task.assigned_agent,
        "now": rows.ms(task.created_at),
        "scheduled_for": rows.millis(task.scheduled_for),
        "retry_of": task.retry_of,
        "details": rows.details(task),
        "contract_type": task.contract.type.value if task.contract else None,
    }


def _delivery_columns(task: Task, n: int, delivery: Delivery) -> dict[str, str | int | None]:
    return {
        "id": delivery.id,
        "task": task.id,
        "n": n,
        "channel": delivery.channel,
        "recipient": delivery.recipient,
        "content": delivery.content,
    }


def _creation_event(task: Task) -> NewEvent:
    data: JsonMap = {"source": f"{task.source.kind}:{task.source.ref}", **task_to_journal(task)}
    data |= {"context": task.context, "priority": task.priority.value if task.rule else None}
    return NewEvent(EventKind.TASK_CREATED, Actor.INTAKE, {k: v for k, v in data.items() if v})


def task_to_journal(task: Task) -> JsonMap:
    """Return everything a task asks for, as the journal stores it."""
    return {
        "title": task.title,
        "instructions": task.instructions,
        "scheduledFor": to_json(task.scheduled_for),
        "work": list[Json](item.description for item in task.work),
        "delivery": [_delivery_to_journal(delivery) for delivery in task.delivery],
    }


def _delivery_to_journal(delivery: Delivery) -> Json:
    return {
        "id": delivery.id,
        "channel": delivery.channel,
        "recipient": delivery.recipient,
        "content": delivery.content,
    }


def counts(tx: Tx, most: int | None = None) -> dict[str, int]:
    """Return the number of tasks by status, each up to `most`."""
    if most is None:
        return {str(row["status"]): rows.number(row["tasks"]) for row in tx.all("count_by_status")}
    found = {each.value: count(tx, each, most) for each in Status}
    return {status: number for status, number in found.items() if number}


def count(tx: Tx, status: Status, most: int) -> int:
    """Return how many tasks have this status, up to `most`."""
    gone = tx.all("count_deleted", {"status": status})[0]["tasks"]
    row = tx.all("count_status", {"status": status, "most": most, "gone": gone})[0]
    return rows.number(row["tasks"])


def ids_like(tx: Tx, prefix: str) -> Iterable[TaskId]:
    """Return up to three ids with this prefix; a person types the shortest unique part."""
    return [
        TaskId(str(row["id"])) for row in tx.all("list_task_ids_like", rows.prefix_range(prefix))
    ]


_AMENDED: Final = (
    "id",
    "title",
    "instructions",
    "type",
    "scheduled_for",
    "precomposed",
    "parcels",
    "details",
    "contract_type",
)


def planned_between(
    tx: Tx, since: datetime, until: datetime, limit: int = MAX_PLANNED
) -> list[Task]:
    """Return everything with a time: open tasks by plan, ended ones by their end."""
    span = {"since": rows.ms(since), "until": rows.ms(until), "limit": limit}
    found = tx.all("list_planned_tasks", span)
    for status in TERMINAL:
        found += tx.all("list_ended_tasks", {"status": status, **span})
    found.sort(key=_planned_or_ended)
    return all_with_deliveries(tx, found[:limit])


def _planned_or_ended(row: Row) -> tuple[int, int]:
    return rows.number(row["completed_at"] or row["scheduled_for"]), rows.number(row["no"])


def statuses_of(tx: Tx, task_ids: Sequence[TaskId]) -> list[TaskState]:
    """Return the state of the existing ones among some tasks, in the given order."""
    named = tx.all("list_task_statuses", {"tasks": json.dumps(task_ids)})
    found = {str(row["id"]): _task_state(row) for row in named}
    return [found[each] for each in dict.fromkeys(task_ids) if each in found]


def _task_state(row: Row) -> TaskState:
    wish = rows.text(row["wish"])
    return TaskState(
        id=TaskId(str(row["id"])),
        title=str(row["title"]),
        status=rows.word(Status, row["status"]),
        pausing=wish == "pause",
        leaving=wish in ("cancel", "delete"),
        deleted=row["deleted_at"] is not None,
        held=row["worker"] is not None,
    )


def child_refs(tx: Tx, prefix: str, limit: int) -> list[str]:
    """Return the source refs of tasks created by one round of a task, up to a limit."""
    family = {"kind": SourceKind.AGENT.value, **rows.prefix_range(prefix)}
    found = tx.all("list_children", {**family, "limit": limit})
    return [str(row["source_ref"]) for row in found]


def tell_parent(tx: Tx, child: Task, to: Status, summary: str | None, now: datetime) -> None:
    """Journal in the parent's log how this task ended."""
    parent = child.context.get("parent")
    if child.source.kind is not SourceKind.AGENT or not isinstance(parent, str):
        return
    row = tx.one("record_task_event", {"id": parent, "now": rows.ms(now)})
    if row is None:
        return
    data: JsonMap = {"what": "a task it made has ended", "task": child.id, "to": to}
    data |= {"summary": summary} if summary else {}
    entry = NewEvent(EventKind.TASK_UPDATED, Actor.EXECUTOR, data)
    events.append(tx, TaskId(parent), rows.number(row["events"]), entry, now)
