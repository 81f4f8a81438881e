"""Conversations and turns as JSON, and their schemas."""

from collections.abc import Sequence
from typing import Final

from remit.model.codec import Json, JsonMap, stamp
from remit.model.conversation import Action, Conversation, Role, TaskRef, Turn
from remit.model.task_file import ATTACHMENTS
from remit.operations.texts import object_schema

_REF: Final = "#/components/schemas/"
_TEXT: Final[JsonMap] = {"type": "string"}
_TIME: Final[JsonMap] = {"type": "string", "format": "date-time"}
_COUNT: Final[JsonMap] = {"type": "integer"}
_MAYBE_COUNT: Final[JsonMap] = {"type": ["integer", "null"]}
_MAYBE_TEXT: Final[JsonMap] = {"type": ["string", "null"]}


def conversation(talk: Conversation) -> JsonMap:
    return {
        "id": talk.id,
        "title": talk.title,
        "channel": talk.channel,
        "createdAt": stamp(talk.created_at),
        "updatedAt": stamp(talk.updated_at),
    }


def turn(record: Turn) -> JsonMap:
    """Return a turn in S3's transcript form; `taskRef` is the first of `taskRefs`."""
    refs: list[Json] = [_ref(ref) for ref in record.task_refs]
    return {
        "conversationId": record.conversation_id,
        "turnNumber": record.n,
        "role": record.role.value,
        "content": record.content,
        "timestamp": stamp(record.said_at),
        "channel": record.channel,
        "taskRef": refs[0] if refs else None,
        "taskRefs": refs,
        "answers": record.answers,
        "owed": record.owed,
        "receipt": record.receipt or None,
        "notes": list[Json](record.notes),
        "attachments": record.context.get(ATTACHMENTS, []),
    }


def with_turns(talk: Conversation, turns: Sequence[Turn], before: int | None) -> JsonMap:
    shown: list[Json] = [turn(each) for each in turns]
    return {**conversation(talk), "turns": shown, "before": before}


def _ref(ref: TaskRef) -> Json:
    return {"taskId": ref.task_id, "action": ref.action.value}


def _list(name: str) -> JsonMap:
    return {"type": "array", "items": {"$ref": _REF + name}}


def _maybe(name: str) -> JsonMap:
    return {"anyOf": [{"$ref": _REF + name}, {"type": "null"}]}


_TALK: Final[dict[str, Json]] = {
    "id": _TEXT,
    "title": _TEXT,
    "channel": _TEXT,
    "createdAt": _TIME,
    "updatedAt": _TIME,
}
SCHEMAS: Final[dict[str, JsonMap]] = {
    "Conversations": object_schema(conversations=_list("Conversation"), next=_MAYBE_TEXT),
    "Conversation": object_schema(**_TALK),
    "ConversationDetail": object_schema(**_TALK, turns=_list("Turn"), before=_MAYBE_COUNT),
    "TaskRef": object_schema(taskId=_TEXT, action={"enum": list[Json](Action)}),
    "Turn": object_schema(
        conversationId=_TEXT,
        turnNumber=_COUNT,
        role={"enum": list[Json](Role)},
        content=_TEXT,
        timestamp=_TIME,
        channel=_TEXT,
        taskRef=_maybe("TaskRef"),
        taskRefs=_list("TaskRef"),
        answers=_MAYBE_COUNT,
        owed={"type": "boolean"},
        receipt={"anyOf": [{"$ref": _REF + "Heard"}, {"type": "null"}]},
        notes={"type": "array", "items": _TEXT},
        attachments=_list("KeptFile"),
    ),
    "Spoken": object_schema(turn={"$ref": _REF + "Turn"}, answer=_maybe("Turn")),
}
