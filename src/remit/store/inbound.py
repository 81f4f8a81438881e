"""Inbound channel messages: stored once, however often a provider repeats them.

A row is a message from a person, a report on one of our messages, or unknown. Only a message has a
sender.
"""

import json
from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from remit.model.codec import JsonMap, stored_text
from remit.model.delivery import DeliveryReport
from remit.model.ids import TaskId
from remit.model.permit import number_forms
from remit.store import deliveries, notices, rows
from remit.store.database import Params, Tx


class InboundMessage(Struct, frozen=True):
    """One inbound item. `report` is what it says about a delivery, if anything."""

    ref: str  # its permanent identity: the same ref is the same item
    channel: str
    body: JsonMap
    sender: str = ""
    said_at: datetime | None = None
    report: DeliveryReport | None = None
    outdone_by: tuple[
        str, ...
    ] = ()  # refs of stronger reports: if one came before, this is ignored


def take(tx: Tx, messages: Sequence[InboundMessage], now: datetime) -> list[TaskId]:
    """Store all items and apply their reports; return the tasks that can continue."""
    woken: list[TaskId] = []
    for each in messages:
        said_at = min(each.said_at or now, now)  # a clock that is ahead must not extend a window
        kept: Params = {
            "ref": each.ref,
            "channel": each.channel,
            "sender": each.sender,
            "said": rows.ms(said_at),
            "heard": rows.ms(now),
            "body": stored_text(each.body),
        }
        if not tx.run("insert_inbound", kept) or each.report is None:
            continue
        if any(is_known(tx, ref) for ref in each.outdone_by):
            continue
        notices.report(tx, each.report, now)
        task_id = deliveries.report(tx, each.report, now)
        woken += [task_id] if task_id is not None else []
    return woken


def note_message(tx: Tx, channel: str, ref: str, task_id: TaskId, now: datetime) -> None:
    """Note which task a message of a chat is about that is neither a delivery nor a notice."""
    take(tx, [InboundMessage(_about(channel, ref), channel, {"task": task_id})], now)


def replied_to(tx: Tx, channel: str, ref: str) -> TaskId | None:
    """Return the task of the noted message that another one replies to."""
    row = tx.one("get_inbound", {"ref": _about(channel, ref)})
    return None if row is None else TaskId(str(json.loads(str(row["body"]))["task"]))


def _about(channel: str, ref: str) -> str:
    return f"{channel} about {ref}"


def forget(tx: Tx, before: datetime) -> int:
    """Delete what came in before a moment; return how many."""
    return tx.run("prune_inbound", {"before": rows.ms(before)})


def last_at(tx: Tx, channel: str, address: str) -> datetime | None:
    """Return when the person behind an address last wrote on a channel."""
    asked: list[Params] = [{"channel": channel, "address": each} for each in number_forms(address)]
    found = [
        tx.one(name, each)
        for name in ("last_inbound_from", "last_inbound_of_user_id")
        for each in asked
    ]
    times = [rows.number(row["at"]) for row in found if row is not None and row["at"] is not None]
    return rows.parse_time(max(times)) if times else None


def is_known(tx: Tx, ref: str) -> bool:
    """Whether an item came before."""
    return tx.one("get_inbound", {"ref": ref}) is not None


def body_of(tx: Tx, ref: str) -> JsonMap:
    """Return what an item said; empty if it never came."""
    row = tx.one("get_inbound", {"ref": ref})
    found: JsonMap = {} if row is None else json.loads(str(row["body"]))
    return found


def beginning(tx: Tx, ref: str) -> list[str]:
    """Return the bodies of all items whose refs have this prefix, as JSON."""
    listed = tx.all("list_inbound", rows.prefix_range(ref))
    return [str(row["body"]) for row in listed]
