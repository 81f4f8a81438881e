"""One move, one guarded write, one event, one transaction."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from remit.errors import Conflict, IllegalMove, LeaseLost
from remit.model.codec import Json
from remit.model.delivery import DeliveryStatus
from remit.model.ids import ReviewId, TaskId
from remit.model.proof import lacks_proof
from remit.model.review import Decision, Review, ReviewAnswer
from remit.model.run import EventKind, Lease, NewEvent
from remit.model.status import PAUSABLE, TERMINAL, Actor, Reason, Status
from remit.model.task import Task
from remit.store import deferred, deliveries, events, permissions, reviews, rows, runs, tasks
from remit.store.database import Tx, patient
from remit.store.deliveries import DashboardPost
from remit.store.events import THROUGH, OnBehalfTx

P = ParamSpec("P")
T = TypeVar("T")


class Ending(Struct, frozen=True, kw_only=True):
    """How a leg ends: the task's next status, and what is stored with it."""

    outcome: str
    to: Status
    by: Actor
    note: str | None = None
    due_at: datetime | None = None
    attempts: int = 0
    round: int = 0
    summary: str | None = None
    details: str | None = None
    review: Review | None = None
    resume_to: Status | None = None
    settles: bool = True  # whether the owner's request has been handled
    quiet: bool = False  # the owner is not told of it
    still_watching: bool = False  # but that the series still runs


_LOOK_BACK: Final = 100  # events searched for the request that a leg obeys
_DONE: Final = Ending(outcome="done", to=Status.COMPLETED, by=Actor.COURIER)
_CANCELLED: Final = Ending(outcome="cancelled", to=Status.CANCELLED, by=Actor.COURIER)


class LegMove(Struct, frozen=True):
    """A move of a task by the leg that holds it, and the steps that the leg did before."""

    task: Task  # as it was
    to: Status
    by: Actor
    details: str | None
    steps: Mapping[str, Json]


@patient
def move(  # noqa: PLR0913 - a guarded write names what it guards
    tx: Tx,
    task: Task,
    lease: Lease,
    to: Status,
    by: Actor,
    *,
    details: str | None,
    now: datetime,
    steps: Mapping[str, Json] | None = None,
) -> str | None:
    """Move a task that this leg holds, and record the steps that it has done before.

    Return what the owner wishes for meanwhile. After steps that is heeded: then it is not moved.
    """
    made = LegMove(task, to, by, details, steps or {})
    return _move(tx, lease, made, now, heeds=bool(steps))


def after_moves(
    made: Sequence[LegMove], lease: Lease, now: datetime, verb: Callable[Concatenate[Tx, P], T]
) -> Callable[Concatenate[Tx, P], T]:
    """Wrap a verb of a leg so that the moves the leg made before are written with it."""

    @wraps(verb)
    def write(tx: Tx, /, *args: P.args, **kwargs: P.kwargs) -> T:
        for each in made:
            _move(tx, lease, each, now, heeds=False)
        return verb(tx, *args, **kwargs)

    return write


def _move(tx: Tx, lease: Lease, made: LegMove, now: datetime, *, heeds: bool) -> str | None:
    """Write one move; if it `heeds` a wish of the owner, only its steps are written then."""
    task, steps = made.task, made.steps
    task.check_move(made.to, made.by)
    row = tx.one(
        "move_task",
        {
            "id": task.id,
            "was": task.status.value,
            "to": made.to.value,
            "lease": lease.number,
            "details": made.details,
            "steps": len(steps),
            "heeds": heeds,
            "now": rows.ms(now),
        },
    )
    if row is None:
        raise LeaseLost(task.id, lease.number)
    wish, last = rows.text(row["wish"]), rows.number(row["events"])
    moved = wish is None or not heeds
    runs.insert_steps(tx, lease, row, steps, last - len(steps) + (not moved), now)
    if moved:
        _tell_move(tx, task, made.to, made.by, last, now, run=lease.run_id)
    return wish


@patient
def finish(  # noqa: PLR0913 - a guarded write names what it guards
    tx: Tx,
    task: Task,
    lease: Lease,
    leg_at: datetime,
    end: Ending,
    now: datetime,
    *,
    post: DashboardPost | None = None,
    steps: Mapping[str, Json] | None = None,
) -> None:
    """End a leg: state, lease, run and event in one write; before it, what is not yet written.

    That is the steps that it has done, and the last delivery, if it is one to the dashboard.
    """
    _write_rest(tx, lease, steps, post, now)
    end = _heeding(tx, task, end)
    if end.to is not task.status:
        task.check_move(end.to, end.by)
    if end.to in TERMINAL:
        deliveries.doubt_unsettled(tx, task, now)
    row = tx.one("finish_task", _ending_columns(task, lease, end, now))
    if row is None:
        raise LeaseLost(task.id, lease.number)
    runs.end(tx, lease, leg_at, now, end.outcome, end.note)
    _tell_end(tx, task, lease, end, rows.number(row["events"]), now)
    if end.quiet and not end.still_watching:
        tx.run("mark_task_seen", {"id": task.id, "now": rows.ms(now)})
    if end.to in TERMINAL:
        deferred.drop(tx, task, now)
        tasks.tell_parent(tx, task, end.to, end.summary or end.note, now)
    if end.review is not None:
        reviews.open_review(tx, end.review, end.by, now)
        _go_on_if_switched_on(tx, end.review, leg_at, now)


def _write_rest(
    tx: Tx,
    lease: Lease,
    steps: Mapping[str, Json] | None,
    post: DashboardPost | None,
    now: datetime,
) -> None:
    if steps:
        runs.record_steps(tx, lease, steps, None, now)
    if post is not None:
        deliveries.post(tx, lease, post, now)


def _go_on_if_switched_on(tx: Tx, review: Review, leg_at: datetime, now: datetime) -> None:
    """Answer a question about a channel that the owner switched on while the leg ran."""
    kind, _, channel = (review.about or "").partition(":")
    if review.reason is not Reason.AUTH or kind != "channel":
        return
    if permissions.was_switched_on(tx, channel, leg_at):
        decision = Decision(ReviewAnswer.APPROVE, by=f"owner: {channel} was switched on")
        reviews.decide(tx, ReviewId(str(review.id)), decision, now)


def _tell_end(tx: Tx, task: Task, lease: Lease, end: Ending, n: int, now: datetime) -> None:
    tx = _attribute_pause(tx, task, end)
    data: dict[str, Json] = {"outcome": end.outcome, "run": lease.run_id}
    if end.note:
        data["note"] = end.note
    if end.to is task.status:
        data["due"] = rows.millis(end.due_at)
        events.append(tx, task.id, n, NewEvent(EventKind.RUN_ENDED, end.by, data), now)
    else:
        data |= {"was": task.status, "to": end.to}
        if end.outcome == "done":
            data["step"] = "generate_response"  # the last node of the graph: the result
        if end.summary:
            data["summary"] = end.summary
        if end.quiet:
            data |= {"quiet": True, **({"stillWatching": True} if end.still_watching else {})}
        if task.series_id is not None and end.to in (Status.COMPLETED, Status.FAILED):
            failure = None if end.to is Status.COMPLETED else end.note or ""
            data |= runs.compare_with_previous(tx, task, failure, now)
        events.append(tx, task.id, n, NewEvent(EventKind.TASK_MOVED, end.by, data), now)


def _attribute_pause(tx: Tx, task: Task, end: Ending) -> Tx:
    """Attribute a pause that an agent requested to the agent."""
    if end.by is not Actor.OWNER:
        return tx
    latest = reversed(events.last_of_task(tx, task.id, _LOOK_BACK))
    wish = next((each for each in latest if "wish" in each.data), None)
    by = wish.data.get(THROUGH) if wish else None
    return OnBehalfTx(tx, str(by)) if by is not None else tx


def _heeding(tx: Tx, task: Task, end: Ending) -> Ending:
    """Change the ending if the owner has cancelled meanwhile: no question, no pause.

    Only the owner can say whether an unknown message arrived; that is asked first, and the cancel
    waits.
    """
    asks = end.review is not None or end.to is Status.PAUSED
    if not asks or not rows.task(tasks.find_row(tx, task.id)).cancel_requested:
        return end
    if end.review is not None and end.review.reason is Reason.AMBIGUOUS:
        return replace(end, settles=False)
    if task.in_doubt:  # the next leg asks about that, and then it ends
        return replace(end, outcome="parked", to=task.status, review=None, settles=False)
    by = Actor.COURIER if task.status is Status.DELIVERING else Actor.EXECUTOR
    # Too late to cancel what was sent: then it is completed.
    out = all(each.status is DeliveryStatus.SENT for each in task.delivery)
    done = out and task.status is Status.DELIVERING
    return replace(_DONE if done else _CANCELLED, by=by, round=end.round)


def _ending_columns(
    task: Task, lease: Lease, end: Ending, now: datetime
) -> dict[str, str | int | None]:
    review = end.review
    resume_to = review.resume_to if review else end.resume_to
    return {
        "id": task.id,
        "was": task.status.value,
        "lease": lease.number,
        "to": end.to.value,
        "reason": review.reason.value if review else None,
        "resume_to": resume_to.value if resume_to else None,
        "due_at": rows.millis(end.due_at),
        "settles": end.settles,
        "attempts": end.attempts,
        "round": end.round,
        "completed_at": rows.ms(now) if end.to in TERMINAL else None,
        "summary": end.summary,
        "details": end.details,
        "unproven": int(end.to is Status.COMPLETED and not end.quiet and lacks_proof(task)),
        "now": rows.ms(now),
    }


def pause(tx: Tx, task_id: TaskId, now: datetime) -> Task:
    """Stop at the next boundary; at once if nobody holds the task."""
    row = tasks.find_row(tx, task_id)
    task = rows.task(row)
    if task.status not in PAUSABLE:
        raise IllegalMove(task.id, task.status, Status.PAUSED, task.allowed)
    if task.cancel_requested:
        raise Conflict(f"Task {task.id} is being cancelled; it cannot be paused any more.")
    if row["worker"] is not None:
        return _wish(tx, task, "pause", now)
    return _order(tx, task, Status.PAUSED, now, resume_to=task.status)


def undo(tx: Tx, task_id: TaskId, now: datetime) -> Task:
    """Undo a decision before anything is claimed: the question is open again.

    A message that needed no approval is paused; a deleted task is shown again.
    """
    row = tasks.find_row(tx, task_id)
    if row["deleted_at"] is not None:
        return tasks.undelete(tx, task_id, now)
    task, due = tasks.get(tx, task_id), rows.moment(row["due_at"])
    if task.status is not Status.DELIVERING and not task.cancel_requested:
        sentence = f"Task {task.id} is {task.status}; nothing of it is about to be sent."
        raise Conflict(sentence)
    if row["worker"] is not None or due is None or due <= now:
        ends = "cancelled" if task.cancel_requested else "sent"
        sentence = f"Task {task.id} is being {ends}; it is too late to undo that."
        raise Conflict(sentence)
    asked = reviews.undoable(tx, task)
    if asked is None and task.cancel_requested:
        raise Conflict(f"Task {task.id} is being cancelled; nothing more of it is sent.")
    if asked is None:
        return _order(tx, task, Status.PAUSED, now, resume_to=task.status)
    return reviews.reopen(tx, task, asked, now)


def resume(tx: Tx, task_id: TaskId, now: datetime) -> Task:
    """Go on where it was."""
    task = tasks.get(tx, task_id)
    if task.pause_requested:
        return _wish(tx, task, None, now)
    if task.status is not Status.PAUSED or task.resume_to is None:
        raise IllegalMove(task.id, task.status, Status.RUNNING, task.allowed)
    due = max(task.scheduled_for or now, now) if task.resume_to is Status.READY else now
    return _order(tx, task, task.resume_to, now, due_at=due)


def cancel(tx: Tx, task_id: TaskId, now: datetime, *, hide: bool = False) -> Task:
    """End a task: at once if possible, else at the engine's next boundary."""
    task = tasks.get(tx, task_id)
    if task.ended:
        raise IllegalMove(task.id, task.status, Status.CANCELLED, task.allowed)
    if task.status in PAUSABLE - {Status.NEW, Status.READY}:
        return _wish(tx, task, "delete" if hide else "cancel", now)
    asked = reviews.waiting_of(tx, task_id)
    reviews.close_all(tx, task_id, Actor.OWNER, now)
    if task.resume_to is not None and reviews.has_other_doubts(task, asked):
        # An unknown message is asked about before the task ends; the next leg does that.
        wish = "delete" if hide else "cancel"
        return _order(tx, task, task.resume_to, now, due_at=now, wish=wish)
    cancelled = _order(tx, task, Status.CANCELLED, now)
    return tasks.delete(tx, task_id, now) if hide else cancelled


def end_declined(tx: Tx, task_ids: Sequence[TaskId], now: datetime) -> None:
    """End new tasks that were declined, unless that was undone meanwhile."""
    for task_id in task_ids:
        task = tasks.get(tx, task_id)
        if task.status is Status.NEW and task.cancel_requested:
            cancel(tx, task_id, now)


def delete(tx: Tx, task_id: TaskId, now: datetime) -> Task:
    """Hide an ended task; cancel a live one, and hide it once it has ended."""
    if tasks.get(tx, task_id).ended:
        return tasks.delete(tx, task_id, now)
    return cancel(tx, task_id, now, hide=True)


def hasten(tx: Tx, task_id: TaskId, now: datetime) -> Task:
    """Start a planned task now; its slot in a series stays."""
    task = tasks.get(tx, task_id)
    asked = reviews.about_restore(tx, task_id)
    if asked is not None and asked.id is not None:
        return reviews.decide(tx, asked.id, Decision(ReviewAnswer.APPROVE), now)
    row = tx.one("make_task_due", {"id": task_id, "now": rows.ms(now)})
    if row is None:
        raise IllegalMove(task.id, task.status, Status.RUNNING, task.allowed)
    entry = NewEvent(EventKind.TASK_UPDATED, Actor.OWNER, {"what": "run now"})
    events.append(tx, task_id, rows.number(row["events"]), entry, now)
    return tasks.get(tx, task_id)


def _wish(tx: Tx, task: Task, wish: str | None, now: datetime) -> Task:
    asked = {"id": task.id, "wish": wish, "now": rows.ms(now)}
    row = rows.found(tx.one("request_task_stop", asked))
    entry = NewEvent(EventKind.TASK_UPDATED, Actor.OWNER, {"wish": wish})
    events.append(tx, task.id, rows.number(row["events"]), entry, now)
    return tasks.get(tx, task.id)


def _order(  # noqa: PLR0913 - a guarded write names what it guards
    tx: Tx,
    task: Task,
    to: Status,
    now: datetime,
    *,
    resume_to: Status | None = None,
    due_at: datetime | None = None,
    wish: str | None = None,
) -> Task:
    task.check_move(to, Actor.OWNER)
    row = tx.one(
        "move_idle_task",
        {
            "id": task.id,
            "was": task.status.value,
            "to": to.value,
            "resume_to": resume_to.value if resume_to else None,
            "due_at": rows.millis(due_at),
            "wish": wish,
            "completed_at": rows.ms(now) if to in TERMINAL else None,
            "now": rows.ms(now),
        },
    )
    assert row is not None  # noqa: S101 - read in this very transaction
    _tell_move(tx, task, to, Actor.OWNER, rows.number(row["events"]), now)
    if to in TERMINAL:
        deferred.drop(tx, task, now)
        tasks.tell_parent(tx, task, to, None, now)
    return tasks.get(tx, task.id)


def _tell_move(
    tx: Tx, task: Task, to: Status, by: Actor, n: int, now: datetime, **more: Json
) -> None:
    data: dict[str, Json] = {"was": task.status, "to": to, **more}
    events.append(tx, task.id, n, NewEvent(EventKind.TASK_MOVED, by, data), now)
