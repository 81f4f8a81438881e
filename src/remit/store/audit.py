"""Checks whether the file still holds what was written into it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from remit.errors import RemitError
from remit.model.codec import Json, JsonMap, sha256, to_json
from remit.model.delivery_moves import STATUS_AFTER_ANSWER, STATUS_AFTER_DECISION
from remit.model.run import EventKind
from remit.store import events, rows
from remit.store.database import Cell, Row, Tx

RECENT: Final = 2000
_PAGE: Final = 1000


def complaints(tx: Tx, *, whole: bool = True) -> Iterator[str]:
    """Yield a sentence for everything that does not hold; nothing if the file is intact.

    The journal is a chain of hashes: one changed byte breaks it. The tasks are then compared with
    the journal: their words with what was admitted, their status with the last move, and their
    deliveries with the recorded sends.
    """
    since = 0 if whole else max(0, events.last(tx) - RECENT)
    broken = list(events.broken_links(tx, since))
    yield from broken
    if broken or not whole:
        return  # a changed journal proves nothing about the tasks
    yield from _gaps(tx)
    yield from _contradictions(tx)
    yield from _questions(tx)


def _gaps(tx: Tx) -> Iterator[str]:
    for row in tx.all("audit_gaps"):
        text = f"the journal has {row['found']!s}, up to number {row['last']!s}"
        yield f"Task {row['id']!s} counts {row['events']!s} events; {text}."


def _contradictions(tx: Tx) -> Iterator[str]:
    restores, last = tx.all("audit_restores"), 0
    while page := tx.all("audit_tasks", {"no": last, "limit": _PAGE}):
        last = rows.number(page[-1]["no"])
        parcels: dict[Cell, list[Row]] = {row["id"]: [] for row in page}
        for parcel in tx.all("list_deliveries_of_tasks", {"tasks": json.dumps(list(parcels))}):
            parcels[parcel["task_id"]].append(parcel)
        sends = _sends(tx, list(parcels), restores)
        for row in page:
            if row["created"] is None:
                yield f"Task {row['id']!s} has no first event."
                continue
            # An answer of the owner before the work began changed the plan and was journalled.
            created: JsonMap = {
                **json.loads(str(row["created"])),
                **json.loads(str(row["amended"] or "{}")),
            }
            yield from _compare_task(row, created, parcels[row["id"]])
            for parcel in parcels[row["id"]]:
                yield from _compare_delivery(parcel, sends)


def _compare_task(row: Row, created: JsonMap, parcels: Sequence[Row]) -> Iterator[str]:
    try:
        task = rows.task(row, tuple(map(rows.delivery, parcels)))
    except _UNREADABLE as error:
        yield f"Task {row['id']!s} cannot be read: {error}."
        return
    planned = [parcel for parcel in parcels if not parcel["part"]]
    plan: list[Json] = [{name: parcel[name] for name in _PLANNED} for parcel in planned]  # type: ignore[misc]
    for name, is_now, was in (
        ("title", row["title"], created.get("title", "")),
        ("instructions", row["instructions"], created.get("instructions", "")),
        ("source", f"{row['source_kind']!s}:{row['source_ref']!s}", created["source"]),
        ("time", to_json(rows.exact(row["scheduled_for"])), created.get("scheduledFor")),
        ("delivery", plan, created.get("delivery", [])),
        ("shape", (row["parcels"], row["precomposed"]), (len(plan), task.plan.precomposed)),
    ):
        if is_now != was:
            yield f"The {name} of task {row['id']!s} is not what was admitted."
    if row["status"] != (row["moved"] or "new"):
        yield f"Task {row['id']!s} is {row['status']!s}, but its last move was to {row['moved']!s}."


def _questions(tx: Tx) -> Iterator[str]:
    after = ""
    while page := tx.all("audit_reviews", {"after": after, "limit": _PAGE}):
        after = str(page[-1]["id"])
        for row in page:
            try:
                review = rows.review(row)
            except _UNREADABLE as error:
                yield f"Review {row['id']!s} cannot be read: {error}."
                continue
            asked = json.loads(str(row["opened"] or "{}"))
            if (review.reason, review.question) != (asked.get("reason"), asked.get("question")):
                yield f"Review {row['id']!s} does not ask what was asked."


class _Send(Struct):
    """What the journal says about one delivery."""

    status: str = "pending"
    digest: str | None = None  # of the text last claimed
    receipt: str | None = None


def _compare_delivery(parcel: Row, sends: Mapping[Cell, _Send]) -> Iterator[str]:
    send = sends.get(parcel["id"], _Send())
    if parcel["status"] != send.status:
        is_now = f"{parcel['status']!s}"
        yield f"Delivery {parcel['id']!s} is {is_now}, but the journal says {send.status}."
    if parcel["receipt"] != send.receipt:
        yield f"The receipt of delivery {parcel['id']!s} is not what came back."
    body = sha256(str(parcel["body"]).encode()).hex()
    if send.digest not in (None, body):
        yield f"The text of delivery {parcel['id']!s} is not what was sent."


def _sends(tx: Tx, tasks: Sequence[Cell], restores: Sequence[Row]) -> dict[Cell, _Send]:
    """Read the journal of some tasks again and follow each of their deliveries."""
    sends: dict[Cell, _Send] = {}
    found = tx.all("audit_sends", {"tasks": json.dumps(tasks)})
    for row in sorted([*found, *restores], key=lambda row: rows.number(row["seq"])):
        data: dict[str, str] = json.loads(str(row["data"]))
        match row["kind"]:
            case EventKind.DELIVERY_CLAIMED:
                sends[data["delivery"]] = _Send("sending", data["sha256"])
            case EventKind.DELIVERY_SETTLED if "late" not in data:
                send = sends.setdefault(data["delivery"], _Send())
                send.status = STATUS_AFTER_ANSWER[data["answer"]]
                send.digest = data.get("sha256", send.digest)
                send.receipt = data.get("receipt", send.receipt)
            case EventKind.REVIEW_DECIDED if row["about"] in sends:
                send = sends[row["about"]]
                send.status = STATUS_AFTER_DECISION.get(data["answer"], send.status)
            case EventKind.STORE_RESTORED:
                for send in sends.values():
                    send.status = "unknown" if send.status == "sending" else send.status
            case _:
                pass  # late evidence, or a question about something else
    return sends


_PLANNED: Final = ("id", "channel", "recipient", "content")
_UNREADABLE: Final = (LookupError, ValueError, TypeError, ArithmeticError, RemitError)
