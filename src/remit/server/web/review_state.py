"""The state of a question: open, postponed, decided and by whom, on its way, undone."""

from datetime import datetime
from typing import Final

from msgspec import Struct

from remit.journal import event_words
from remit.model.delivery import DeliveryStatus
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Status
from remit.model.task import Task
from remit.model.undo import Undo
from remit.server.web import words


class ReviewState(Struct, frozen=True):
    """`left` is how many seconds it can be undone; `back`: it was undone."""

    over: bool
    words: str = ""
    kind: str = "idle"
    icon: str = "done"
    left: int = 0
    back: bool = False


def of_review(review: Review, task: Task, undo: Undo, now: datetime) -> ReviewState:
    """Return the state of a question, in a sentence for whoever has it open."""
    decision = review.decision
    if decision is None:
        return _open(review, task, now)
    at = (decision.decided_at or now).astimezone(now.tzinfo)
    who = event_words.decision(decision.answer)
    if decision.by != "owner":
        who = f"Decided by {decision.by.removeprefix('owner: ')}: {decision.answer}"
    said = f"{who}, {words.day(at, now).replace('Today', 'today at')}."
    if task.status is Status.PAUSED and task.resume_to is Status.DELIVERING:
        return ReviewState(
            True, f"{said} You called it back: nothing was sent.", "you", "back", back=True
        )
    due = undo.due(task, review, decision, at)
    left = round((due - now).total_seconds()) if task.status is Status.DELIVERING else 0
    since = "It goes out in a moment." if left > 0 else _since(task, decision.answer)
    return ReviewState(True, f"{said} {since}", "ok", left=max(0, left))


def of_task(task: Task, ended: datetime) -> ReviewState:
    """Return the state of an ended task: it waits to be seen."""
    seen = task.seen_at is not None
    return ReviewState(seen, f"You have seen this. It ended {ended:%H:%M}." if seen else "")


def _open(review: Review, task: Task, now: datetime) -> ReviewState:
    if task.ended:
        return ReviewState(True, f"The task is {task.status.value}; nothing is asked any more.")
    later = review.later_until
    if later is not None and later > now:
        back = words.day(later.astimezone(now.tzinfo), now)
        return ReviewState(False, f"You put this off. It comes back: {back}.", "plan", "snooze")
    if review.draft is not None:
        return ReviewState(False, "You called it back: nothing was sent.", "you", "back")
    return ReviewState(False)


_SINCE: Final = {
    Status.FAILED: "The task failed since.",
    Status.DELIVERING: "It is on its way.",
    Status.CANCELLED: "The task was cancelled since.",
}


def _since(task: Task, answer: ReviewAnswer) -> str:
    """Return what came of it since."""
    if answer is ReviewAnswer.DECLINE:
        return "The task was stopped; nothing was sent."
    if task.status is Status.COMPLETED:
        sent = any(each.status is DeliveryStatus.SENT for each in task.delivery)
        return "It was sent." if sent else "The task is completed."
    return _SINCE.get(task.status, "The task goes on.")
