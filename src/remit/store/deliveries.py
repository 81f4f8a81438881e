"""Deliveries: claimed before the first byte, settled by the channel's answer."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from remit.errors import LeaseLost
from remit.model.codec import Json, JsonMap, text_of, to_json
from remit.model.delivery import (
    Accepted,
    Answer,
    Delivery,
    DeliveryReport,
    DeliveryStatus,
    Found,
    ProviderReport,
    SendHistory,
)
from remit.model.delivery_moves import answer_word, status_after
from remit.model.event import EventKind, NewEvent
from remit.model.ids import DeliveryId, TaskId
from remit.model.run import Lease
from remit.model.status import Actor
from remit.model.task import Task
from remit.store import events, rows, tasks
from remit.store.database import Params, Tx


class MessageThread(Struct, frozen=True):
    """What a message goes on with. `subject` is that of the owner's mail, if one ordered it.

    `first` is the text of the first message, which the thread is called by otherwise.
    """

    earlier: tuple[str, ...] = ()  # what the provider called them, oldest first
    subject: str = ""
    first: str = ""


def claim_send(
    tx: Tx, lease: Lease, delivery: Delivery, body: str, digest: str, now: datetime
) -> int:
    """Note, durably, that a send is about to begin; return which attempt it is."""
    place = _hold(tx, lease, now)
    told = {"id": delivery.id, "body": body, "digest": digest, "address": delivery.address}
    if not tx.run("claim_delivery", told):
        raise LeaseLost(lease.task_id, lease.number)
    attempt = {"id": delivery.id, "lease": lease.number, "digest": digest, "now": rows.ms(now)}
    row = tx.one("insert_attempt", attempt)
    assert row is not None  # noqa: S101 - an insert that returns its row
    n = rows.number(row["n"])
    data: dict[str, Json] = {"delivery": delivery.id, "attempt": n, "sha256": digest}
    _tell(tx, lease.task_id, place, EventKind.DELIVERY_CLAIMED, data, now)
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
    _tell(tx, lease.task_id, _note(tx, lease.task_id, now), EventKind.DELIVERY_SETTLED, data, now)
    return bool(settled)


def post(tx: Tx, lease: Lease, delivery: Delivery, body: str, digest: str, now: datetime) -> None:
    """Deliver by writing it down: on the dashboard, sent and kept are one transaction."""
    place = _hold(tx, lease, now)
    told = {"id": delivery.id, "body": body, "digest": digest, "now": rows.ms(now)}
    if not tx.run("post_delivery", told):
        raise LeaseLost(lease.task_id, lease.number)
    data: dict[str, Json] = {"delivery": delivery.id, "answer": "accepted", "sha256": digest}
    data["receipt"] = "dashboard"
    _tell(tx, lease.task_id, place, EventKind.DELIVERY_SETTLED, data, now)


def doubt(tx: Tx, lease: Lease, delivery: Delivery, why: str, now: datetime) -> None:
    """A send was cut before its answer was written down: nobody knows, so it is said."""
    place = _hold(tx, lease, now)
    if not tx.run("doubt_delivery", {"id": delivery.id, "why": why, "now": rows.ms(now)}):
        raise LeaseLost(lease.task_id, lease.number)
    data: dict[str, Json] = {"delivery": delivery.id, "answer": "unknown", "note": why}
    _tell(tx, lease.task_id, place, EventKind.DELIVERY_SETTLED, data, now)


def doubt_unsettled(tx: Tx, task: Task, now: datetime) -> None:
    """The task ends, nobody will look again: a send that was cut off is said to be in doubt."""
    why = "the process ended between the send and its record"
    for delivery in (each for each in task.delivery if each.status is DeliveryStatus.SENDING):
        tx.run("doubt_delivery", {"id": delivery.id, "why": why, "now": rows.ms(now)})
        data: dict[str, Json] = {"delivery": delivery.id, "answer": "unknown", "note": why}
        _tell(tx, task.id, _note(tx, task.id, now), EventKind.DELIVERY_SETTLED, data, now)


def split(
    tx: Tx, lease: Lease, delivery: Delivery, parts: Sequence[tuple[DeliveryId, str]], now: datetime
) -> None:
    """Make one delivery into several rows, each with the text it will send."""
    place = _hold(tx, lease, now)
    for part, (part_id, body) in enumerate(parts):
        told: dict[str, str | int | None] = {"id": part_id, "of": delivery.id, "part": part}
        told |= {"parts": len(parts), "body": body, "address": delivery.address}
        if not tx.run("split_delivery", told):
            raise LeaseLost(lease.task_id, lease.number)
    data: dict[str, Json] = {
        "delivery": delivery.id,
        "parts": list[Json](part_id for part_id, _ in parts),
    }
    _tell(tx, lease.task_id, place, EventKind.DELIVERY_SPLIT, data, now)


def clear(tx: Tx, lease: Lease, delivery: Delivery, answer: Found, now: datetime) -> None:
    """Settle a doubt by what a channel found out about it."""
    place = _hold(tx, lease, now)
    if not _cleared(tx, str(delivery.id), answer, now):
        raise LeaseLost(lease.task_id, lease.number)
    _tell_cleared(tx, lease.task_id, place, str(delivery.id), answer, now)


def sends(tx: Tx, delivery: Delivery) -> SendHistory:
    """What was tried with a delivery so far."""
    row = tx.one("sum_attempts", {"id": delivery.id})
    assert row is not None  # noqa: S101 - a sum is always one row
    at = row["last_at"]
    return SendHistory(
        rows.number(row["last"]),
        None if at is None else rows.parse_time(at),
        rows.number(row["out"]),
    )


def report(tx: Tx, came: DeliveryReport, now: datetime) -> TaskId | None:
    """Take in what a provider says later; return the task that can go on with it.

    A question that was put to the owner meanwhile stays his: the report is evidence, and he is
    shown it. What was settled before stays as it is. It is held against its own channel: who can
    sign for one has nothing to say about another.
    """
    meant: Params = {"key": came.key, "ref": came.said.ref, "channel": came.channel}
    row = tx.one("find_delivery", meant)
    if row is None:
        return None
    task_id, delivery_id = TaskId(str(row["task_id"])), str(row["id"])
    kept: dict[str, str | int] = {"id": delivery_id, "reported": text_of(to_json(came.said))}
    fresh = tx.run("report_delivery", kept | {"arrived": came.said.arrived}) == 1
    if not fresh and came.said.arrived:
        return None  # it was known to have arrived, and a provider says so many times
    if row["status"] == "unknown":
        tx.run("add_review_evidence", {"about": delivery_id, "said": _evidence(came.said)})
    word, _, note = _words(came.said.answer)
    data: dict[str, Json] = {"delivery": delivery_id, "answer": word, "ref": came.said.ref}
    data |= {"note": note} if note else {}
    _tell(tx, task_id, _note(tx, task_id, now), EventKind.DELIVERY_REPORTED, data, now)
    woken = fresh and tx.run("wake_task", {"id": task_id, "now": rows.ms(now)})
    return task_id if woken else None


def _cleared(tx: Tx, delivery_id: str, answer: Found, now: datetime) -> bool:
    _, status, why = _words(answer)
    told: Params = {
        "id": delivery_id,
        "to": status,
        "why": why,
        "receipt": answer.ref if isinstance(answer, Accepted) else None,
        "now": rows.ms(now),
    }
    return tx.run("resolve_delivery", told) == 1


def _tell_cleared(
    tx: Tx, task_id: TaskId, place: int, delivery_id: str, answer: Answer, now: datetime
) -> None:
    word, _, note = _words(answer)
    data: dict[str, Json] = {"delivery": delivery_id, "answer": word, "note": note, "found": True}
    if isinstance(answer, Accepted):
        data["receipt"] = answer.ref
    _tell(tx, task_id, place, EventKind.DELIVERY_SETTLED, data, now)


def _evidence(said: ProviderReport) -> str:
    what = "it arrived" if said.arrived else f"it did not arrive: {said.why}"
    return f"\n\nThe provider reports meanwhile: {what} ({said.ref})."


def of_task(tx: Tx, task_id: TaskId) -> tuple[Delivery, ...]:
    return tuple(rows.delivery(row) for row in tx.all("list_deliveries", {"task": task_id}))


def _words(answer: Answer) -> tuple[str, str, str | None]:
    """The answer's name, the delivery's new status, and a note."""
    note = None if isinstance(answer, Accepted) else answer.why
    return answer_word(answer), status_after(answer), note


def _hold(tx: Tx, lease: Lease, now: datetime) -> int:
    """Make sure that this lease still holds; return the place of the event to come."""
    held: Params = {
        "id": lease.task_id,
        "lease": lease.number,
        "details": None,
        "count": 1,
        "now": rows.ms(now),
    }
    row = tx.one("record_leg_event", held)
    if row is None:
        raise LeaseLost(lease.task_id, lease.number)
    return rows.number(row["events"])


def _note(tx: Tx, task_id: TaskId, now: datetime) -> int:
    """The place of an event that needs no lease."""
    row = tx.one("record_task_event", {"id": task_id, "now": rows.ms(now)})
    assert row is not None  # noqa: S101 - deliveries belong to tasks that are there
    return rows.number(row["events"])


def _tell(
    tx: Tx, task_id: TaskId, n: int, kind: EventKind, data: dict[str, Json], now: datetime
) -> None:
    events.append(tx, task_id, n, NewEvent(kind, Actor.COURIER, data), now)


def last_trouble(tx: Tx, channel: str) -> str | None:
    """What went wrong last on a channel; None if nothing of late did."""
    row = tx.one("last_trouble", {"channel": channel})
    return rows.text(row["reason"]) if row else None


def find_thread(tx: Tx, key: str, channel: str, limit: int = 20) -> MessageThread:
    """The thread of a delivery, or of a notice that goes alone, by its key.

    Messages of one session, to one person, by one channel belong together. What the owner ordered
    by mail also belongs to that mail: the answer stands in the same thread.
    """
    place = tx.one("find_thread", {"id": key})
    if place is None:
        return MessageThread()
    task = tasks.get(tx, TaskId(str(place["task_id"])))
    recipient = place["recipient"]
    asked: dict[str, str | int | None] = {
        "id": key,
        "session": task.session_id,
        "channel": channel,
        "recipient": None if recipient is None else str(recipient),
    }
    sent = [str(row["receipt"]) for row in tx.all("list_thread", asked | {"limit": limit})]
    first = tx.one("first_in_thread", asked)
    ordered, subject = _ordering_mail(task.context) if recipient is None else ((), "")
    earlier = tuple(dict.fromkeys((*ordered, *reversed(sent))))
    return MessageThread(earlier, subject, str(first["words"] or "") if first else "")


def _ordering_mail(context: JsonMap) -> tuple[tuple[str, ...], str]:
    """The ids and the subject of the owner's mail that ordered a task; only its own has both."""
    ids, subject = context.get("threads"), context.get("subject")
    if not isinstance(ids, list) or not isinstance(subject, str):
        return (), ""
    return tuple(str(each) for each in ids), subject
