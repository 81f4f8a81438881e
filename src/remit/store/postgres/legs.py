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
from remit.store.database import Tx, single
from remit.store.queue import ClaimedTask

DISPATCHED: Final = WorkerId("temporal")  # holds what was claimed and has no worker yet
_TASK: Final = "task-"  # how the id of a task begins
SUSPECT: Final = 2  # workers that died of a task: a machine may die of itself, hardly twice
ALIVE: Final = timedelta(seconds=60)  # since the last beat of a worker that gets work


class QueueLoad(Struct, frozen=True):
    """What is held at the moment, and how much more can be.

    A leg in a queue that no worker serves waits in Temporal, and nothing else waits for it.
    """

    free: int  # slots of all workers that live
    queues: Mapping[str, int]  # of them, for each queue that one of them serves
    sources: Mapping[str, int]
    suspects: int  # held tasks that two workers died of


class HeldLeg(Struct, frozen=True):
    task_id: TaskId
    lease: int
    begun: bool
    on_code: bool


class WorkerState(Struct, frozen=True):
    id: WorkerId
    place: str
    queues: tuple[str, ...]
    slots: int
    runs: tuple[str, ...]  # ids of tasks, and names of duties
    beat_at: datetime

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(each for each in self.runs if each.startswith(_TASK))

    @property
    def duties(self) -> tuple[str, ...]:
        return tuple(each for each in self.runs if not each.startswith(_TASK))


def load(tx: Tx, names: Mapping[str, str], now: datetime) -> QueueLoad:
    """Return the load of the workers that live; `names` are Temporal's names of the queues."""
    alive = workers(tx, now - ALIVE)
    slots: Counter[str] = Counter()
    for each in alive:
        slots.update({short: each.slots for short, name in names.items() if name in each.queues})
    held = tx.ask("SELECT source_kind, crashes, assigned_agent FROM tasks WHERE worker IS NOT NULL")
    served = [row for row in held if queue.queue_of(row["assigned_agent"]) in slots]
    taken = Counter(queue.queue_of(row["assigned_agent"]) for row in served)
    free = sum(each.slots for each in alive) - len(served)
    return QueueLoad(
        max(0, free),
        {name: min(free, most - taken[name]) for name, most in slots.items()},
        Counter(str(row["source_kind"]) for row in served),
        sum(rows.number(row["crashes"]) >= SUSPECT for row in served),
    )


def waiting_for_code(tx: Tx, now: datetime) -> int:
    """Return how many tasks on code are due, or handed to Temporal, and not begun."""
    (row,) = tx.ask(
        "SELECT COUNT(*) AS n FROM tasks WHERE assigned_agent LIKE 'project:%'"
        " AND (worker = ? OR (worker IS NULL AND due_at <= ?))",
        (DISPATCHED, rows.ms(now)),
    )
    return rows.number(row["n"])


def begin(
    tx: Tx, task_id: TaskId, lease: int, worker: WorkerId, now: datetime
) -> ClaimedTask | None:
    """Give a dispatched leg to a worker, once; None if it is not to be run any more.

    A worker that did not hear that it has the leg asks again.
    """
    found = tx.ask(
        "UPDATE tasks SET worker = ?, leg_at = ? WHERE id = ? AND lease = ? AND worker IN (?, ?)"
        " RETURNING *",
        (worker, rows.ms(now), task_id, lease, DISPATCHED, worker),
    )
    if not found:
        return None
    task = tasks.with_deliveries(tx, found[0])
    held: Lease = runs.lease_of(found[0])
    return ClaimedTask(task, held, runs.steps(tx, task), reviews.decisions(tx, task.id))


def release(tx: Tx, task_id: TaskId, lease: int, review_id: ReviewId, now: datetime) -> bool:
    """Take a task from a worker that died, so that it goes on elsewhere; False if it ended.

    One that was lost on its way to a worker has not died of its work.
    """
    found = tx.ask(
        "SELECT * FROM tasks WHERE id = ? AND lease = ? AND worker IS NOT NULL FOR NO KEY UPDATE",
        (task_id, lease),
    )
    for row in found:
        if row["worker"] == DISPATCHED:
            queue.release_unbegun(tx, row, now)
        else:
            queue.release_crashed(tx, row, review_id, now)
    return bool(found)


@single
def is_held(tx: Tx, task_id: TaskId, lease: int) -> bool:
    query = "SELECT 1 FROM tasks WHERE id = ? AND lease = ? AND worker IS NOT NULL"
    return bool(tx.ask(query, (task_id, lease)))


def held(tx: Tx, before: datetime) -> list[HeldLeg]:
    """Return the legs that are held since then, or longer; the oldest first."""
    found = tx.ask(
        "SELECT id, lease, worker, assigned_agent FROM tasks"
        " WHERE worker IS NOT NULL AND leg_at <= ?"
        " ORDER BY leg_at",
        (rows.ms(before),),
    )
    return [
        HeldLeg(
            TaskId(str(row["id"])),
            rows.number(row["lease"]),
            row["worker"] != DISPATCHED,
            queue.queue_of(row["assigned_agent"]) == queue.CODE,
        )
        for row in found
    ]


def queue_of_machine(tx: Tx, task_id: TaskId, code: str, now: datetime) -> str:
    """Return the queue of the machine that had the last leg of a task, if that lives.

    Its name begins with that of the queue of all machines with repositories, which it is otherwise.
    """
    found = tx.ask(
        "SELECT queues FROM runs JOIN worker_loads ON worker_loads.worker = runs.worker"
        " WHERE task_id = ? ORDER BY lease DESC LIMIT 1",
        (task_id,),
    )
    names = (name for row in found for name in str(row["queues"]).split(", "))
    name = next((name for name in names if name.startswith(f"{code}-")), None)
    return name if name is not None and is_served(tx, name, now) else code


def is_served(tx: Tx, name: str, now: datetime) -> bool:
    """Whether a worker that lives takes legs from a queue."""
    return any(name in each.queues for each in workers(tx, now - ALIVE))


def report_load(tx: Tx, state: WorkerState) -> None:
    """Record that a worker is alive, and what it does."""
    runs.beat(tx, state.id, state.beat_at)
    tx.ask(
        "INSERT INTO worker_loads (worker, place, queues, slots, runs) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (worker) DO UPDATE SET slots = excluded.slots, runs = excluded.runs",
        (state.id, state.place, ", ".join(state.queues), state.slots, json.dumps(state.runs)),
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
            tuple(str(row["queues"]).split(", ")),
            rows.number(row["slots"]),
            tuple(json.loads(str(row["runs"]))),
            rows.parse_time(row["beat_at"]),
        )
        for row in found
    ]
