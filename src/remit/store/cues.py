"""Inbound cues: stored once, started once, and limited in number and cost.

A cue is stored before anything is made of it, so an interrupted one is resumed. The limits are
counted in the transaction that stores it. Of cues that start nothing only a few are kept; of a
flood only the number.

Messages and reports of channels are stored once, however often a provider repeats them. Only a
message has a sender.
"""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.model.codec import JsonMap, stamp, stored_text
from remit.model.delivery import DeliveryReport
from remit.model.ids import TaskId
from remit.model.permit import number_forms
from remit.model.task import Source
from remit.model.task_file import ATTACHMENTS
from remit.store import deliveries, meta, notices, rows
from remit.store.database import Params, Row, Tx

MOST_IDLE: Final = 100  # kept per hour and door, of cues that start nothing
_HOUR: Final = timedelta(hours=1)
RESTORED: Final = "restored"  # key in a mark: when a backup was restored
_MARK: Final = "door:"
_UNKEPT: Final = "unkept:"


class CueFate(StrEnum):
    """What became of a cue."""

    WAITING = "waiting"  # not started yet
    STARTED = "started"
    TALKED = "talked"  # it continued a conversation
    IGNORED = "ignored"
    OVER = "over"  # a limit of its door prevented the start


class InboundCaps(Struct, frozen=True):
    """How many tasks a door may start per hour, and their daily cost; 0: no limit."""

    hourly: int = 0
    daily_tokens: int = 0
    daily_cents: int = 0
    each: bool = False  # the hourly limit counts for each sender
    turns_away: bool = False  # a caller over the limit is refused and may retry: nothing is stored
    comes_again: bool = False  # what is turned away is looked at again, and counted there


class Arrival(Struct, frozen=True, kw_only=True):
    """Something that came in. `fate` is what happens to it, if no limit forbids that."""

    ref: str  # its permanent identity: the same ref is the same cue
    door: str
    body: JsonMap
    sender: str = ""
    said_at: datetime | None = None
    fate: CueFate = CueFate.WAITING
    why: str = ""


class StoredCue(Struct, frozen=True):
    """A stored cue. `stored` is False for one that was only counted."""

    ref: str
    door: str
    sender: str
    heard_at: datetime
    body: JsonMap
    fate: CueFate
    why: str = ""
    task_id: TaskId | None = None
    stored: bool = True
    said_at: datetime | None = None

    @property
    def name(self) -> str:
        """A short name that a person can type."""
        return hashlib.sha256(self.ref.encode()).hexdigest()[:8]


def come(tx: Tx, arrival: Arrival, caps: InboundCaps, now: datetime, day: datetime) -> StoredCue:
    """Store a cue once and return its state; `day` is when the owner's day began."""
    known = tx.one("get_inbound", {"ref": arrival.ref})
    if known is not None and known["fate"] is not None:
        return _stored_cue(known)
    fate, why = arrival.fate, arrival.why
    over = _over(tx, arrival, caps, now, day) if fate is CueFate.WAITING else None
    if over is not None:
        fate, why = CueFate.OVER, over
    idle = fate is not CueFate.WAITING and fate is not CueFate.TALKED
    is_unkept = idle and (caps.turns_away or is_flooded(tx, arrival.door, now))
    if is_unkept:
        if not caps.comes_again:
            keep_unkept(tx, arrival.door, unkept_of(tx, arrival.door) + 1)
        body = arrival.body
        return StoredCue(
            arrival.ref, arrival.door, arrival.sender, now, body, fate, why, stored=False
        )
    kept: Params = {
        "ref": arrival.ref,
        "door": arrival.door,
        "sender": arrival.sender,
        "said": rows.ms(min(arrival.said_at or now, now)),
        "heard": rows.ms(now),
        "body": stored_text(arrival.body if known is None else _with_files(known, arrival)),
        "fate": fate.value,
        "why": why,
    }
    tx.run("keep_cue", kept)
    return _get_stored_cue(tx, arrival.ref)


def settle(
    tx: Tx, ref: str, fate: CueFate, task_id: TaskId | None = None, why: str = ""
) -> StoredCue:
    """Store what became of a cue; a started one stays as it is."""
    tx.run("settle_cue", {"ref": ref, "fate": fate.value, "why": why, "task": task_id})
    return _get_stored_cue(tx, ref)


def waiting(tx: Tx, most: int = 1000) -> list[StoredCue]:
    """Return the cues that were stored but never started, oldest first."""
    return [_stored_cue(row) for row in tx.all("list_waiting_cues", {"most": most})]


def latest(tx: Tx, most: int = 50) -> list[StoredCue]:
    """Return the latest cues, newest first."""
    return [_stored_cue(row) for row in tx.all("list_cues", {"most": most})]


def tally(tx: Tx, since: datetime) -> dict[str, dict[CueFate, int]]:
    """Return the number of cues since a moment, by door and fate."""
    found: dict[str, dict[CueFate, int]] = {}
    for row in tx.all("count_cues", {"since": rows.ms(since)}):
        by_fate = found.setdefault(str(row["door"]), {})
        by_fate[rows.word(CueFate, row["fate"])] = rows.number(row["cues"])
    return found


def unkept(tx: Tx) -> dict[str, int]:
    """Return how many cues were only counted, by door."""
    return {door: int(count) for door, count in meta.starting_with(tx, _UNKEPT).items()}


def unkept_of(tx: Tx, door: str) -> int:
    return int(meta.get(tx, _UNKEPT + door) or 0)


def keep_unkept(tx: Tx, door: str, count: int) -> None:
    """Store how many cues of a door were only counted."""
    meta.put(tx, _UNKEPT + door, str(count))


def sender_of(tx: Tx, source: Source) -> str | None:
    """Return who sent the cue of a task; None if there is no such task."""
    row = tx.one("get_task_by_source", {"kind": source.kind.value, "ref": source.ref})
    context = rows.task(row).context if row is not None else None
    return None if context is None else str(context.get("sender", ""))


def mark(tx: Tx, door: str) -> JsonMap:
    """Return how far a door was read; empty if never."""
    found: JsonMap = json.loads(meta.get(tx, _MARK + door) or "{}")
    return found


def keep_mark(tx: Tx, door: str, new_mark: JsonMap) -> None:
    meta.put(tx, _MARK + door, stored_text(new_mark))


def mark_restored(tx: Tx, now: datetime, only: str | None = None) -> None:
    """Mark every door, or those with `only` as their mark: what comes next may have come before."""
    for door, text in meta.starting_with(tx, _MARK).items():
        details: JsonMap = json.loads(text)
        if only is not None and details.get(RESTORED) != only:
            continue
        keep_mark(tx, door, details | {RESTORED: stamp(now)})


def _over(tx: Tx, arrival: Arrival, caps: InboundCaps, now: datetime, day: datetime) -> str | None:
    """Return which limit prevents the start; None if none does."""
    asked: Params = {
        "door": arrival.door,
        "sender": arrival.sender if caps.each else None,
        "since": rows.ms(now - _HOUR),
    }
    if caps.hourly and _number(tx, "count_begun_cues", asked) >= caps.hourly:
        return f"{caps.hourly} in an hour is the limit"
    if not caps.daily_tokens and not caps.daily_cents:
        return None
    asked = {"door": arrival.door, "since": rows.ms(day)}
    spent = rows.found(tx.one("sum_cue_spending", asked))
    if caps.daily_tokens and rows.number(spent["tokens"]) >= caps.daily_tokens:
        return f"{caps.daily_tokens:,} tokens in a day is the limit"
    if caps.daily_cents and rows.number(spent["cents"]) >= caps.daily_cents:
        return f"${caps.daily_cents / 100:,.2f} in a day is the limit"
    return None


def is_flooded(tx: Tx, door: str, now: datetime) -> bool:
    """Whether so many cues without effect came within an hour that no more are stored."""
    asked: Params = {"door": door, "since": rows.ms(now - _HOUR)}
    return _number(tx, "count_idle_cues", asked) >= MOST_IDLE


def _number(tx: Tx, query: str, asked: Params) -> int:
    return rows.number(rows.found(tx.one(query, asked))["cues"])


def _get_stored_cue(tx: Tx, ref: str) -> StoredCue:
    return _stored_cue(rows.found(tx.one("get_inbound", {"ref": ref})))


def _with_files(known: Row, arrival: Arrival) -> JsonMap:
    """Return what a channel kept before, as it stands, with the files fetched since."""
    body: JsonMap = json.loads(str(known["body"]))
    files = arrival.body.get(ATTACHMENTS)
    return body | {ATTACHMENTS: files} if files else body


def _stored_cue(row: Row) -> StoredCue:
    body, why = json.loads(str(row["body"])), str(row["why"] or "")
    return rows.value(StoredCue, row, door=row["channel"], body=body, why=why)


# Messages and reports of channels -----------------------------------------------------------------


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


def take_inbound(tx: Tx, messages: Sequence[InboundMessage], now: datetime) -> list[TaskId]:
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
    take_inbound(tx, [InboundMessage(_note_ref(channel, ref), channel, {"task": task_id})], now)


def replied_to(tx: Tx, channel: str, ref: str) -> TaskId | None:
    """Return the task of the noted message that another one replies to."""
    row = tx.one("get_inbound", {"ref": _note_ref(channel, ref)})
    return None if row is None else TaskId(str(json.loads(str(row["body"]))["task"]))


def _note_ref(channel: str, ref: str) -> str:
    return f"{channel} about {ref}"


def forget_inbound(tx: Tx, before: datetime) -> int:
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
