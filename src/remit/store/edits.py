"""The owner's changes to a task before it begins, and to where a text under review goes."""

from datetime import datetime
from typing import Final

from msgspec.structs import asdict, replace

from remit.errors import Conflict
from remit.model.codec import Json, JsonMap, check_moment
from remit.model.contract import RankingRule
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import ReviewId, TaskId
from remit.model.review import Decision, ReviewAnswer
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor, Reason
from remit.model.task import Edit, Task, TaskType
from remit.store import events, reviews, rows, tasks
from remit.store.database import Tx
from remit.store.queue import QUEUE

_OWNERS: Final = RankingRule("owner", "the owner said so")


def edit(tx: Tx, task_id: TaskId, change: Edit, now: datetime) -> Task:
    """Store a change with its event; a task that has begun cannot be changed."""
    was = tasks.get(tx, task_id)
    if was.pending_reading is not None:
        raise Conflict(f"Task {was.id} is still being read; change it in a moment.")
    task = _changed(was, change)
    columns = tasks.amended(task)
    row = tx.one(
        "edit_task",
        columns | {"priority": task.priority, "queue": QUEUE[task.priority], "now": rows.ms(now)},
    )
    if row is None:
        sentence = f"Task {was.id} is {was.status}; only what has not begun can be changed."
        raise Conflict(sentence)
    if change.delivery is not None:
        tasks.replace_deliveries(tx, task)
    # With the whole new plan: the audit compares a task with the journal.
    data: JsonMap = {"what": "edited", "changed": _names(change), **tasks.task_to_journal(task)}
    entry = NewEvent(EventKind.TASK_UPDATED, Actor.OWNER, data)
    events.append(tx, task_id, rows.number(row["events"]), entry, now)
    return tasks.get(tx, task_id)


def readdress(tx: Tx, review_id: ReviewId, to: Delivery, by: str, now: datetime) -> Task:
    """Send a text under review to somebody else, or on another channel.

    The task stays what it is. Its run goes on and asks about the new recipient: an approval is for
    one. A text in `to` is the owner's own; without one, the text stays whose it was. If the whole
    reply was held, that question stays open, because no text is fit to be sent yet.
    """
    review = reviews.get(tx, review_id)
    reviews.refuse_decided(review)
    was = tasks.get(tx, review.task_id)
    text = review.reason is Reason.DELIVERABLE or review.about_text
    if not text or [each.status for each in was.delivery] != [DeliveryStatus.PENDING]:
        sentence = f"Review {review.id} is not about one text that waits to be sent."
        raise Conflict(sentence)
    first = was.delivery[0]
    own = to.content if to.content is not None and not review.about_reply else first.content
    sent = Delivery(to.channel, to.recipient, own, id=first.id)
    task = replace(was, delivery=(sent,))
    row = tx.one("readdress_task", tasks.amended(task) | {"now": rows.ms(now)})
    if row is None:
        raise Conflict(f"Task {was.id} is {was.status}; its text cannot go elsewhere any more.")
    tasks.replace_deliveries(tx, task)
    data: JsonMap = {"what": "edited", "changed": ["delivery"], **tasks.task_to_journal(task)}
    entry = NewEvent(EventKind.TASK_UPDATED, Actor.OWNER, data)
    events.append(tx, task.id, rows.number(row["events"]), entry, now)
    if not review.about_reply:
        decision = Decision(ReviewAnswer.READDRESS, to.content, by=by)
        reviews.pass_over(tx, task, review, decision, now)
    return tasks.get(tx, task.id)


def _changed(task: Task, change: Edit) -> Task:
    check_moment(change.scheduled_for, "scheduled_for")
    fields = asdict(change)
    changed = replace(task, **{name: value for name, value in fields.items() if value is not None})
    if change.scheduled_for is not None:
        changed = replace(changed, type=TaskType.SCHEDULED)
    return replace(changed, rule=_OWNERS) if change.priority else changed


def _names(change: Edit) -> list[Json]:
    return [name for name, value in asdict(change).items() if value is not None]
