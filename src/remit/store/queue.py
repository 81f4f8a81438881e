"""The task queue: rank, claim in batches, release the tasks of a dead process."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from remit.model.codec import Json, stored_text, to_json
from remit.model.contract import RankingRule
from remit.model.ids import ReviewId, RunId, TaskId, WorkerId
from remit.model.reply import PROJECT
from remit.model.review import RULE, Decision, Review
from remit.model.run import EventKind, Lease, NewEvent
from remit.model.status import Actor, Reason, Status
from remit.model.task import Priority, Task
from remit.store import events, reviews, rows, runs, slots, tasks
from remit.store.database import Params, Row, Tx, patient, quick, single

QUEUE: Final = {priority: rank for rank, priority in enumerate(Priority)}
UNRANKED: Final = 4
POISON: Final = 3
MOST_DOUBTS: Final = 100  # unknown sends claimed at once, besides all else
CODE: Final = "code"  # the queue of the machines that have the repositories
QUEUES: Final = ("", CODE)


class UrgencyScore(Struct, frozen=True):
    """How urgent something is, from 0 to 1, and why."""

    score: float
    why: str


class ClaimedTask(Struct, frozen=True):
    """A claimed task, with the steps and decisions of earlier legs."""

    task: Task
    lease: Lease
    steps: Mapping[str, Json]
    decisions: Mapping[str, Decision]


def _no_limit() -> dict[str, int]:
    return dict.fromkeys(QUEUES, sys.maxsize)


class ClaimFilter(Struct, frozen=True):
    """How many tasks may be claimed, and which not."""

    room: int  # unknown sends need no room
    sources: Mapping[str, int]  # remaining room of each limited source
    suspects: bool  # whether tasks that were running when a process died may start
    ageing: timedelta  # waiting time that outweighs one priority level
    # Of several machines: the room of each queue that one of them serves.
    queues: Mapping[str, int] = field(default_factory=_no_limit)
    deaths: int = 1  # so many make a task a suspect

    @property
    def closed(self) -> tuple[str, ...]:
        """The queues without room."""
        return tuple(name for name in QUEUES if self.queues.get(name, 0) <= 0)


class QueueOutlook(Struct, frozen=True):
    """What is due at one moment, and when the next task falls due after it."""

    is_unranked: bool  # a new task waits to be ranked
    is_due: bool  # a ranked one is due, if its session is free
    later: datetime | None


def queue_of(agent: object) -> str:
    """Return the queue of a task; work on code needs a machine that has its repository."""
    return CODE if str(agent or "").startswith(PROJECT) else ""


@quick
def list_unranked(tx: Tx, now: datetime, limit: int) -> list[Task]:
    """Return new tasks that wait to be ranked, oldest first."""
    anything = ClaimFilter(limit, {}, suspects=True, ageing=timedelta())
    return tasks.all_with_deliveries(tx, _due(tx, UNRANKED, now, anything))


@patient
def rank(tx: Tx, task_id: TaskId, priority: Priority, rule: RankingRule, now: datetime) -> bool:
    """Rank a task; False if its status changed, or a question about it is open."""
    row = tx.one(
        "rank_task",
        {
            "id": task_id,
            "priority": priority.value,
            "queue": QUEUE[priority],
            "rule": stored_text(to_json(rule)),
            "now": rows.ms(now),
        },
    )
    if row is None:
        tx.run("clear_task_due", {"id": task_id})
        return False
    data: dict[str, Json] = {"was": "new", "to": "ready", "priority": priority, "rule": rule.name}
    entry = NewEvent(EventKind.TASK_MOVED, Actor.PRIORITISE, data)
    events.append(tx, task_id, rows.number(row["events"]), entry, now)
    return True


@patient
def rank_page(
    tx: Tx, ranked: Sequence[tuple[TaskId, Priority, RankingRule]], now: datetime
) -> None:
    """Rank some new tasks in one write."""
    for task_id, priority, rule in ranked:
        rank(tx, task_id, priority, rule, now)


@patient
def claim(
    tx: Tx, worker: WorkerId, wanted: ClaimFilter, run_id: Callable[[], RunId], now: datetime
) -> list[ClaimedTask]:
    """Claim the most urgent due tasks."""
    chosen = _choose(tx, wanted, now)
    return [claimed for row in chosen if (claimed := _take(tx, row, worker, run_id(), now))]


@single
def due_moment(tx: Tx, now: datetime) -> datetime:
    """Return the time by which is decided what is due: on a server that of its clock."""
    (row,) = tx.all("due_moment", {"now": rows.ms(now)})
    return rows.parse_time(row["now"])


@single
def outlook(tx: Tx, now: datetime) -> QueueOutlook:
    """Return what is due, and when the next task is."""
    found = tx.all("list_outlook", {"now": rows.ms(now)})
    due = {rows.number(row["queue"]) for row in found if row["due"] is not None}
    later = [rows.number(row["later"]) for row in found if row["later"] is not None]
    return QueueOutlook(
        is_unranked=UNRANKED in due,
        is_due=bool(due - {UNRANKED}),
        later=rows.parse_time(min(later)) if later else None,
    )


def release_orphans(
    tx: Tx, worker: WorkerId, review_id: Callable[[], ReviewId], now: datetime
) -> int:
    """Release the tasks of dead processes; one that crashed three times goes to the owner."""
    found = tx.all("list_orphans", {"worker": worker})
    for row in found:
        release_crashed(tx, row, review_id(), now)
    return len(found)


def _choose(tx: Tx, wanted: ClaimFilter, now: datetime) -> list[Row]:
    found: list[Row] = []
    for queue in range(UNRANKED):
        found += _due(tx, queue, now, wanted)
    level = wanted.ageing / timedelta(milliseconds=1)
    found.sort(key=lambda row: rows.number(row["due_at"]) - level * rows.number(row["queue"]))
    doubts = (row for row in _doubts(tx, now) if queue_of(row["assigned_agent"]) in wanted.queues)
    return _fitting(list(doubts), found, wanted)


def _doubts(tx: Tx, now: datetime, limit: int = MOST_DOUBTS) -> list[Row]:
    return tx.all("list_due_doubts", {"now": rows.ms(now), "limit": limit})


def _fitting(doubts: Sequence[Row], found: Sequence[Row], wanted: ClaimFilter) -> list[Row]:
    """Choose: one per session, one suspect in all, sources within limits; unknown sends first.

    An unknown send only needs a lookup or a question, however full the queue is.
    """
    left, queues = dict(wanted.sources), dict(wanted.queues)
    chosen = list({row["session_id"]: row for row in reversed(doubts)}.values())[::-1]
    sessions: set[object] = {row["session_id"] for row in chosen}
    most = len(chosen) + wanted.room
    suspected = False
    for row in found:
        source = str(row["source_kind"])
        suspect = rows.number(row["crashes"]) >= wanted.deaths
        queue = queue_of(row["assigned_agent"])
        if row["session_id"] in sessions or left.get(source, 1) <= 0 or (suspect and suspected):
            continue
        if queues.get(queue, 0) <= 0:
            continue
        if len(chosen) == most:
            break
        suspected |= suspect
        queues[queue] -= 1
        sessions.add(row["session_id"])
        if source in left:
            left[source] -= 1
        chosen.append(row)
    return chosen


def _due(tx: Tx, queue: int, now: datetime, wanted: ClaimFilter) -> list[Row]:
    full = [source for source, left in wanted.sources.items() if left <= 0]
    return tx.all(
        "list_due",
        {
            "queue": queue,
            "now": rows.ms(now),
            "limit": wanted.room,
            "suspects": wanted.suspects,
            "deaths": wanted.deaths,
            "full": json.dumps(full),
            "closed": json.dumps(wanted.closed),
        },
    )


def _take(tx: Tx, row: Row, worker: WorkerId, run_id: RunId, now: datetime) -> ClaimedTask | None:
    if not slots.may_begin(tx, row, now):
        return None
    was = rows.word(Status, row["status"])
    first = Status.DELIVERING if row["precomposed"] else Status.RUNNING
    to = first if was is Status.READY else was
    lease = Lease(TaskId(str(row["id"])), rows.number(row["lease"]) + 1, worker, run_id)
    taken = tx.one(
        "claim_task",
        {
            "id": lease.task_id,
            "to": to.value,
            "worker": worker,
            "run": run_id,
            "lease": lease.number - 1,
            "now": rows.ms(now),
        },
    )
    if taken is None:
        return None
    n = rows.number(taken["events"])
    data: dict[str, Json] = {"run": run_id, "lease": lease.number, "was": was, "to": to}
    kind = EventKind.TASK_MOVED if to is not was else EventKind.RUN_STARTED
    events.append(tx, lease.task_id, n, NewEvent(kind, Actor.ENGINE, data), now)
    held = {**row, "status": to, "lease": lease.number, "started_at": taken["started_at"]}
    task = tasks.with_deliveries(tx, held)
    if lease.number == 1:
        # A first leg has no history, but a held text may already be approved.
        asked = task.veto or task.assigned_agent == RULE
        approved = reviews.decisions(tx, task.id) if asked else {}
        return ClaimedTask(task, lease, {}, approved)
    return ClaimedTask(task, lease, runs.steps(tx, task), reviews.decisions(tx, task.id))


def release_leg(tx: Tx, lease: Lease, review_id: ReviewId, why: str, now: datetime) -> bool:
    """Ask the owner about a task whose leg cannot be ended; False if the leg lost it."""
    row = tasks.find_row(tx, lease.task_id)
    if row["worker"] is None or rows.number(row["lease"]) != lease.number:
        return False
    _free(tx, row, _refusal_review(row, review_id, why), now, outcome="fail", note=why)
    return True


def release_unbegun(tx: Tx, row: Row, now: datetime) -> None:
    """Release a task that no worker has begun: nobody died of it."""
    _free(tx, row, None, now, outcome="parked", note="no worker began it")


def release_crashed(tx: Tx, row: Row, review_id: ReviewId, now: datetime) -> None:
    """Release a task whose holder died; one that died three times goes to the owner."""
    crashes = rows.number(row["crashes"]) + 1
    # After a cancel no question is needed: the next leg ends at its first boundary.
    poison = crashes >= POISON and row["wish"] not in ("cancel", "delete")
    review = _poison(row, review_id, crashes) if poison else None
    _free(tx, row, review, now, outcome="crashed", note=None)


def _free(
    tx: Tx, row: Row, review: Review | None, now: datetime, *, outcome: str, note: str | None
) -> None:
    """Take a task from its holder; with a question it waits for the owner."""
    status, crashes = rows.word(Status, row["status"]), rows.number(row["crashes"]) + 1
    task_id = TaskId(str(row["id"]))
    to = Status.NEEDS_REVIEW if review else status
    runs.end(tx, runs.lease_of(row), rows.parse_time(row["leg_at"]), now, outcome, note)
    columns: Params = {
        "id": task_id,
        "worker": row["worker"],
        "to": to.value,
        "reason": review.reason.value if review else None,
        "resume_to": review.resume_to.value if review else None,
        "due_at": None if review else rows.ms(now),
        "deaths": 0 if outcome == "parked" else 1,
        "now": rows.ms(now),
    }
    freed = rows.found(tx.one("release_orphan", columns))
    data: dict[str, Json] = {"outcome": outcome, "was": status, "to": to}
    data |= {"crashes": crashes} if note is None else {"note": note}
    kind = EventKind.TASK_MOVED if review else EventKind.RUN_ENDED
    entry = NewEvent(kind, Actor.REAPER, data)
    events.append(tx, task_id, rows.number(freed["events"]), entry, now)
    if review:
        reviews.open_review(tx, review, Actor.REAPER, now)


def _poison(row: Row, review_id: ReviewId, crashes: int) -> Review:
    asked = _poison_review(row, review_id)
    question = (
        f"Remit died {crashes} times while this task was {asked.resume_to.value}. "
        "It may be the cause. Try it once more?"
    )
    return replace(asked, question=question)


def _refusal_review(row: Row, review_id: ReviewId, why: str) -> Review:
    question = f"The result of this run could not be saved ({why}). Try it once more?"
    return replace(_poison_review(row, review_id), question=question)


def _poison_review(row: Row, review_id: ReviewId) -> Review:
    delivers = rows.word(Status, row["status"]) is Status.DELIVERING
    return Review(
        id=review_id,
        task_id=TaskId(str(row["id"])),
        key=f"poison:{review_id}",
        reason=Reason.POISON,
        question="",
        resume_to=Status.DELIVERING if delivers else Status.RUNNING,
    )


@quick
def any_doubt(tx: Tx, now: datetime) -> bool:
    """Whether there is an unknown send to look up: for that there is always room."""
    return bool(_doubts(tx, now, 1))


@single
def get_score(tx: Tx, digest: str) -> UrgencyScore | None:
    """Return a model's urgency score, stored under the digest of the text."""
    row = tx.one("get_score", {"digest": digest})
    return None if row is None else rows.value(UrgencyScore, row)


def keep_score(tx: Tx, digest: str, score: UrgencyScore, now: datetime) -> None:
    """Store a score; an existing one stays."""
    tx.run("insert_score", rows.columns(score, digest=digest, now=rows.ms(now)))
