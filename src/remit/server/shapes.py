"""Reviews, runs and events as JSON, and the schemas of all answers."""

import json
import re
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Final, TypeAlias

from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap, stamp
from remit.model.reply import Policy, Usage
from remit.model.review import InboxGroup, ReviewAnswer
from remit.model.run import Event, EventKind, Run
from remit.model.status import Actor, Reason, Status
from remit.operations.shapes import LESSON_SCHEMAS, TALK_SCHEMAS
from remit.operations.texts import object_schema
from remit.server import more_shapes
from remit.server.problem import URN

REFERENCE: Final = "#/components/schemas/"
_VIEWED: Final = frozenset({"Task", "TaskDetail", "DebugDetail"})
Properties: TypeAlias = "dict[str, Json]"


def usage(used: Usage) -> JsonMap:
    """Return what a task used, by direction as far as the vendor says."""
    return {
        "tokens": used.tokens,
        "input": used.asked,
        "output": used.answered,
        "cached": used.cached,
        "requests": used.requests,
        "cents": used.cents,
    }


def run(run: Run) -> JsonMap:
    return {
        "id": run.id,
        "startedAt": _at(run.started_at),
        "endedAt": _at(run.ended_at),
        "outcome": run.outcome,
        "note": run.note,
    }


def event(event: Event) -> JsonMap:
    return {
        "seq": event.seq,
        "taskId": event.task_id,
        "turnNumber": event.n,
        "kind": event.kind.value,
        "actor": event.actor.value,
        "at": _at(event.at),
        "data": event.data,
        "hash": event.hash,
    }


def schemas() -> dict[str, JsonMap]:
    """Return the schema of every answer, by name."""
    state = _published("builder-state", "BuilderState")
    more = _parts(state, "BuilderState") | {"BuilderState": state}
    more |= TALK_SCHEMAS | more_shapes.SCHEMAS | more_shapes.PRIORITY_SHAPES_SCHEMAS
    more |= more_shapes.MESSAGE_SCHEMAS
    more |= LESSON_SCHEMAS
    return {name: _map(in_views(each)) for name, each in {**_tasks(), **_OTHERS, **more}.items()}


def _at(moment: datetime | None) -> str | None:
    return stamp(moment) if moment else None


# Schemas ------------------------------------------------------------------------------------------


def in_views(schema: Json) -> Json:
    """Return a schema with both views of a task wherever it names one.

    The choice is inlined, because client generators make nothing of a named one.
    """
    if isinstance(schema, list):
        return [in_views(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix(REFERENCE)
    if name in _VIEWED:
        return {"anyOf": [_ref(name), _ref(f"{name}S4")]}
    return {key: in_views(each) for key, each in schema.items()}


def _tasks() -> dict[str, JsonMap]:
    """Return the published schemas of a task, alone and with its log: S3's and S4's."""
    found: dict[str, JsonMap] = {}
    for view, ending in (("s3", ""), ("s4", "S4")):
        whole = _published(f"task.{view}", f"Task{ending}")
        found |= _parts(whole, f"Task{ending}")
        found[f"Task{ending}"] = whole
        found[f"TaskDetail{ending}"] = _with(whole, _DETAIL)
        found[f"DebugDetail{ending}"] = _with(whole, _DETAIL | {"internal": {"type": "object"}})
    return found


@cache
def _text_of(file: str) -> str:
    return files("remit.model").joinpath("schema", f"{file}.json").read_text(encoding="utf-8")


def _published(file: str, name: str) -> JsonMap:
    text = _text_of(file)
    parts = re.sub(r"#/\$defs/(\w)", lambda found: REFERENCE + name + found[1].upper(), text)
    # Inside the API's document a schema has the API's address and name.
    own = ("$id", "$schema", "title")
    return {key: value for key, value in _map(json.loads(parts)).items() if key not in own}


def _parts(schema: JsonMap, name: str) -> dict[str, JsonMap]:
    """Move the parts out of a published schema, under their names in the API."""
    parts = _map(schema.pop("$defs"))
    return {name + part[0].upper() + part[1:]: _map(each) for part, each in parts.items()}


def _with(schema: JsonMap, more: Properties) -> JsonMap:
    properties, required = schema["properties"], schema["required"]
    assert isinstance(properties, dict)  # noqa: S101 - a schema of ours
    assert isinstance(required, list)  # noqa: S101 - a schema of ours
    return schema | {"properties": properties | more, "required": [*required, *more]}


def _map(value: Json) -> JsonMap:
    assert isinstance(value, dict)  # noqa: S101 - a schema of ours
    return value


def _ref(name: str) -> JsonMap:
    return {"$ref": REFERENCE + name}


def _list(name: str) -> JsonMap:
    return {"type": "array", "items": _ref(name)}


def _maybe(schema: JsonMap) -> JsonMap:
    return {"anyOf": [schema, {"type": "null"}]}


def _words(*words: str) -> JsonMap:
    return {"enum": list[Json](words)}


_TEXT: Final[JsonMap] = {"type": "string"}
_MAYBE_TEXT: Final[JsonMap] = {"type": ["string", "null"]}
_COUNT: Final[JsonMap] = {"type": "integer"}
_MAYBE_COUNT: Final[JsonMap] = {"type": ["integer", "null"]}
_TIME: Final[JsonMap] = {"type": "string", "format": "date-time"}
_MAYBE_TIME: Final[JsonMap] = {"type": ["string", "null"], "format": "date-time"}
_TOKEN: Final[Properties] = {
    "id": _TEXT,
    "name": _TEXT,
    "agent": {"type": "boolean"},
    "scopes": {"type": "array", "items": _words(*Scope)},
    "createdAt": _TIME,
    "usedAt": _MAYBE_TIME,
    "expiresAt": _MAYBE_TIME,
    "revokedAt": _MAYBE_TIME,
}
_DETAIL: Final[Properties] = {
    "log": _list("LogRecord"),
    "reviews": _list("Review"),
    "runs": _list("Run"),
    "usage": _ref("Usage"),
}
_OTHERS: Final[dict[str, JsonMap]] = {
    "Challenge": _TEXT,
    "Greeting": _TEXT,
    "Noted": object_schema(noted={"type": "integer"}),
    "Usage": object_schema(
        tokens=_COUNT, input=_COUNT, output=_COUNT, cached=_COUNT, requests=_COUNT, cents=_COUNT
    ),
    "Health": object_schema(
        status=_words("ok", "degraded"),
        version=_TEXT,
        failing={
            "description": "Loops that failed and have not run well since: failures in a row.",
            "type": "object",
            "additionalProperties": _COUNT,
        },
    ),
    "Background": object_schema(loops=_list("Loop")),
    "Loop": object_schema(name=_TEXT, failures=_COUNT, error=_MAYBE_TEXT, since=_MAYBE_TIME),
    "TaskPage": object_schema(
        schema_version={"const": 1},
        tasks=_list("Task"),
        next=_MAYBE_TEXT,
        asks={"type": "array", "items": _TEXT},
        count=_maybe(_ref("Count")),
    ),
    "Count": object_schema(
        total=_COUNT,
        more={"type": "boolean"},
        byState={"type": "object", "additionalProperties": _COUNT},
        asks=_COUNT,
    ),
    "Attention": object_schema(
        reviews=_list("Review"), tasks=_list("Task"), events=_list("Refusal")
    ),
    "Log": object_schema(log=_list("LogRecord"), next=_MAYBE_COUNT),
    "LogRecord": {
        "description": "A line of a task's log, in S3's transcript form.",
        "type": "object",
        "required": ["seq", "turnNumber", "timestamp", "actor", "type"],
        "properties": {
            "seq": _COUNT,
            "turnNumber": _COUNT,
            "timestamp": _TIME,
            "actor": _words(*Actor),
            "type": _words("meta", "turn", "event"),
        },
    },
    "Contacts": object_schema(
        contacts={"type": "array", "items": {"type": "object"}},
        others={"type": "array", "items": {"type": "object"}},
    ),
    "Permission": object_schema(
        name=_TEXT, channel=_TEXT, policy=_words(*Policy), holds=_words(*Policy)
    ),
    "PairingCode": object_schema(code=_TEXT, link=_TEXT, contact=_MAYBE_TEXT, expiresAt=_TIME),
    "SwitchedOn": object_schema(
        channel=_TEXT, wasOff={"type": "boolean"}, released={"type": "integer"}
    ),
    "Tokens": object_schema(tokens=_list("Token")),
    "Token": object_schema(**_TOKEN),
    "NewSecret": object_schema(**_TOKEN, secret=_TEXT),
    "SignIns": object_schema(signIns=_list("SignIn")),
    "SignIn": object_schema(
        id=_TEXT,
        createdAt=_TIME,
        usedAt=_MAYBE_TIME,
        expiresAt=_TIME,
        here={"type": "boolean"},
    ),
    "Invitation": object_schema(url=_TEXT, expiresAt=_TIME),
    "SettingsSection": object_schema(section=_TEXT, detail=_TEXT),
    "SectionTest": object_schema(section=_TEXT, ok={"type": "boolean"}, detail=_TEXT),
    "PasswordState": object_schema(set={"type": "boolean"}),
    "Reviews": object_schema(reviews=_list("Review"), next=_MAYBE_TEXT, needs=_ref("Needs")),
    "Needs": object_schema(
        total=_COUNT, decide=_COUNT, look=_COUNT, fix=_COUNT, later=_COUNT, decisions=_COUNT
    ),
    "Inbox": object_schema(
        reviews=_list("Review"), look=_list("Task"), fix=_list("Task"), needs=_ref("Needs")
    ),
    "Review": object_schema(
        id=_TEXT,
        taskId=_TEXT,
        taskTitle=_TEXT,
        group=_words(*InboxGroup),
        reason=_words(*Reason),
        rule=object_schema(name=_TEXT, says=_TEXT),
        askedBy=_MAYBE_TEXT,
        question=_TEXT,
        evidence=_TEXT,
        about=_MAYBE_TEXT,
        digest=_MAYBE_TEXT,
        sendsTo=_maybe(object_schema(channel=_TEXT, recipient=_MAYBE_TEXT, address=_MAYBE_TEXT)),
        verified={"type": ["object", "null"]},
        cost=object_schema(cents=_COUNT, tokens=_COUNT),
        options={"type": "array", "items": _words(*ReviewAnswer)},
        undoSeconds=_COUNT,
        resumeTo=_words(*Status),
        openedAt=_TIME,
        laterUntil=_MAYBE_TIME,
        decision=_maybe(_ref("Decision")),
    ),
    "Decision": object_schema(
        answer=_words(*ReviewAnswer), text=_MAYBE_TEXT, by=_TEXT, decidedAt=_TIME
    ),
    "Run": object_schema(
        id=_TEXT,
        startedAt=_TIME,
        endedAt={"type": ["string", "null"], "format": "date-time"},
        outcome=_MAYBE_TEXT,
        note=_MAYBE_TEXT,
    ),
    "Event": object_schema(
        seq=_COUNT,
        taskId=_MAYBE_TEXT,
        turnNumber=_COUNT,
        kind=_words(*EventKind),
        actor=_words(*Actor),
        at=_TIME,
        data={"type": "object"},
        hash=_TEXT,
    ),
    "EventPage": object_schema(events=_list("Event"), next=_MAYBE_COUNT, last=_COUNT),
    "OpenApi": {"type": "object"},
    "Problem": {
        "description": "What went wrong (RFC 9457); `detail` is a sentence for a person.",
        "type": "object",
        "additionalProperties": False,
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string", "pattern": f"^{URN}[a-z-]+$"},
            "title": _TEXT,
            "status": _COUNT,
            "detail": _TEXT,
            "field": _TEXT,
            "allowed": {"type": "array", "items": _words(*Status)},
            "errors": {"type": "array", "items": object_schema(field=_TEXT, detail=_TEXT)},
        },
    },
}
