"""Events as socket messages: in S3's words, each with its place in the journal.

A task is shown in its current state, not as it was at the event; later events follow anyway.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.errors import NotFound
from remit.journal import follow
from remit.model.codec import JsonMap, stamp
from remit.model.ids import TaskId
from remit.model.run import Event, EventKind
from remit.model.status import Status
from remit.model.task import Task
from remit.model.view import JsonView, s3_status, show
from remit.store import events, inbox, tasks
from remit.store.database import Tx

LONGEST: Final = 16_000  # characters of one text; the task's log has the rest
_COUNTED_TO: Final = 10_000  # badges show no more
_RESULTS: Final = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})
_GROUPS: Final = {
    "pending": (Status.NEW, Status.READY),
    "running": (Status.RUNNING, Status.VERIFYING, Status.DELIVERING),
}


class EventMessages(Struct, frozen=True):
    """All messages of one event; they are sent together."""

    seq: int
    task_id: TaskId | None
    texts: tuple[str, ...]
    size: int  # bytes


def page(tx: Tx, since: int, limit: int) -> list[EventMessages]:
    """Return the events after a place, as messages."""
    return event_messages(tx, events.list_after(tx, since, limit))


def event_messages(tx: Tx, found: Sequence[Event]) -> list[EventMessages]:
    shown: dict[TaskId, Task | None] = {}
    for event in found:
        if event.task_id is not None and event.task_id not in shown:
            shown[event.task_id] = _get(tx, event.task_id)
    return [_news(event, shown.get(event.task_id) if event.task_id else None) for event in found]


def counts(tx: Tx, now: datetime) -> str:
    """Return the number of tasks by status, and of things that wait for the owner."""
    found = tasks.counts(tx, _COUNTED_TO)
    numbers: JsonMap = {status.value: found.get(status.value, 0) for status in Status}
    for name, those in _GROUPS.items():
        numbers[name] = sum(found.get(status.value, 0) for status in those)
    numbers["waiting"] = inbox.needs(tx, now).decisions
    return _text({"type": "counts", "counts": numbers})


def plain(kind: str, seq: int) -> str:
    return _text({"type": kind, "seq": seq})


def _get(tx: Tx, task_id: TaskId) -> Task | None:
    try:
        return tasks.get(tx, task_id)
    except NotFound:
        return None


def _news(event: Event, task: Task | None) -> EventMessages:
    if event.kind is EventKind.TURN_SAID:
        text = _text(_message(event, "conversation:turn", {**event.data}, more=False))
        return EventMessages(event.seq, None, (text,), len(text.encode()))
    if task is None:
        return EventMessages(event.seq, event.task_id, (), 0)
    words = _SAY.get(event.kind, _update_message)(event, task)
    texts = tuple(
        _text(_message(event, kind, body, more=n < len(words)))
        for n, (kind, body) in enumerate(words.items(), 1)
    )
    return EventMessages(event.seq, task.id, texts, sum(len(text.encode()) for text in texts))


def _message(event: Event, kind: str, body: JsonMap, *, more: bool) -> JsonMap:
    head: JsonMap = {
        "type": kind,
        "seq": event.seq,
        "taskId": event.task_id,
        "at": stamp(event.at),
        "event": event.kind.value,
    }
    if more:
        head["more"] = True  # of this event: a client that stops here has not seen all of it
    return head | body


def _update_message(event: Event, task: Task) -> dict[str, JsonMap]:
    content: JsonMap = {"task": show(task, JsonView.S3)}
    return {
        "task:updated": content | {"what": event.data["what"]} if "what" in event.data else content
    }


def _move_message(event: Event, task: Task) -> dict[str, JsonMap]:
    to = Status(str(event.data.get("to", task.status.value)))
    then = replace(task, status=to, deleted_at=None)
    status: JsonMap = {"status": s3_status(then), "state": to.value, "was": event.data.get("was")}
    if to not in _RESULTS:
        return {"task:status": status}
    summary = event.data.get("summary") or event.data.get("note") or task.result_summary
    result: JsonMap = {"status": s3_status(then), "state": to.value, "result": summary}
    result["task"] = show(task, JsonView.S3)
    return {"task:status": status, "task:result": result}


def _log_message(event: Event, task: Task) -> dict[str, JsonMap]:
    turn = follow.record(event)
    content = turn.get("content")
    if isinstance(content, str) and len(content) > LONGEST:
        turn |= {"content": content[:LONGEST], "cut": True}
    # Progress of a run may have ticked a work item.
    found: dict[str, JsonMap] = {"task:log": {"turn": turn}}
    return found | _update_message(event, task)


def _question_message(event: Event, task: Task) -> dict[str, JsonMap]:
    asked: JsonMap = {
        "reason": event.data.get("reason"),
        "question": event.data.get("question"),
        "reviewId": event.data.get("review"),
        "title": task.title,
    }
    return {"task:needs-attention": asked}


def _delivery_message(event: Event, task: Task) -> dict[str, JsonMap]:
    shown = show(task, JsonView.S3)["delivery"]
    parts = shown if isinstance(shown, list) else []
    wanted = event.data.get("delivery")
    mine = [part for part in parts if isinstance(part, dict) and part["id"] == wanted]
    settled: JsonMap = {"answer": event.data.get("answer"), "delivery": mine[0] if mine else None}
    return {"task:delivery_complete": settled}


# How each kind is shown; all others are a changed task.
_SAY: Final[Mapping[EventKind, Callable[[Event, Task], dict[str, JsonMap]]]] = {
    EventKind.TASK_CREATED: lambda _, task: {"task:created": {"task": show(task, JsonView.S3)}},
    EventKind.TASK_MOVED: _move_message,
    EventKind.RUN_SAID: _log_message,
    EventKind.STEP_DONE: _log_message,
    EventKind.REVIEW_OPENED: _question_message,
    EventKind.DELIVERY_SETTLED: _delivery_message,
}


def _text(message: JsonMap) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))
