"""Conversations: start, continue, delete; each turn is a row and an event in one write.

The journal records that something was said, not the words: what a person deletes must disappear,
and the journal is kept for ever.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from remit.errors import NotFound
from remit.model.codec import Json, JsonMap, stored_text, to_json
from remit.model.conversation import Action, Conversation, Role, TaskRef, Turn
from remit.model.ids import ConversationId, TaskId
from remit.model.review import Review
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor, Status
from remit.model.task import Task
from remit.store import events, meta, rows, tasks
from remit.store.database import Params, Row, Tx, single

MOST_TASKS: Final = 50  # tasks of a conversation that are loaded
_ACTORS: Final = {Role.USER: Actor.OWNER, Role.ASSISTANT: Actor.EXECUTOR, Role.SYSTEM: Actor.ENGINE}


class NewTurnRecord(Struct, frozen=True, kw_only=True):
    """A turn to add. The same `key` twice is one turn."""

    role: Role
    content: str
    channel: str = "dashboard"
    key: str | None = None
    task_refs: tuple[TaskRef, ...] = ()
    about: TaskId | None = None
    receipt: JsonMap = field(default_factory=dict)
    asks: JsonMap = field(default_factory=dict)
    context: JsonMap = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def begin(tx: Tx, conversation: Conversation) -> Conversation:
    """Store a conversation; an existing one is returned."""
    tx.run("begin_conversation", _begun(conversation))
    return get(tx, conversation.id)


def get(tx: Tx, ident: ConversationId) -> Conversation:
    row = tx.one("get_conversation", {"id": ident})
    if row is None:
        raise NotFound("conversation", ident)
    return rows.value(Conversation, row)


def recent(tx: Tx, before: ConversationId | None = None, limit: int = 50) -> list[Conversation]:
    """Return the most recent conversations; `before` is the last one of the previous page."""
    last = get(tx, before) if before else None
    at, ident = (rows.ms(last.updated_at), last.id) if last else (_EVER, "")
    found = tx.all("list_conversations", {"at": at, "id": ident, "limit": limit})
    return [rows.value(Conversation, row) for row in found]


def rename(tx: Tx, ident: ConversationId, title: str) -> Conversation:
    if not tx.run("rename_conversation", {"id": ident, "title": title}):
        raise NotFound("conversation", ident)
    return get(tx, ident)


def remove(tx: Tx, ident: ConversationId, now: datetime) -> None:
    """Delete a conversation: no list shows it, and news about its tasks goes elsewhere."""
    if not tx.run("delete_conversation", {"id": ident, "now": rows.ms(now)}):
        raise NotFound("conversation", ident)


# Turns --------------------------------------------------------------------------------------------


def say(
    tx: Tx, ident: ConversationId, record: NewTurnRecord, now: datetime, *, owed: bool = False
) -> Turn:
    """Add a turn with its event; under a key that was used before, return that turn."""
    before = tx.one("get_turn_by_key", {"key": record.key}) if record.key else None
    if before is not None:
        return _with_refs(tx, [before])[0]
    return _add(tx, ident, record, now, owed=owed)


def answer(tx: Tx, turn: Turn, record: NewTurnRecord, now: datetime) -> Turn | None:
    """Answer a turn of the owner, once; None if it was answered before."""
    place: Params = {"conversation": turn.conversation_id, "n": turn.n}
    if not tx.run("mark_turn_answered", place):
        return None
    return _add(tx, turn.conversation_id, record, now, answers=turn.n)


def mean(tx: Tx, turn: Turn, intent: JsonMap) -> None:
    """Store the intent of a turn before it is executed; it never changes after that."""
    values: Params = {
        "conversation": turn.conversation_id,
        "n": turn.n,
        "meant": stored_text(intent),
    }
    tx.run("set_turn_meaning", values)


@single
def list_unanswered(tx: Tx) -> list[Turn]:
    """Return every turn without an answer, oldest first."""
    return [_turn(row) for row in tx.all("list_unanswered_turns")]


def turn(tx: Tx, ident: ConversationId, n: int) -> Turn:
    row = tx.one("get_turn", {"conversation": ident, "n": n})
    if row is None:
        raise NotFound("turn", f"{n} in conversation {ident}")
    return _with_refs(tx, [row])[0]


def turns(tx: Tx, ident: ConversationId, before: int = 0, limit: int = 50) -> list[Turn]:
    """Return the newest turns before a place, in order; 0: from the end."""
    get(tx, ident)
    found = tx.all("list_turns", {"conversation": ident, "before": before, "limit": limit})
    return _with_refs(tx, found[::-1])


def _add(
    tx: Tx,
    ident: ConversationId,
    record: NewTurnRecord,
    now: datetime,
    *,
    owed: bool = False,
    answers: int | None = None,
) -> Turn:
    row = tx.one("touch_conversation", {"id": ident, "now": rows.ms(now)})
    if row is None:
        raise NotFound("conversation", ident)
    n, first = rows.number(row["n"]), record.task_refs[0] if record.task_refs else None
    tx.run(
        "append_turn",
        {
            **rows.columns(record),
            "conversation": ident,
            "n": n,
            "now": rows.ms(now),
            "task": first.task_id if first else None,
            "action": first.action.value if first else None,
            "answers": answers,
            "owed": owed,
            "details": _details(record),
        },
    )
    for ref in record.task_refs[1:]:
        values: Params = {
            "conversation": ident,
            "n": n,
            "task": ref.task_id,
            "action": ref.action.value,
        }
        tx.run("insert_mention", values)
    events.append(tx, None, 0, _event(ident, n, record), now)
    return turn(tx, ident, n)


def _event(ident: ConversationId, n: int, record: NewTurnRecord) -> NewEvent:
    about: list[Json] = [ref.task_id for ref in record.task_refs]
    data: JsonMap = {"conversation": ident, "turn": n, "role": record.role.value, "tasks": about}
    return NewEvent(EventKind.TURN_SAID, _ACTORS[record.role], data)


def _details(record: NewTurnRecord) -> str:
    kept: JsonMap = {
        "about": record.about,
        "receipt": record.receipt,
        "asks": record.asks,
        "context": record.context,
        "notes": to_json(record.notes),
    }
    return stored_text({name: value for name, value in kept.items() if value})


# What a conversation is about ---------------------------------------------------------------------


def tasks_in(tx: Tx, ident: ConversationId, limit: int = MOST_TASKS) -> list[Task]:
    """Return the tasks that were mentioned, the last one first."""
    found = tx.all("list_mentioned", {"conversation": ident, "limit": limit})
    spoken = (tasks.get(tx, TaskId(str(row["task_id"]))) for row in found)
    return [task for task in spoken if task.deleted_at is None]


def asked_in(tx: Tx, ident: ConversationId) -> list[Review]:
    """Return the open questions about them, oldest first."""
    return [
        rows.review(row) for row in tx.all("list_conversation_reviews", {"conversation": ident})
    ]


def birthplace(tx: Tx, task_id: TaskId) -> Conversation | None:
    """Return where a task was first mentioned; None if nowhere, or deleted."""
    row = tx.one("find_first_conversation", {"task": task_id})
    return rows.value(Conversation, row) if row else None


def origin(tx: Tx, task_id: TaskId) -> Conversation | None:
    """Return where a task was created; None if not in a conversation, or that is deleted."""
    row = tx.one("find_first_conversation", {"task": task_id})
    return rows.value(Conversation, row) if row and row["born"] else None


def find_by_title(tx: Tx, title: str) -> Conversation | None:
    """Return the first conversation with that title."""
    row = tx.one("find_conversation_by_title", {"title": title})
    return rows.value(Conversation, row) if row else None


def replied_to(tx: Tx, channel: str, ref: str) -> TaskId | None:
    """Return the task whose message is replied to, by the provider's id of that message."""
    row = tx.one("find_delivery", {"channel": channel, "key": None, "ref": ref})
    return TaskId(str(row["task_id"])) if row else None


def turn_key(tx: Tx, ident: ConversationId, n: int) -> str:
    """Return the key under which a turn was stored; empty if it had none."""
    row = tx.one("get_turn", {"conversation": ident, "n": n})
    return (rows.text(row["key"]) or "") if row else ""


def on_channel(tx: Tx, channel: str) -> Conversation | None:
    """Return the most recent conversation that began on a channel."""
    row = tx.one("find_conversation_by_channel", {"channel": channel})
    return rows.value(Conversation, row) if row else None


def last_of_owner(tx: Tx, since: datetime) -> Turn | None:
    """Return the owner's last turn, if it was after a moment."""
    row = tx.one("last_owner_turn", {"since": rows.ms(since)})
    return _turn(row) if row else None


def ended_between(tx: Tx, since: datetime, until: datetime, limit: int = 50) -> list[Task]:
    """Return the tasks that ended in a time span, latest first."""
    span = {"since": rows.ms(since), "until": rows.ms(until), "limit": limit}
    return tasks.all_with_deliveries(tx, tx.all("list_ended_between", span))


def list_tasks_with_status(tx: Tx, statuses: Iterable[Status], limit: int = 50) -> list[Task]:
    """Return the newest tasks in one of these statuses, newest first."""
    found = [
        row
        for status in statuses
        for row in tx.all("list_tasks_by_status", {"status": status.value, "limit": limit})
    ]
    found.sort(key=lambda row: -rows.number(row["no"]))
    return tasks.all_with_deliveries(tx, found[:limit])


# What became of tasks -----------------------------------------------------------------------------


@single
def told_upto(tx: Tx) -> int:
    """Return the last event whose news was posted."""
    return int(meta.get(tx, _TOLD) or 0)


def tell(
    tx: Tx, news: Sequence[tuple[Conversation, NewTurnRecord]], upto: int, now: datetime
) -> list[Turn]:
    """Post news about tasks in their conversations and store how far, in one write.

    A missing conversation is created; a deleted one gets nothing.
    """
    spoken: list[Turn] = []
    for place, line in news:
        if tx.one("get_turn_by_key", {"key": line.key}) is not None:
            continue
        tx.run("begin_conversation", _begun(place))
        if tx.one("get_conversation", {"id": place.id}) is not None:
            spoken.append(say(tx, place.id, line, now))
    meta.put(tx, _TOLD, str(max(upto, told_upto(tx))))
    return spoken


def is_said(tx: Tx, key: str) -> bool:
    """Whether a turn with this key exists."""
    return tx.one("get_turn_by_key", {"key": key}) is not None


def _begun(place: Conversation) -> dict[str, str | int]:
    now = rows.ms(place.created_at)
    return {"id": place.id, "title": place.title, "channel": place.channel, "now": now}


# Rows to values -----------------------------------------------------------------------------------


def _turn(row: Row) -> Turn:
    kept: JsonMap = json.loads(str(row["details"]))
    parts = {name: tuple(part) if isinstance(part, list) else part for name, part in kept.items()}
    return rows.value(Turn, row, **parts)


def _with_refs(tx: Tx, found: Sequence[Row]) -> list[Turn]:
    """Return turns of one conversation, in order, with the tasks of each."""
    spoken = [_turn(row) for row in found]
    if not spoken:
        return []
    span: Params = {
        "conversation": spoken[0].conversation_id,
        "first": spoken[0].n,
        "last": spoken[-1].n,
    }
    refs: dict[int, list[TaskRef]] = {}
    for row in tx.all("list_mentions", span):
        ref = TaskRef(TaskId(str(row["task_id"])), rows.word(Action, row["action"]))
        refs.setdefault(rows.number(row["n"]), []).append(ref)
    return [replace(each, task_refs=tuple(refs.get(each.n, ()))) for each in spoken]


_TOLD: Final = "told"
_EVER: Final = 2**62
