"""An event as a line of a task's log, in S3's transcript form."""

from typing import Final

from remit.model.codec import JsonMap, stamp, text_of
from remit.model.event import Event, Kind
from remit.model.status import Actor

_SPEAKS: Final = {
    Actor.OWNER: "user",
    Actor.EXECUTOR: "assistant",
}


def line(event: Event) -> str:
    """One line of JSON; a newline in a text cannot break it."""
    return text_of(record(event)) + "\n"


def record(event: Event) -> JsonMap:
    common: JsonMap = {
        "seq": event.seq,
        "turnNumber": event.n,
        "timestamp": stamp(event.at),
        "actor": event.actor.value,
    }
    if event.kind is Kind.TASK_LOGGED:
        role = _SPEAKS.get(event.actor, "system")
        return common | {"type": "turn", "role": role, "content": event.data.get("text", "")}
    if event.kind is Kind.TASK_CREATED:
        return common | {"type": "meta", "taskId": event.task_id, **event.data}
    return common | {"type": "event", "event": event.kind.value, "data": event.data}
