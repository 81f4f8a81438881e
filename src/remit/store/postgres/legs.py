"""Legs on several machines: claimed by the dispatcher, begun by a worker, released when it died."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.model.ids import ReviewId, TaskId, WorkerId
from remit.model.run import Lease
from remit.store import queue, reviews, rows, runs, tasks
from remit.store.database import Tx
from remit.store.queue import ClaimedTask

DISPATCHED: Final = WorkerId("temporal")  # holds what was claimed and has no worker yet
_TASK: Final = "task-"  # how the id of a task begins
ALIVE: Final = timedelta(seconds=60)  # since the last beat of a worker that gets work


class QueueLoad(Struct, frozen=True):
    """What is held at the moment, and how much more can be."""

    slots: int  # of all workers that live
    sources: Mapping[str, int]
    suspects: int  # held tasks that were running when a worker died

    @property
    def free(self) -> int:
        return max(0, self.slots - sum(self.sources.values()))


class HeldLeg(Struct, frozen=True):
    task_id: TaskId
    lease: int
    begun: bool


class WorkerState(Struct, frozen=True):
    id: WorkerId
    place: str
    queues: str
    slots: int
    runs: tuple[str, ...]  # ids of tasks, and names of duties
    beat_at: datetime

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(each for each in self.runs if each.startswith(_TASK))

    @property
    def duties(self) -> tuple[str, ...]:
        return tuple(each for each in self.runs if not each.startswith(_TASK))


def load(tx: Tx, now: datetime) -> QueueLoad:
    held = tx.ask(
        "SELECT source_kind, COUNT(*) AS n, COUNT(*) FILTER (WHERE crashes > 0) AS suspects"
        " FROM tasks WHERE worker IS NOT NULL GROUP BY source_kind"
    )
    (row,) = tx.ask(
        "SELECT COALESCE(SUM(slots), 0)::BIGINT AS slots FROM worker_loads"
        " JOIN workers ON workers.id = worker WHERE ended_at IS NULL AND beat_at > ?",
        (rows.ms(now - ALIVE),),
    )
    sources = Counter({str(each["source_kind"]): rows.number(each["n"]) for each in held})
    suspects = sum(rows.number(each["suspects"]) for each in held)
    return QueueLoad(rows.number(row["slots"]), sources, suspects)


def begin(
    tx: Tx, task_id: TaskId, lease: int, worker: WorkerId, now: datetime
) -> ClaimedTask | None:
    """Give a dispatched leg to a worker, once; None if it is not to be run any more."""
    found = tx.ask(
        "UPDATE tasks SET worker = ?, leg_at = ? WHERE id = ? AND lease = ? AND worker = ?"
        " RETURNING *",
        (worker, rows.ms(now), task_id, lease, DISPATCHED),
    )
    if not found:
        return None
    task = tasks.with_deliveries(tx, found[0])
    held: Lease = runs.lease_of(found[0])
    return ClaimedTask(task, held, runs.steps(tx, task), reviews.decisions(tx, task.id))


def release(tx: Tx, task_id: TaskId, lease: int, review_id: ReviewId, now: datetime) -> bool:
    """Take a task from a worker that died, so that it goes on elsewhere; False if it ended."""
    query = "SELECT * FROM tasks WHERE id = ? AND lease = ? AND worker IS NOT NULL FOR UPDATE"
    found = tx.ask(query, (task_id, lease))
    for row in found:
        queue.release_crashed(tx, row, review_id, now)
    return bool(found)


def is_held(tx: Tx, task_id: TaskId, lease: int) -> bool:
    query = "SELECT 1 FROM tasks WHERE id = ? AND lease = ? AND worker IS NOT NULL"
    return bool(tx.ask(query, (task_id, lease)))


def held(tx: Tx, before: datetime, limit: int) -> list[HeldLeg]:
    """Return the legs that have been held for longest."""
    found = tx.ask(
        "SELECT id, lease, worker FROM tasks WHERE worker IS NOT NULL AND leg_at <= ?"
        " ORDER BY leg_at LIMIT ?",
        (rows.ms(before), limit),
    )
    return [
        HeldLeg(TaskId(str(row["id"])), rows.number(row["lease"]), row["worker"] != DISPATCHED)
        for row in found
    ]


def report_load(tx: Tx, state: WorkerState) -> None:
    """Record that a worker is alive, and what it does."""
    runs.beat(tx, state.id, state.beat_at)
    tx.ask(
        "INSERT INTO worker_loads (worker, place, queues, slots, runs) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (worker) DO UPDATE SET slots = excluded.slots, runs = excluded.runs",
        (state.id, state.place, state.queues, state.slots, json.dumps(state.runs)),
    )


def workers(tx: Tx, since: datetime) -> Sequence[WorkerState]:
    """Return the workers that have been heard of since then and have not ended."""
    found = tx.ask(
        "SELECT * FROM worker_loads JOIN workers ON workers.id = worker"
        " WHERE ended_at IS NULL AND beat_at > ? ORDER BY place",
        (rows.ms(since),),
    )
    return [
        WorkerState(
            WorkerId(str(row["worker"])),
            str(row["place"]),
            str(row["queues"]),
            rows.number(row["slots"]),
            tuple(json.loads(str(row["runs"]))),
            rows.parse_time(row["beat_at"]),
        )
        for row in found
    ]
