"""Criteria that wait for their group, and the pending verdict after they are settled."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from remit.model.codec import Json, JsonMap, from_json, stored_text, to_json
from remit.model.contract import Criterion, Finding, Verdict
from remit.model.deferred import (
    LATER,
    NEVER,
    UNMERGED,
    DeferredBatch,
    DeferredCriterion,
    DeferredGroup,
    GroupEnd,
    document_of,
    drop_deferred,
    is_late,
    settle_verdict,
)
from remit.model.ids import TaskId
from remit.model.reply import PROJECT
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor
from remit.model.task import Task
from remit.store import events, rows, tasks
from remit.store.database import Row, Tx, single


def put_off(tx: Tx, waits: Iterable[DeferredCriterion]) -> None:
    """Store criteria to check later; repeating it changes nothing."""
    for each in waits:
        columns: dict[str, str | int] = {
            "task": each.task_id,
            "place": each.place,
            "project": each.batch.project,
            "branch": each.batch.branch,
            "ends": each.batch.group.ends.value,
            "name": each.batch.group.name,
            "criterion": stored_text(to_json(each.criterion)),
            "paths": stored_text(list[Json](each.paths)),
            "now": rows.ms(each.since),
        }
        tx.run("put_deferred", columns)


@single
def list_deferred(tx: Tx) -> list[DeferredCriterion]:
    """Return all waiting criteria, in the order they were deferred."""
    return [_waiting(row) for row in tx.all("list_deferred")]


def of_task(tx: Tx, task_id: TaskId) -> list[DeferredCriterion]:
    return [_waiting(row) for row in tx.all("list_task_deferred", {"task": task_id})]


def at_work(tx: Tx, batch: DeferredBatch, waits: Collection[TaskId]) -> list[TaskId]:
    """Return the tasks a batch still waits for: open ones of its group, or with criteria in it."""
    found = tx.all("list_open_project_tasks", {"agent": f"{PROJECT}{batch.project}"})
    return [
        TaskId(str(row["id"])) for row in found if row["id"] in waits or _is_of(batch.group, row)
    ]


def settle(
    tx: Tx, task_id: TaskId, late: Mapping[int, Finding], about: JsonMap, now: datetime
) -> bool:
    """Store the findings of a task's criteria; False if that was done before."""
    new = {
        place: found
        for place, found in late.items()
        if tx.run(
            "settle_deferred",
            {
                "task": task_id,
                "place": place,
                "finding": stored_text(to_json(found)),
                "now": rows.ms(now),
            },
        )
    }
    task = tasks.get(tx, task_id)
    if not new or task.verdict is None:
        return False
    found: JsonMap = {each.activity: each.result.value for each in new.values()}
    details: JsonMap = {"what": LATER, **about, "found": found}
    _write(tx, task, settle_verdict(task.verdict, new, now), details, now)
    return True


def drop(tx: Tx, task: Task, now: datetime) -> None:
    """Handle the deferred criteria of an ended task: check them with the group, or never.

    They wait for the group only if the work was merged.
    """
    verdict = task.verdict
    late = verdict is not None and any(is_late(each) for each in verdict.findings)
    if verdict is None or not late or of_task(tx, task.id):
        return
    _write(tx, task, drop_deferred(verdict, UNMERGED), {"what": NEVER}, now)


def _write(tx: Tx, task: Task, verdict: Verdict, details: JsonMap, now: datetime) -> None:
    text = stored_text(to_json(verdict))
    found: dict[str, str | int] = {"verdict": text, "unproven": int(not verdict.passed)}
    row = rows.found(tx.one("settle_verdict", {"id": task.id, **found, "now": rows.ms(now)}))
    data: JsonMap = {**details, "overall": verdict.overall.value}
    entry = NewEvent(EventKind.TASK_UPDATED, Actor.VERIFIER, data)
    events.append(tx, task.id, rows.number(row["events"]), entry, now)


def _is_of(group: DeferredGroup, row: Row) -> bool:
    match group.ends:
        case GroupEnd.PRD:
            return document_of(row["prd"]) == group.name
        case GroupEnd.SERIES:  # a run that is only planned would keep the group open for ever
            return row["series_id"] == group.name and row["started_at"] is not None
        case GroupEnd.DAY:  # pragma: no branch - there is no other
            return False


def _waiting(row: Row) -> DeferredCriterion:
    group = DeferredGroup(rows.word(GroupEnd, row["ends"]), str(row["name"]))
    return DeferredCriterion(
        TaskId(str(row["task_id"])),
        rows.number(row["place"]),
        from_json(Criterion, json.loads(str(row["criterion"]))),
        DeferredBatch(str(row["project"]), str(row["branch"]), group),
        rows.parse_time(row["since_at"]),
        tuple(json.loads(str(row["paths"]))),
    )
