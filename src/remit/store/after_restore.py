"""After a restore, whatever may have happened since the backup waits for the owner.

The restored history ends with the backup. Work that fell due or came in between may already have
run and sent something. It is stored with a question; a yes runs it once.
"""

import hashlib
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.model.codec import Json, moment, stamp
from remit.model.ids import RANDOM_BITS, ReviewId, TaskId, encode
from remit.model.review import RESTORED, Review
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor, Reason, Status
from remit.model.task import SourceKind, Task
from remit.store import cues, events, meta, notices, reviews, rows, tasks
from remit.store.database import Tx, quick

_WRONG_AFTER: Final = timedelta(days=1)  # a clock this far ahead was wrong
_AT: Final = "restored_at"
_BACKUP_AT: Final = "backup_at"


class RestoredSlots(Struct, frozen=True):
    """Slots of a series that may have run: the first, and how many."""

    first: datetime
    count: int


def note(tx: Tx, now: datetime) -> None:
    """Store when the backup was restored."""
    meta.put(tx, _AT, stamp(now))


def correct(tx: Tx, now: datetime) -> None:
    """After the clock was ahead: what comes from now on came after the restore.

    If it may be behind now, the moment stays: what may have been done is asked about.
    """
    at = restored_at(tx)
    if at is not None and at > now + _WRONG_AFTER:
        note(tx, now)
        cues.mark_restored(tx, now, only=stamp(at))


def restored_at(tx: Tx) -> datetime | None:
    """Return when the last backup was restored; None if none was."""
    return _meta(tx, _AT)


def may_be_done(tx: Tx, arrived: datetime) -> bool:
    """Whether what came in at a moment may have been acted on before the restore."""
    at = restored_at(tx)
    return at is not None and arrived <= at


@quick
def admit(tx: Tx, task: Task, said_at: datetime | None = None) -> Task:
    """Store a new task; ask first if it may have run before the restore.

    `said_at` is when its request came in.
    """
    stored = tasks.admit(tx, task)
    if stored.id == task.id:
        hold(tx, task, said_at)
    return stored


def hold(
    tx: Tx, task: Task, said_at: datetime | None = None, others: RestoredSlots | None = None
) -> bool:
    """Ask before a new task begins, if its request is older than the restore."""
    arrived = said_at or _planned_moment(task)
    if arrived is None or not may_be_done(tx, arrived):
        return False
    ask(tx, task, others or RestoredSlots(arrived, 1), task.created_at)
    return True


def ask(tx: Tx, task: Task, slots: RestoredSlots, now: datetime) -> None:
    """Open the question whether a task that has not begun shall run."""
    saved = _meta(tx, _BACKUP_AT)
    backup = f"the backup of {_utc_text(saved)}" if saved else "a backup"
    last = _planned_moment(task) or slots.first
    times = f"{slots.count} times since {_utc_text(slots.first)}, last" if slots.count > 1 else ""
    question = (
        f"Since {backup}, which was restored, this was due {times or 'at'} {_utc_text(last)}."
        if task.slot is not None
        else f"This may have come in between {backup} and its restore."
    )
    review = Review(
        id=_id_of(task, now),
        task_id=task.id,
        key=f"{RESTORED}:{_utc_text(restored_at(tx) or now)}",
        reason=Reason.APPROVAL,
        question=f"{question} It may have been done already. Run it once now?",
        about=RESTORED,
        resume_to=Status.READY if task.status is Status.READY else Status.NEW,
    )
    reviews.open_review(tx, review, Actor.META, now)


def hold_due_slots(tx: Tx, now: datetime) -> int:
    """Ask about every occurrence that was due by now and has not begun; return how many."""
    found = tx.all("hold_due_slots", {"now": rows.ms(now)})
    for row in found:
        task = rows.task(tasks.find_row(tx, TaskId(str(row["id"]))))
        ask(tx, task, RestoredSlots(_planned_moment(task) or now, 1), now)
    return len(found)


def _planned_moment(task: Task) -> datetime | None:
    """Return when an occurrence was planned: an event may have been moved away from its slot."""
    if task.slot is None:
        return None
    return task.scheduled_for if task.source.kind is SourceKind.CALDAV else task.slot


def _id_of(task: Task, now: datetime) -> ReviewId:
    """Derive the review's id from the task and the moment: a store verb uses no randomness."""
    digest = hashlib.sha256(task.id.encode()).digest()
    low = int.from_bytes(digest) & ((1 << RANDOM_BITS) - 1)
    return ReviewId("rev-" + encode(rows.ms(now) << RANDOM_BITS | low))


def _meta(tx: Tx, key: str) -> datetime | None:
    found = meta.get(tx, key)
    return moment(found) if found else None


def _utc_text(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


class HeldTasks(Struct, frozen=True):
    """How many tasks wait for the owner after a restore: paused ones, and ones with a question."""

    paused: int
    asked: int


def incarnation(tx: Tx) -> int:
    """Return how often this history was restored, plus one."""
    return int(meta.get(tx, "incarnation") or 1)


def hold_back(tx: Tx, now: datetime) -> HeldTasks:
    """Let everything wait that may have been done, or sent, since the store was saved."""
    number = incarnation(tx) + 1
    meta.put(tx, "incarnation", str(number))
    entry = NewEvent(EventKind.STORE_RESTORED, Actor.OWNER, {"incarnation": number})
    events.append(tx, None, 0, entry, now)
    note(tx, now)
    cues.mark_restored(tx, now)
    why = "restored from a backup; it may be out already"
    tx.run("doubt_all_sends", {"why": why, "now": rows.ms(now)})
    notices.doubt_all(tx)
    # Access revoked since the backup must stay revoked: everybody signs in again.
    tx.run("revoke_all_tokens", {"now": rows.ms(now)})
    tx.run("end_all_sign_ins", {"now": rows.ms(now)})
    asked = hold_due_slots(tx, now)
    found = tx.all("pause_due_tasks", {"now": rows.ms(now)})
    for row in found:
        was = str(row["resume_to"])
        data: dict[str, Json] = {"was": was, "to": "paused", "note": "restored from a backup"}
        place = rows.number(row["events"])
        moved = NewEvent(EventKind.TASK_MOVED, Actor.OWNER, data)
        events.append(tx, TaskId(str(row["id"])), place, moved, now)
    return HeldTasks(len(found), asked)
