"""What reflection needs: ended tasks, rejected lessons, and changes."""

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from msgspec import Struct

from remit.model.codec import Json, JsonMap
from remit.model.ids import TaskId
from remit.model.likeness import FileVersion, LessonFile
from remit.model.run import Event, EventKind, NewEvent
from remit.model.status import Actor
from remit.model.task import Source, Task
from remit.store import events, rows, series, series_orders, tasks
from remit.store.database import Tx


class LessonChange(Struct, frozen=True, kw_only=True):
    """A change about to be made. The same `key` is recorded once."""

    key: str
    file: LessonFile
    was: str
    digest: str
    why: str
    by: str
    task_id: TaskId | None = None
    reverts: int | None = None


def ends(tx: Tx, since: int, span: int) -> tuple[list[Event], int]:
    """Return the task ends in the next part of the journal, and up to where it was read."""
    until = min(since + span, events.last(tx))
    found = tx.all("list_task_ends", {"since": since, "until": until})
    return [rows.event(row) for row in found], until


def tasks_by_id(tx: Tx, task_ids: Sequence[str]) -> dict[str, Task]:
    """Return the existing, undeleted tasks among these, by id."""
    found = tasks.by_id(tx, [TaskId(each) for each in task_ids])
    return {str(task.id): task for task in found.values() if task.deleted_at is None}


def list_ended(tx: Tx, since: datetime, until: datetime, limit: int) -> list[Task]:
    """Return the tasks that ended in a time span, latest first."""
    span = {"since": rows.ms(since), "until": rows.ms(until), "limit": limit}
    return tasks.all_with_deliveries(tx, tx.all("list_ended_between", span))


def list_unwanted(tx: Tx, since: datetime) -> dict[str, str]:
    """Return lessons that wait, were declined or were reverted, by key, as shown."""
    found = tx.all("list_lesson_reviews", {"since": rows.ms(since)})
    return {str(row["about"]).partition(":")[2]: str(row["evidence"]) for row in found}


def change(tx: Tx, lesson_change: LessonChange, now: datetime) -> bool:
    """Write a change down with its event, before its file is touched; False if it was before."""
    names = ("file", "was", "digest", "why", "by", "task", "reverts")
    columns = rows.columns(lesson_change, task=lesson_change.task_id, now=rows.ms(now))
    made = tx.run("insert_rule_version", columns)
    if made:
        change: JsonMap = {name: cast("Json", columns[name]) for name in names}
        events.append(tx, None, 0, NewEvent(EventKind.RULES_CHANGED, Actor.OWNER, change), now)
    return bool(made)


def pause_series_of(tx: Tx, source: Source, now: datetime) -> None:
    """Pause the series that began with a cue, if it is running."""
    row = tx.one("get_task_by_source", {"kind": source.kind.value, "ref": source.ref})
    found = series.get(tx, series.id_of(TaskId(str(row["id"])))) if row else None
    if found is not None and found.ended_at is None and found.paused_at is None:
        series_orders.pause(tx, found.id, now)


def is_made(tx: Tx, key: str) -> bool:
    """Whether a change was recorded under a key."""
    return tx.one("get_rule_version", {"key": key}) is not None


def versions(tx: Tx) -> tuple[FileVersion, ...]:
    """Return every change, oldest first."""
    return tuple(rows.value(FileVersion, row) for row in tx.all("list_rule_versions"))
