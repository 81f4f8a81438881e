"""Stores the tasks of one message with their questions, or none of them.

And the owner's changes to a task before it begins, and to where a text under review goes.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from remit.errors import Conflict, KeyReused
from remit.model.codec import Json, JsonMap, check_moment, stored_text
from remit.model.contract import RankingRule
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import ReviewId, TaskId
from remit.model.review import Decision, Review, ReviewAnswer
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor, Reason, Status
from remit.model.task import Edit, Source, Task, TaskType
from remit.store import after_restore, events, reviews, rows, runs, tasks
from remit.store.database import Row, Tx, quick
from remit.store.queue import QUEUE

READ_STEP: Final = "read_message"


class ReadMessage(Struct, frozen=True):
    """What a stored message asks for; the first task replaces the message's own."""

    tasks: Sequence[Task]
    asked: Sequence[Review]
    record: Json  # the result of the reading step
    summary: str  # why there is no task, if there is none


def entrust(
    tx: Tx, made: Sequence[Task], asked: Sequence[Review], said_at: datetime | None = None
) -> list[Task]:
    """Store the tasks of a message; the same message again returns the earlier tasks."""
    before = of_message(tx, made[0].source)
    if before:
        return before
    for task in made:
        if after_restore.admit(tx, task, said_at).id != task.id:
            raise KeyReused(task.source.ref)  # another message used this ref
    for review in asked:
        reviews.open_review(tx, review, Actor.INTAKE, made[0].created_at)
    return [tasks.get(tx, task.id) for task in made]


def store_reading(tx: Tx, task_id: TaskId, read: ReadMessage, now: datetime) -> bool:
    """Replace a message's unread words by what they ask for, once; False if they are gone.

    The owner may have cancelled or paused it meanwhile, or it was read already.
    """
    row = _drop(tx, task_id, read, now) if not read.tasks else tasks.read(tx, read.tasks[0], now)
    if row is None:
        return False
    tx.run("insert_step", (task_id, 0, READ_STEP, stored_text(read.record), rows.ms(now)))
    said_at = read.tasks[0].created_at if read.tasks else now
    for task in read.tasks[1:]:
        if after_restore.admit(tx, task, said_at).id != task.id:
            raise KeyReused(task.source.ref)
    for review in read.asked:
        reviews.open_review(tx, review, Actor.INTAKE, now)
    return True


def reading_record(tx: Tx, task: Task) -> Json:
    """Return the record of reading a stored message; None if it was read before it was stored."""
    return runs.steps(tx, task).get(READ_STEP)


def _drop(tx: Tx, task_id: TaskId, read: ReadMessage, now: datetime) -> Row | None:
    row = tx.one(
        "cancel_read_message", {"id": task_id, "summary": read.summary, "now": rows.ms(now)}
    )
    if row is not None:
        data: JsonMap = {"was": Status.NEW, "to": Status.CANCELLED, "note": read.summary}
        entry = NewEvent(EventKind.TASK_MOVED, Actor.PRIORITISE, data)
        events.append(tx, task_id, rows.number(row["events"]), entry, now)
        reviews.close_all(tx, task_id, Actor.PRIORITISE, now)
    return row


@quick
def of_message(tx: Tx, source: Source) -> list[Task]:
    """Return all tasks of a message, in order."""
    found: list[Task] = []
    for n in count(1):
        asked = {"kind": source.kind.value, "ref": nth(source.ref, n)}
        row = tx.one("get_task_by_source", asked)
        if row is None:
            break
        found.append(tasks.with_deliveries(tx, row))
    return found


def questions(tx: Tx, made: Sequence[Task]) -> list[Review]:
    """Return the open questions about some tasks."""
    asked = {each.id: each for task in made for each in reviews.of_task(tx, task.id)}
    return [review for review in asked.values() if review.decision is None]


def nth(ref: str, n: int) -> str:
    """Return the ref of the first, second, … task of a message."""
    return ref if n == 1 else f"{ref}/{n}"


_HASH: Final = re.compile(r'"sha256": ?"([0-9a-f]{64})"')
_UNDO: Final = timedelta(hours=1)  # in which a deleted task may be shown again


def references(tx: Tx, now: datetime) -> tuple[frozenset[str], frozenset[str]]:
    """Return the hashes that something refers to, and those that only deleted tasks had."""
    needed, gone = set[str](), set[str]()
    for row in tx.all("list_file_references", {"before": rows.ms(now - _UNDO)}):
        found = _HASH.findall(str(row["said"]))
        (gone if row["gone"] else needed).update(found)
    return frozenset(needed), frozenset(gone - needed)


# Changes before the work begins -------------------------------------------------------------------


_OWNERS: Final = RankingRule("owner", "the owner said so")


def edit(tx: Tx, task_id: TaskId, change: Edit, now: datetime) -> Task:
    """Store a change with its event; a task that has begun cannot be changed."""
    was = tasks.get(tx, task_id)
    if was.pending_reading is not None:
        raise Conflict(f"Task {was.id} is still being read; change it in a moment.")
    task = _apply_edit(was, change)
    columns = tasks.amended_columns(task)
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
    row = tx.one("readdress_task", tasks.amended_columns(task) | {"now": rows.ms(now)})
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


def _apply_edit(task: Task, change: Edit) -> Task:
    check_moment(change.scheduled_for, "scheduled_for")
    fields = asdict(change)
    changed = replace(task, **{name: value for name, value in fields.items() if value is not None})
    if change.scheduled_for is not None:
        changed = replace(changed, type=TaskType.SCHEDULED)
    return replace(changed, rule=_OWNERS) if change.priority else changed


def _names(change: Edit) -> list[Json]:
    return [name for name, value in asdict(change).items() if value is not None]
