"""Renders an event as a line of a task's log, in S3's transcript form."""

from typing import Final

from remit.model.codec import JsonMap, line_of, stamp
from remit.model.event import Event, EventKind
from remit.model.status import Actor

_SPEAKS: Final = {
    Actor.OWNER: "user",
    Actor.EXECUTOR: "assistant",
}


def line(event: Event) -> str:
    """Return one line of JSON; no kind of newline in a text can break it."""
    return line_of(record(event))


def record(event: Event) -> JsonMap:
    common: JsonMap = {
        "seq": event.seq,
        "turnNumber": event.n,
        "timestamp": stamp(event.at),
        "actor": event.actor.value,
    }
    if event.kind is EventKind.TASK_CREATED:
        return common | {"type": "meta", "taskId": event.task_id, **event.data}
    told: JsonMap = {"event": event.kind.value, "data": event.data}
    if "text" not in event.data:
        return common | {"type": "event"} | told
    # A person or the brain spoke: in a reply, or in a decision.
    rest = {name: part for name, part in event.data.items() if name != "text"}
    role = _SPEAKS.get(event.actor, "system")
    return (
        common
        | {"type": "turn", "role": role, "content": event.data["text"]}
        | told
        | {"data": rest}
    )
