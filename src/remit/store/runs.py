"""Runs and their steps: what a task's legs did, and what is never repeated."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct

from remit.errors import LeaseLost
from remit.model.codec import Json, JsonMap, stored_text
from remit.model.ids import RunId, TaskId, WorkerId
from remit.model.run import EventKind, Lease, NewEvent, Run
from remit.model.status import Actor, Status
from remit.model.task import Task
from remit.store import events, rows
from remit.store.database import Params, Row, Tx, patient

# The parts of a result that its event shows.
_SHOWN: Final = ("text", "ask", "done", "read_from", "fallback_note")


@patient
def record_steps(
    tx: Tx, lease: Lease, done: Mapping[str, Json], details: str | None, now: datetime
) -> str | None:
    """Store the results of steps; return the owner's request made meanwhile, if any.

    Raises LeaseLost if this leg no longer holds the lease.
    """
    held: Params = {
        "id": lease.task_id,
        "lease": lease.number,
        "details": details,
        "count": len(done),
        "now": rows.ms(now),
    }
    row = tx.one("record_leg_event", held)
    if row is None:
        raise LeaseLost(lease.task_id, lease.number)
    insert_steps(tx, lease, row, done, rows.number(row["events"]) - len(done) + 1, now)
    return rows.text(row["wish"])


def insert_steps(
    tx: Tx, lease: Lease, held: Row, done: Mapping[str, Json], first: int, now: datetime
) -> None:
    """Keep the results of steps in the round of the task that is held, with an event each."""
    for place, (name, output) in enumerate(done.items(), first):
        step = (lease.task_id, held["round"], name, stored_text(output), rows.ms(now))
        tx.run("insert_step", step)
        entry = NewEvent(EventKind.STEP_DONE, Actor.EXECUTOR, _step_details(name, output, lease))
        events.append(tx, lease.task_id, place, entry, now)


@patient
def say(tx: Tx, lease: Lease, facts: JsonMap, details: str | None, now: datetime) -> None:
    """Store progress that a run reports while the brain works."""
    held: Params = {
        "id": lease.task_id,
        "lease": lease.number,
        "details": details,
        "count": 1,
        "now": rows.ms(now),
    }
    row = tx.one("record_leg_event", held)
    if row is None:
        raise LeaseLost(lease.task_id, lease.number)
    entry = NewEvent(EventKind.RUN_SAID, Actor.EXECUTOR, facts)
    events.append(tx, lease.task_id, rows.number(row["events"]), entry, now)


def _step_details(name: str, output: Json, lease: Lease) -> JsonMap:
    """Return a step's event data; a result in words becomes the log line."""
    data: JsonMap = {"step": name, "run": lease.run_id}
    fields = output if isinstance(output, dict) else {}
    for part in ("snippets", "alike"):  # only which tasks were recalled, not their text
        value = fields.get(part)
        if isinstance(value, list):
            known = data.setdefault("recalled", [])
            assert isinstance(known, list)  # noqa: S101 - made one line above
            known += [each["task_id"] for each in value if isinstance(each, dict)]
    claim = fields.get("claim")
    if isinstance(claim, dict):  # a specialist's
        spoken = claim.get("text") or claim.get("error")
        data |= {"agent": fields.get("agent"), "outcome": claim.get("outcome")}
        data |= {"text": spoken} if spoken else {}
    return data | {part: fields[part] for part in _SHOWN if fields.get(part)}


def steps(tx: Tx, task: Task) -> dict[str, Json]:
    """Return the results of this round's steps, by name."""
    found = tx.all("list_steps", {"task": task.id, "round": task.round})
    return {str(row["name"]): json.loads(str(row["output"])) for row in found}


LOOK: Final = "look_for_change"  # the step in which a run looks at what it watches


def last_look(tx: Tx, task: Task) -> str | None:
    """Return the digest that the last completed run of the same session saw; None if none did."""
    row = tx.one("last_watch_look", {"session": task.session_id, "id": task.id, "step": LOOK})
    return str(json.loads(str(row["output"]))["digest"]) if row else None


class StoredStep(Struct, frozen=True):
    """A stored step: its round, its result, and its time."""

    round: int
    name: str
    output: Json
    ended_at: datetime


def tries(tx: Tx, task_id: TaskId) -> list[StoredStep]:
    """Return the steps about attempts and checks, in order."""
    found = [
        rows.value(StoredStep, row, output=json.loads(str(row["output"])))
        for row in tx.all("list_attempt_steps", {"task": task_id})
    ]
    return sorted(found, key=lambda each: (each.round, each.ended_at, each.name))


def end(
    tx: Tx, lease: Lease, started_at: datetime, now: datetime, outcome: str, note: str | None
) -> None:
    """Store how a leg ended."""
    tx.run(
        "insert_run",
        {
            "id": lease.run_id,
            "task": lease.task_id,
            "lease": lease.number,
            "worker": lease.worker,
            "started_at": rows.ms(started_at),
            "now": rows.ms(now),
            "outcome": outcome,
            "note": note,
        },
    )


def compare_with_previous(
    tx: Tx, task: Task, failure: str | None, now: datetime
) -> dict[str, Json]:
    """Return how an end follows the failure of the run before: the same again, or works again.

    Of runs that fail in the same way, only the latest waits in the inbox.
    """
    before = tx.one("previous_end", {"series": task.series_id, "id": task.id})
    if before is None or before["status"] != Status.FAILED:
        return {}
    if failure is None:
        return {"recovered": True}
    if _failure_kind(failure) != _failure_kind(str(before["note"] or "")):
        return {}
    tx.run("mark_task_seen", {"id": rows.text(before["id"]), "now": rows.ms(now)})
    return {"repeated": True}


def _failure_kind(note: str) -> str:
    """Return a failure without its numbers and ids, so that the same kind compares equal."""
    return re.sub(r"[\w-]*\d[\w-]*", "#", note.casefold())


def lease_of(row: Row) -> Lease:
    """Return the lease under which a task's row is held."""
    return Lease(
        TaskId(str(row["id"])),
        rows.number(row["lease"]),
        WorkerId(str(row["worker"])),
        RunId(str(row["run_id"])),
    )


def of_task(tx: Tx, task_id: TaskId, limit: int = 50) -> list[Run]:
    """Return the newest legs first."""
    return [rows.value(Run, row) for row in tx.all("list_runs", {"task": task_id, "limit": limit})]


def beat(tx: Tx, worker: WorkerId, now: datetime) -> None:
    """Record that a worker is alive."""
    tx.run("record_heartbeat", {"id": worker, "now": rows.ms(now)})


def leave(tx: Tx, worker: WorkerId, now: datetime) -> None:
    """Record that a worker stopped in good order."""
    tx.run("end_worker", {"id": worker, "now": rows.ms(now)})
