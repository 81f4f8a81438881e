"""Deliveries: claimed before the first byte, settled by what the channel answered."""

from datetime import datetime

from remit.errors import LeaseLost
from remit.model.codec import Json
from remit.model.delivery import (
    Accepted,
    Answer,
    Delivery,
    DeliveryStatus,
    Refused,
    Retry,
    Unknown,
)
from remit.model.event import Entry, Kind
from remit.model.ids import TaskId
from remit.model.run import Lease
from remit.model.status import Actor
from remit.model.task import Task
from remit.store import events, rows
from remit.store.database import Params, Tx


def claim_send(
    tx: Tx, lease: Lease, delivery: Delivery, body: str, digest: str, now: datetime
) -> int:
    """Note, durably, that a send is about to begin; return which attempt it is."""
    place = _hold(tx, lease, now)
    told = {"id": delivery.id, "body": body, "digest": digest}
    if not tx.run("claim_delivery", told):
        raise LeaseLost(lease.task_id, lease.number)
    attempt = {"id": delivery.id, "lease": lease.number, "digest": digest, "now": rows.ms(now)}
    row = tx.one("insert_attempt", attempt)
    assert row is not None  # noqa: S101 - an insert that returns its row
    n = rows.number(row["n"])
    data: dict[str, Json] = {"delivery": delivery.id, "attempt": n, "sha256": digest}
    _tell(tx, lease.task_id, place, Kind.DELIVERY_CLAIMED, data, now)
    return n


def settle_send(
    tx: Tx, lease: Lease, delivery: Delivery, attempt: int, answer: Answer, now: datetime
) -> bool:
    """Write down what the channel answered; a leg that lost its lease only adds evidence."""
    word, status, note = _words(answer)
    key = {"id": delivery.id, "n": attempt, "lease": lease.number, "now": rows.ms(now)}
    tx.run("answer_attempt", key | {"answer": word, "note": note})
    receipt = answer.ref if isinstance(answer, Accepted) else None
    told = {"id": delivery.id, "to": status, "why": note, "receipt": receipt, "now": rows.ms(now)}
    settled = tx.run("settle_delivery", told | {"lease": lease.number, "task": lease.task_id})
    data: dict[str, Json] = {"delivery": delivery.id, "answer": word, "note": note}
    if receipt is not None:
        data["receipt"] = receipt
    if not settled:
        data["late"] = True
    _tell(tx, lease.task_id, _note(tx, lease.task_id, now), Kind.DELIVERY_SETTLED, data, now)
    return bool(settled)


def post(tx: Tx, lease: Lease, delivery: Delivery, body: str, digest: str, now: datetime) -> None:
    """Deliver by writing it down: on the dashboard, sent and kept are one transaction."""
    place = _hold(tx, lease, now)
    told = {"id": delivery.id, "body": body, "digest": digest, "now": rows.ms(now)}
    if not tx.run("post_delivery", told):
        raise LeaseLost(lease.task_id, lease.number)
    data: dict[str, Json] = {"delivery": delivery.id, "answer": "accepted", "sha256": digest}
    data["receipt"] = "dashboard"
    _tell(tx, lease.task_id, place, Kind.DELIVERY_SETTLED, data, now)


def doubt(tx: Tx, lease: Lease, delivery: Delivery, why: str, now: datetime) -> None:
    """A send was cut before its answer was written down: nobody knows, so it is said."""
    place = _hold(tx, lease, now)
    if not tx.run("doubt_delivery", {"id": delivery.id, "why": why}):
        raise LeaseLost(lease.task_id, lease.number)
    data: dict[str, Json] = {"delivery": delivery.id, "answer": "unknown", "note": why}
    _tell(tx, lease.task_id, place, Kind.DELIVERY_SETTLED, data, now)


def doubt_unsettled(tx: Tx, task: Task, now: datetime) -> None:
    """The task ends, nobody will look again: a send that was cut off is said to be in doubt."""
    why = "the process ended between the send and its record"
    for delivery in (each for each in task.delivery if each.status is DeliveryStatus.SENDING):
        tx.run("doubt_delivery", {"id": delivery.id, "why": why})
        data: dict[str, Json] = {"delivery": delivery.id, "answer": "unknown", "note": why}
        _tell(tx, task.id, _note(tx, task.id, now), Kind.DELIVERY_SETTLED, data, now)


def of_task(tx: Tx, task_id: TaskId) -> tuple[Delivery, ...]:
    return tuple(rows.delivery(row) for row in tx.all("list_deliveries", {"task": task_id}))


def _words(answer: Answer) -> tuple[str, str, str | None]:
    """The answer's name, the delivery's new status, and a note."""
    match answer:
        case Accepted():
            return "accepted", "sent", None
        case Retry(why):
            return "retry", "pending", why
        case Refused(why):
            return "refused", "refused", why
        case Unknown(why):  # pragma: no branch - there is no other
            return "unknown", "unknown", why


def _hold(tx: Tx, lease: Lease, now: datetime) -> int:
    """Make sure that this lease still holds; return the place of the event to come."""
    held: Params = {
        "id": lease.task_id,
        "lease": lease.number,
        "details": None,
        "count": 1,
        "now": rows.ms(now),
    }
    row = tx.one("touch_task", held)
    if row is None:
        raise LeaseLost(lease.task_id, lease.number)
    return rows.number(row["events"])


def _note(tx: Tx, task_id: TaskId, now: datetime) -> int:
    """The place of an event that needs no lease."""
    row = tx.one("note_task", {"id": task_id, "now": rows.ms(now)})
    assert row is not None  # noqa: S101 - deliveries belong to tasks that are there
    return rows.number(row["events"])


def _tell(
    tx: Tx, task_id: TaskId, n: int, kind: Kind, data: dict[str, Json], now: datetime
) -> None:
    events.append(tx, task_id, n, Entry(kind, Actor.COURIER, data), now)
