"""Deliveries: claimed before the first byte, settled by the channel's answer."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from remit.errors import LeaseLost
from remit.model.codec import Json, JsonMap, stored_text, to_json
from remit.model.delivery import (
    Accepted,
    Answer,
    Delivery,
    DeliveryReport,
    DeliveryStatus,
    Found,
    ProviderReport,
    SendCap,
    SendHistory,
)
from remit.model.delivery_moves import answer_word, status_after
from remit.model.ids import DeliveryId, TaskId
from remit.model.run import EventKind, Lease, NewEvent
from remit.model.status import Actor
from remit.model.task import Task
from remit.store import events, permissions, rows, tasks
from remit.store.database import Params, Tx, patient, quick


class MessageThread(Struct, frozen=True):
    """What a message continues. `subject` is that of the owner's mail, if a mail ordered it.

    `first` is the text of the first message, which names the thread otherwise.
    """

    earlier: tuple[str, ...] = ()  # the provider's ids, oldest first
    subject: str = ""
    first: str = ""


@patient
def claim_send(
    tx: Tx, lease: Lease, delivery: Delivery, body: str, digest: str, now: datetime
) -> int:
    """Record durably that a send is about to begin; return the attempt's number."""
    place = _hold(tx, lease, now)
    values = {"id": delivery.id, "body": body, "digest": digest, "address": delivery.address}
    if not tx.run("claim_delivery", values):
        raise LeaseLost(lease.task_id, lease.number)
    attempt = {"id": delivery.id, "lease": lease.number, "digest": digest, "now": rows.ms(now)}
    n = rows.number(rows.found(tx.one("insert_attempt", attempt))["n"])
    data: dict[str, Json] = {"delivery": delivery.id, "attempt": n, "sha256": digest}
    _tell(tx, lease.task_id, place, EventKind.DELIVERY_CLAIMED, data, now)
    return n


@patient
def claim_capped(  # noqa: PLR0913 - as above, and the cap
    tx: Tx,
    lease: Lease,
    delivery: Delivery,
    body: str,
    digest: str,
    now: datetime,
    *,
    cap: SendCap,
) -> int:
    """Claim a send, unless too many messages went to the same place; then return 0."""
    if permissions.sent_since(tx, delivery, cap.since) >= cap.most:
        return 0
    return claim_send(tx, lease, delivery, body, digest, now)


@patient
def settle_send(
    tx: Tx, lease: Lease, delivery: Delivery, attempt: int, answer: Answer, now: datetime
) -> bool:
    """Record the channel's answer; a leg that lost its lease only adds evidence."""
    word, status, note = _words(answer)
    key = {"id": delivery.id, "n": attempt, "lease": lease.number, "now": rows.ms(now)}
    tx.run("answer_attempt", key | {"answer": word, "note": note})
    receipt = answer.ref if isinstance(answer, Accepted) else None
    values = {"id": delivery.id, "to": status, "why": note, "receipt": receipt, "now": rows.ms(now)}
    settled = tx.run("settle_delivery", values | {"lease": lease.number, "task": lease.task_id})
    data: dict[str, Json] = {"delivery": delivery.id, "answer": word, "note": note}
    if receipt is not None:
        data["receipt"] = receipt
    if not settled:
        data["late"] = True
        _keep_late_answer(tx, lease.task_id, str(delivery.id), answer, now)
    _tell(tx, lease.task_id, _note(tx, lease.task_id, now), EventKind.DELIVERY_SETTLED, data, now)
    return bool(settled)


def _keep_late_answer(
    tx: Tx, task_id: TaskId, delivery_id: str, answer: Answer, now: datetime
) -> None:
    """Keep what a channel told a worker that was replaced meanwhile: it settles the doubt."""
    if tx.shared and isinstance(answer, Accepted):
        provider_report = ProviderReport(ref=answer.ref, arrived=True)
        kept: Params = {
            "id": delivery_id,
            "reported": stored_text(to_json(provider_report)),
            "arrived": True,
        }
        tx.run("report_delivery", kept)
        tx.run("wake_task", {"id": task_id, "now": rows.ms(now)})


class DashboardPost(Struct, frozen=True):
    """A delivery that is made by writing it down, with the digest of its text."""

    delivery: Delivery
    body: str
    digest: str


@patient
def post(tx: Tx, lease: Lease, post: DashboardPost, now: datetime) -> None:
    """Deliver by writing it down: on the dashboard, sent and kept are one transaction."""
    place, id_ = _hold(tx, lease, now), post.delivery.id
    values = {"id": id_, "body": post.body, "digest": post.digest, "now": rows.ms(now)}
    if not tx.run("post_delivery", values):
        raise LeaseLost(lease.task_id, lease.number)
    data: dict[str, Json] = {"delivery": id_, "answer": "accepted", "sha256": post.digest}
    data["receipt"] = "dashboard"
    _tell(tx, lease.task_id, place, EventKind.DELIVERY_SETTLED, data, now)


def doubt(tx: Tx, lease: Lease, delivery: Delivery, why: str, now: datetime) -> None:
    """Mark an interrupted send as unknown."""
    place = _hold(tx, lease, now)
    if not tx.run("doubt_delivery", {"id": delivery.id, "why": why, "now": rows.ms(now)}):
        raise LeaseLost(lease.task_id, lease.number)
    data: dict[str, Json] = {"delivery": delivery.id, "answer": "unknown", "note": why}
    _tell(tx, lease.task_id, place, EventKind.DELIVERY_SETTLED, data, now)


def doubt_unsettled(tx: Tx, task: Task, now: datetime) -> None:
    """Mark interrupted sends of an ending task as unknown, because no leg will look again."""
    why = "the process ended between the send and its record"
    for delivery in (each for each in task.delivery if each.status is DeliveryStatus.SENDING):
        tx.run("doubt_delivery", {"id": delivery.id, "why": why, "now": rows.ms(now)})
        data: dict[str, Json] = {"delivery": delivery.id, "answer": "unknown", "note": why}
        _tell(tx, task.id, _note(tx, task.id, now), EventKind.DELIVERY_SETTLED, data, now)


def split(
    tx: Tx, lease: Lease, delivery: Delivery, parts: Sequence[tuple[DeliveryId, str]], now: datetime
) -> None:
    """Split one delivery into several rows, each with the text it will send."""
    place = _hold(tx, lease, now)
    for part, (part_id, body) in enumerate(parts):
        values: dict[str, str | int | None] = {"id": part_id, "of": delivery.id, "part": part}
        values |= {"parts": len(parts), "body": body, "address": delivery.address}
        if not tx.run("split_delivery", values):
            raise LeaseLost(lease.task_id, lease.number)
    data: dict[str, Json] = {
        "delivery": delivery.id,
        "parts": list[Json](part_id for part_id, _ in parts),
    }
    _tell(tx, lease.task_id, place, EventKind.DELIVERY_SPLIT, data, now)


def clear(tx: Tx, lease: Lease, delivery: Delivery, answer: Found, now: datetime) -> None:
    """Resolve an unknown send by what the channel found."""
    place = _hold(tx, lease, now)
    if not _resolve_delivery(tx, str(delivery.id), answer, now):
        raise LeaseLost(lease.task_id, lease.number)
    _tell_cleared(tx, lease.task_id, place, str(delivery.id), answer, now)


@quick
def sends(tx: Tx, delivery: Delivery) -> SendHistory:
    """Return the attempts of a delivery so far."""
    return rows.value(SendHistory, rows.found(tx.one("sum_attempts", {"id": delivery.id})))


def report(tx: Tx, incoming: DeliveryReport, now: datetime) -> TaskId | None:
    """Store a provider's later report; return the task that can continue with it.

    An open question stays the owner's: the report is shown as evidence. A settled delivery stays as
    it is. A report counts only for its own channel, because its signature proves nothing about
    another.
    """
    values: Params = {"key": incoming.key, "ref": incoming.said.ref, "channel": incoming.channel}
    row = tx.one("find_delivery", values)
    if row is None:
        return None
    task_id, delivery_id = TaskId(str(row["task_id"])), str(row["id"])
    kept: dict[str, str | int] = {
        "id": delivery_id,
        "reported": stored_text(to_json(incoming.said)),
    }
    fresh = tx.run("report_delivery", kept | {"arrived": incoming.said.arrived}) == 1
    if not fresh and incoming.said.arrived:
        return None  # known to have arrived; providers repeat this
    if row["status"] == "unknown":
        tx.run("add_review_evidence", {"about": delivery_id, "said": _evidence(incoming.said)})
    word, _, note = _words(incoming.said.answer)
    data: dict[str, Json] = {"delivery": delivery_id, "answer": word, "ref": incoming.said.ref}
    data |= {"note": note} if note else {}
    _tell(tx, task_id, _note(tx, task_id, now), EventKind.DELIVERY_REPORTED, data, now)
    woken = fresh and tx.run("wake_task", {"id": task_id, "now": rows.ms(now)})
    return task_id if woken else None


def _resolve_delivery(tx: Tx, delivery_id: str, answer: Found, now: datetime) -> bool:
    _, status, why = _words(answer)
    values: Params = {
        "id": delivery_id,
        "to": status,
        "why": why,
        "receipt": answer.ref if isinstance(answer, Accepted) else None,
        "now": rows.ms(now),
    }
    return tx.run("resolve_delivery", values) == 1


def _tell_cleared(
    tx: Tx, task_id: TaskId, place: int, delivery_id: str, answer: Answer, now: datetime
) -> None:
    word, _, note = _words(answer)
    data: dict[str, Json] = {"delivery": delivery_id, "answer": word, "note": note, "found": True}
    if isinstance(answer, Accepted):
        data["receipt"] = answer.ref
    _tell(tx, task_id, place, EventKind.DELIVERY_SETTLED, data, now)


def _evidence(provider_report: ProviderReport) -> str:
    what = "it arrived" if provider_report.arrived else f"it did not arrive: {provider_report.why}"
    return f"\n\nThe provider reports meanwhile: {what} ({provider_report.ref})."


def of_task(tx: Tx, task_id: TaskId) -> tuple[Delivery, ...]:
    return tuple(rows.delivery(row) for row in tx.all("list_deliveries", {"task": task_id}))


def _words(answer: Answer) -> tuple[str, str, str | None]:
    """Return the answer's word, the delivery's new status, and a note."""
    note = None if isinstance(answer, Accepted) else answer.why
    return answer_word(answer), status_after(answer), note


def _hold(tx: Tx, lease: Lease, now: datetime) -> int:
    """Check that this lease still holds; return the number of the next event."""
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
    """Return the number of an event that needs no lease."""
    row = rows.found(tx.one("record_task_event", {"id": task_id, "now": rows.ms(now)}))
    return rows.number(row["events"])


def _tell(
    tx: Tx, task_id: TaskId, n: int, kind: EventKind, data: dict[str, Json], now: datetime
) -> None:
    events.append(tx, task_id, n, NewEvent(kind, Actor.COURIER, data), now)


def last_trouble(tx: Tx, channel: str) -> str | None:
    """Return the last error on a channel; None if there was none recently."""
    row = tx.one("last_trouble", {"channel": channel})
    return rows.text(row["reason"]) if row else None


def find_thread(tx: Tx, key: str, channel: str, limit: int = 20) -> MessageThread:
    """Return the thread of a delivery, or of a single notice, by its key.

    Messages of one session to one person on one channel belong together. What the owner ordered by
    mail also belongs to that mail's thread.
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
    """Return the ids and subject of the owner's mail that ordered a task, if any."""
    ids, subject = context.get("threads"), context.get("subject")
    if not isinstance(ids, list) or not isinstance(subject, str):
        return (), ""
    return tuple(str(each) for each in ids), subject
