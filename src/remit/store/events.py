"""Journal rows: appended in the transaction they describe, never changed.

Of what a program does on the owner's behalf they name the program.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

from msgspec import json

from remit.model.codec import stored_text
from remit.model.ids import TaskId
from remit.model.run import GENESIS, Event, EventKind, NewEvent, chain
from remit.model.status import Actor
from remit.store import rows
from remit.store.database import JournalTail, Params, Row, Tx, single

MAX_EVENTS: Final = 1 << 62  # all events of one task


def append(tx: Tx, task_id: TaskId | None, n: int, entry: NewEvent, now: datetime) -> int:
    """Append an event, linked to everything before it; return its place.

    Beside other writers it has none yet: it waits for its seal.
    """
    entry = _with_program(tx, entry)
    at, data = rows.ms(now), stored_text(entry.data)
    if tx.shared:
        tx.ask(_APPEND_UNSEALED, (task_id, n, entry.kind.value, entry.actor.value, at, data))
        return 0
    tail = tx.tail or _find_tail(tx)
    seq = tail.seq + 1
    row = (seq, task_id, n, entry.kind.value, entry.actor.value, at, data)
    digest = chain(tail.hash, row)
    tx.run("append_event", (*row, digest))
    tx.tail = JournalTail(seq, digest)
    # Those who follow get it from memory, as they would read it.
    kind, actor, when = entry.kind, entry.actor, rows.parse_time(at)
    event = Event(seq, task_id, n, kind, actor, when, json.decode(data), digest.hex())
    tx.appended.append(event)
    return seq


def tell_task(tx: Tx, task_id: TaskId, entry: NewEvent, now: datetime) -> None:
    """Append an event to the log of a task, whoever works on it."""
    row = rows.found(tx.one("record_task_event", {"id": task_id, "now": rows.ms(now)}))
    append(tx, task_id, rows.number(row["events"]), entry, now)


def note_loop_failure(tx: Tx, loop: str, error: str, now: datetime) -> None:
    """Journal that a background loop failed and was restarted."""
    entry = NewEvent(EventKind.LOOP_FAILED, Actor.ENGINE, {"loop": loop, "why": error})
    append(tx, None, 0, entry, now)


def list_after(tx: Tx, seq: int, limit: int) -> list[Event]:
    return [rows.event(row) for row in tx.all("list_events", {"seq": seq, "limit": limit})]


def of_task(tx: Tx, task_id: TaskId, n: int = 0, limit: int = MAX_EVENTS) -> list[Event]:
    found = tx.all("list_task_events", {"task": task_id, "n": n, "limit": limit})
    return [rows.event(row) for row in found]


def last_of_task(tx: Tx, task_id: TaskId, limit: int, before: int = 0) -> list[Event]:
    """Return the newest events of a task, in order; before a place, if one is given."""
    found = tx.all("list_last_task_events", {"task": task_id, "limit": limit, "before": before})
    return [rows.event(row) for row in reversed(found)]


@single
def last(tx: Tx) -> int:
    return (tx.tail or _find_tail(tx)).seq


def broken_links(tx: Tx, since: int = 0) -> Iterator[str]:
    """Walk the chain and yield a sentence for each broken link."""
    seq, digest = since, _hash_at(tx, since)
    while page := tx.all("list_events", {"seq": seq, "limit": 1000}):
        for row in page:
            if row["seq"] != seq + 1:
                yield f"Event {seq + 1} is missing."
            seq = rows.number(row["seq"])
            digest = chain(digest, tuple(row[name] for name in _HASHED))
            if digest != row["hash"]:
                yield f"Event {seq} does not match its hash: it, or one before it, was changed."
                return


def _hash_at(tx: Tx, seq: int) -> bytes:
    found = tx.all("list_events", {"seq": seq - 1, "limit": 1}) if seq else []
    return found[0]["hash"] if found else GENESIS  # type: ignore[return-value]


def _find_tail(tx: Tx) -> JournalTail:
    row = tx.one("last_event")
    if row is None:
        return JournalTail(0, GENESIS)
    digest = row["hash"]
    assert isinstance(digest, bytes)  # noqa: S101 - the column is a BLOB by schema
    return JournalTail(rows.number(row["seq"]), digest)


_APPEND_UNSEALED: Final = (
    "INSERT INTO unsealed (task_id, n, kind, actor, at, data) VALUES (?, ?, ?, ?, ?, ?)"
)
_HASHED = ("seq", "task_id", "n", "kind", "actor", "at", "data")


P = ParamSpec("P")
T = TypeVar("T")

THROUGH: Final = "through"  # key in an event's data


class OnBehalfTx:
    """A transaction for a program that acts with the owner's token."""

    def __init__(self, tx: Tx, name: str) -> None:
        self._tx = tx
        self.name = name

    @property
    def tail(self) -> JournalTail | None:
        return self._tx.tail

    @tail.setter
    def tail(self, tail: JournalTail | None) -> None:
        self._tx.tail = tail

    @property
    def shared(self) -> bool:
        return self._tx.shared

    @property
    def appended(self) -> list[Event]:
        return self._tx.appended

    def one(self, name: str, params: Params = ()) -> Row | None:
        return self._tx.one(name, params)

    def all(self, name: str, params: Params = ()) -> list[Row]:
        return self._tx.all(name, params)

    def run(self, name: str, params: Params = ()) -> int:
        return self._tx.run(name, params)

    def ask(self, sql: str, params: Params = ()) -> list[Row]:
        return self._tx.ask(sql, params)


def on_behalf_of(
    name: str, verb: Callable[Concatenate[Tx, P], T]
) -> Callable[Concatenate[Tx, P], T]:
    """Wrap a verb so that its events name the program that called it."""

    @wraps(verb)
    def order(tx: Tx, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return verb(OnBehalfTx(tx, name), *args, **kwargs)

    return order


def event_text_on_behalf(event: Event, text: str) -> str:
    """Return an event's sentence with the agent instead of "You"."""
    if event.actor is not Actor.AGENT:
        return text
    who = f"The agent {event.data.get(THROUGH)}"
    return f"{who} {text[4:]}" if text.startswith("You ") else f"{text} {who} ordered it."


def _with_program(tx: Tx, entry: NewEvent) -> NewEvent:
    """Return the event with the program as its actor, if the transaction is on behalf."""
    if isinstance(tx, OnBehalfTx) and entry.actor is Actor.OWNER:
        return NewEvent(entry.kind, Actor.AGENT, {**entry.data, THROUGH: tx.name})
    return entry
