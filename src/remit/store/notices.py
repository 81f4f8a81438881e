"""Notices: decided once with their place in the journal, claimed before a byte leaves.

A notice writes no event, so no notice is ever about a notice.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.model.codec import sha256
from remit.model.conversation import (
    CONVERSATION,
    Conversation,
    Notice,
    NoticeContent,
    NoticeKind,
    NoticeState,
)
from remit.model.delivery import DeliveryReport
from remit.model.ids import ReviewId, TaskId
from remit.model.review import Review
from remit.model.run import Event
from remit.store import calendars, conversations, events, meta, reviews, rows, tasks
from remit.store.conversations import NewTurnRecord
from remit.store.database import Params, Row, Tx, patient, single

CUT: Final = "Remit ended between the send and its record."
_RESTORED: Final = "Restored from a backup; it may be told already."
_DIGESTED: Final = "digested"
_LONG_AGO: Final = datetime(2000, 1, 1, tzinfo=UTC)


class NoticeResult(Struct, frozen=True):
    """The result of a message. An unknown one is looked up at `due`, if set."""

    state: NoticeState
    why: str | None = None
    receipt: str | None = None
    due: datetime | None = None


# Decided ------------------------------------------------------------------------------------------


@patient
def decide(
    tx: Tx,
    turns: Sequence[tuple[Conversation, NewTurnRecord]],
    made: Sequence[Notice],
    upto: int,
    now: datetime,
) -> bool:
    """Post conversation turns, store notices and the place reached, in one write.

    Returns whether anything waits to be sent.
    """
    conversations.tell(tx, turns, upto, now)
    waits = False
    for each in made:
        if each.way == CONVERSATION and not conversations.is_said(tx, each.parcel or ""):
            continue  # that conversation was deleted meanwhile
        waits |= put(tx, each) and each.state is NoticeState.NEW
    return waits


def kind_sent(tx: Tx, about: str, way: str) -> NoticeKind | None:
    """Return the kind of what was sent over a way, or is about to be; None: nothing."""
    row = tx.one("find_notice_about", {"about": about, "way": way})
    return NoticeKind(str(row["kind"])) if row else None


def put(tx: Tx, new: Notice) -> bool:
    """Store a notice; False if it was sent over this way before, or is about to be."""
    telling = new.telling
    named = {"kind": telling.news.value, "task": telling.task_id}
    return tx.run("put_notice", rows.columns(telling) | rows.columns(new) | named) == 1


# Told ---------------------------------------------------------------------------------------------


def due(tx: Tx, now: datetime, limit: int = 500) -> list[Notice]:
    """Return the notices to send now, and unknown ones to look up."""
    found = tx.all("list_due_notices", {"now": rows.ms(now), "limit": limit})
    return [_notice(row) for row in found]


@single
def soonest(tx: Tx) -> datetime | None:
    """Return when there is something to do next."""
    row = tx.one("next_due_notice")
    return rows.moment(row["at"]) if row else None


def weed(tx: Tx, found: Sequence[Notice], now: datetime) -> list[Notice]:
    """Drop what the owner already knows; return the rest."""
    left: list[Notice] = []
    for each in found:
        why = _reason_to_drop(tx, each, now)
        if why is None:
            left.append(each)
        else:
            drop(tx, each, why)
    return left


def is_wanted(tx: Tx, notice: Notice, now: datetime) -> bool:
    """Whether the owner must still be notified."""
    return _reason_to_drop(tx, notice, now) is None


def drop(tx: Tx, notice: Notice, why: str) -> None:
    tx.run("drop_notice", {"id": notice.id, "why": why})


def hold(tx: Tx, found: Sequence[Notice], until: datetime) -> None:
    """Postpone these; they are sent together with whatever waits then."""
    for each in found:
        tx.run("hold_notice", {"id": each.id, "due": rows.ms(until)})


def claim_notices(
    tx: Tx, found: Sequence[Notice], channel: str, body: str, now: datetime, day: date | None = None
) -> bool:
    """Record durably that a message is about to be sent; raises if one of its notices is taken.

    `day` marks a digest: there is one per day, and False says that it was sent.
    """
    if day is not None and not _digest(tx, day):
        return False
    digest = sha256(body.encode()).hex()
    for each in found:
        values: Params = {
            "id": each.id,
            "parcel": found[0].id,
            "channel": channel,
            "body": body,
            "digest": digest,
            "now": rows.ms(now),
        }
        if tx.run("claim_notice", values) != 1:
            raise AlreadyClaimed(each.id)
    return True


class AlreadyClaimed(Exception):
    """Somebody was first."""


def settle_notices(tx: Tx, parcel: str, result: NoticeResult, now: datetime) -> None:
    """Record the result of a message."""
    tx.run("settle_notices", rows.columns(result, parcel=parcel, now=rows.ms(now)))


def release_notices(
    tx: Tx, parcel: str, due: datetime, why: str, *, spends: bool = True, day: date | None = None
) -> None:
    """Release a message that never left; its notices are sent later."""
    values: Params = {"parcel": parcel, "due": rows.ms(due), "why": why, "back": not spends}
    tx.run("release_notices", values)
    if day is not None:
        meta.delete(tx, _DIGESTED)


def doubt_claimed(tx: Tx, now: datetime) -> int:
    """Mark as unknown what a dead process had claimed; return how many."""
    return tx.run("doubt_claimed_notices", {"now": rows.ms(now), "why": CUT})


def doubt_all(tx: Tx) -> None:
    """Mark all pending notices as unknown after a restore: they may have been sent."""
    tx.run("doubt_all_notices", {"why": _RESTORED})


def in_parcel(tx: Tx, parcel: str) -> list[Notice]:
    return [_notice(row) for row in tx.all("list_parcel_notices", {"parcel": parcel})]


def count_sent_since(
    tx: Tx, way: str, news: NoticeKind, since: datetime
) -> tuple[int, datetime | None]:
    """Return how many notices of a kind were sent over a way since a moment, and the last time."""
    asked: Params = {"way": way, "kind": news.value, "since": rows.ms(since)}
    row = rows.found(tx.one("count_paced_notices", asked))
    return rows.number(row["n"]), rows.moment(row["last"])


def report(tx: Tx, incoming: DeliveryReport, now: datetime) -> bool:
    """Store a provider's later report on a notice; False if it is about none.

    A notice that did not arrive is only shown on the dashboard.
    """
    values: Params = {"key": incoming.key, "ref": incoming.said.ref, "channel": incoming.channel}
    row = tx.one("find_notice", values)
    if row is None:
        return False
    state = NoticeState.SENT if incoming.said.arrived else NoticeState.FAILED
    for each in in_parcel(tx, str(row["parcel"])):
        if each.state in (NoticeState.CLAIMED, NoticeState.UNKNOWN) or (
            each.state is NoticeState.SENT and not incoming.said.arrived
        ):
            why = None if incoming.said.arrived else incoming.said.why
            result = NoticeResult(state, why, incoming.said.ref)
            tx.run("report_notice", rows.columns(result, id=each.id, now=rows.ms(now)))
    return True


def replied_to(tx: Tx, channel: str, ref: str) -> TaskId | None:
    """Return the task of the notice that a message replies to."""
    row = tx.one("find_notice", {"channel": channel, "key": None, "ref": ref})
    task = rows.text(row["task_id"]) if row else None
    return TaskId(task) if task else None


def question_in(tx: Tx, channel: str, ref: str) -> tuple[ReviewId | None, bool]:
    """Return the question that a message asks and nothing else, and whether it asks any."""
    row = tx.one("find_notice", {"channel": channel, "key": None, "ref": ref})
    if row is None:
        return None, False
    first = _notice(row)
    together = in_parcel(tx, first.parcel or first.id) or [first]
    asked = [each.telling.href.removeprefix("/inbox/") for each in together if each.telling.asks]
    return ReviewId(asked[0]) if asked and len(together) == 1 else None, bool(asked)


def receipts(tx: Tx, way: str, review: Review) -> tuple[str, ...]:
    """Return the provider's ids of the messages that ask one question alone, on a channel."""
    opened = review.opened_at or _LONG_AGO
    since = rows.ms(opened - timedelta(days=1))  # the clock may have been set back since
    asked: Params = {"way": way, "since": since, "href": f"/inbox/{review.id}"}
    found = tx.all("list_notice_receipts", asked)
    return tuple(str(row["receipt"]) for row in found)


# The digest ---------------------------------------------------------------------------------------


def last_digest_day(tx: Tx, today: date) -> date | None:
    """Return the day of the last digest.

    A day far ahead came from a wrong clock and is ignored, so that it does not suppress later
    digests.
    """
    stored = meta.get(tx, _DIGESTED)
    last = date.fromisoformat(stored) if stored else None
    return None if last is None or last - today > timedelta(days=7) else last


def say_digest(
    tx: Tx,
    place: Conversation,
    turn: NewTurnRecord,
    found: Sequence[Notice],
    day: date,
    now: datetime,
) -> bool:
    """Post a digest in a conversation, once per day; posting and recording are one write."""
    if not _digest(tx, day):
        return False
    place = conversations.find_by_title(tx, place.title) or place
    conversations.tell(tx, [(place, turn)], 0, now)
    claim_notices(tx, found, CONVERSATION, turn.content, now)
    settle_notices(tx, found[0].id, NoticeResult(NoticeState.SENT), now)
    return True


def _digest(tx: Tx, day: date) -> bool:
    last = last_digest_day(tx, day)
    if last is not None and last >= day:
        return False
    meta.put(tx, _DIGESTED, day.isoformat())
    return True


# Looked at ----------------------------------------------------------------------------------------


def get(tx: Tx, ident: str) -> Notice | None:
    row = tx.one("get_notice", {"id": ident})
    return _notice(row) if row else None


def recent(tx: Tx, before: int | None = None, limit: int = 50) -> list[tuple[int, Notice]]:
    """Return the newest notices, each with its number."""
    asked: Params = {"before": before or 2**62, "limit": limit}
    return [(rows.number(row["no"]), _notice(row)) for row in tx.all("list_notices", asked)]


def prune(tx: Tx, before: datetime) -> int:
    """Delete notices from before a moment."""
    return tx.run("prune_notices", {"before": rows.ms(before)})


# What the owner knows -----------------------------------------------------------------------------


def _reason_to_drop(tx: Tx, each: Notice, now: datetime) -> str | None:
    """Return why a notice is no longer needed; None if it is."""
    telling = each.telling
    task = tasks.get(tx, telling.task_id) if telling.task_id else None
    if task is not None and task.deleted_at is not None:
        return "Its task was deleted."
    match telling.news:
        case NoticeKind.QUESTION:
            return _reason_if_decided(tx, each, now)
        case NoticeKind.DONE | NoticeKind.FAILED | NoticeKind.LOST:
            seen = task.seen_at if task else None
            return "You have seen it." if seen and seen >= each.made else None
        case NoticeKind.REFUSED:
            return _reason_if_mended(tx, each)
        case NoticeKind.MISSED | NoticeKind.TEST:
            return None


def _reason_if_decided(tx: Tx, each: Notice, now: datetime) -> str | None:
    event = _event(tx, each)
    if event is None:
        return None
    review = reviews.get(tx, ReviewId(str(event.data["review"])))
    if review.decision is not None:
        return "You have decided it."
    put_off = review.later_until is not None and review.later_until > now
    return "You have put it off." if put_off else None


def _reason_if_mended(tx: Tx, each: Notice) -> str | None:
    event = _event(tx, each)
    data = event.data if event else {}
    held = calendars.get(tx, *(str(data.get(name, "")) for name in ("account", "calendar", "path")))
    if held is None or held.why is None or held.etag != data.get("etag"):
        return "It was fixed, or is gone."
    return "You have seen it." if held.seen else None


def _event(tx: Tx, each: Notice) -> Event | None:
    seq = each.telling.seq
    found = events.list_after(tx, seq - 1, 1) if seq is not None else []
    return found[0] if found else None


def _notice(row: Row) -> Notice:
    telling = rows.value(NoticeContent, row, news=rows.word(NoticeKind, row["kind"]))
    return rows.value(Notice, row, telling=telling, over=row["channel"])
