"""Reviews, runs and events as JSON, and the schemas of all that is answered."""

import json
from datetime import datetime
from importlib.resources import files
from typing import Final, TypeAlias

from remit.intake.recipients import About
from remit.model.codec import Json, JsonMap, stamp
from remit.model.event import Event, Kind
from remit.model.reply import Policy
from remit.model.review import Answered, Decision, Review
from remit.model.run import Run
from remit.model.status import Actor, Reason, Status
from remit.server.problem import URN

REFERENCE: Final = "#/components/schemas/"
Properties: TypeAlias = "dict[str, Json]"


def review(review: Review, title: str) -> JsonMap:
    return {
        "id": review.id,
        "taskId": review.task_id,
        "taskTitle": title,
        "reason": review.reason.value,
        "question": review.question,
        "evidence": review.evidence,
        "about": review.about,
        "digest": review.digest,
        "options": [option.value for option in review.options],
        "resumeTo": review.resume_to.value,
        "openedAt": _at(review.opened_at),
        "decision": _decision(review.decision) if review.decision else None,
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
    """Everything that is answered, by name."""
    return {**_tasks(), **_OTHERS}


def _decision(decision: Decision) -> JsonMap:
    return {
        "answer": decision.answer.value,
        "text": decision.text,
        "by": decision.by,
        "decidedAt": _at(decision.decided_at),
    }


def _at(moment: datetime | None) -> str | None:
    return stamp(moment) if moment else None


# Schemas ------------------------------------------------------------------------------------------


def _tasks() -> dict[str, JsonMap]:
    """The published schemas of a task, alone and with its log."""
    found: dict[str, JsonMap] = {}
    for view in ("s3", "s4"):
        name = f"Task.{view}"
        whole = _published(f"task.{view}", name)
        parts = whole.pop("$defs")
        assert isinstance(parts, dict)  # noqa: S101 - a schema of ours
        found |= {f"{name}.{part}": _map(schema) for part, schema in parts.items()}
        found[name] = whole
        found[f"TaskDetail.{view}"] = _with(whole, _DETAIL)
        found[f"DebugDetail.{view}"] = _with(whole, _DETAIL | {"internal": {"type": "object"}})
    for name in ("Task", "TaskDetail", "DebugDetail"):
        found[name] = {"anyOf": [_ref(f"{name}.s3"), _ref(f"{name}.s4")]}
    return found


def _published(file: str, name: str) -> JsonMap:
    text = files("remit.model").joinpath("schema", f"{file}.json").read_text(encoding="utf-8")
    schema = _map(json.loads(text.replace("#/$defs/", f"{REFERENCE}{name}.")))
    # Inside the description of the API a schema has the API's address, not its own.
    return {key: value for key, value in schema.items() if key not in ("$id", "$schema")}


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


def _object(**properties: Json) -> JsonMap:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list[Json](properties),
        "properties": properties,
    }


def _words(*words: str) -> JsonMap:
    return {"enum": list[Json](words)}


_TEXT: Final[JsonMap] = {"type": "string"}
_MAYBE_TEXT: Final[JsonMap] = {"type": ["string", "null"]}
_COUNT: Final[JsonMap] = {"type": "integer"}
_MAYBE_COUNT: Final[JsonMap] = {"type": ["integer", "null"]}
_TIME: Final[JsonMap] = {"type": "string", "format": "date-time"}
_DETAIL: Final[Properties] = {
    "log": _list("LogRecord"),
    "reviews": _list("Review"),
    "runs": _list("Run"),
}
_OTHERS: Final[dict[str, JsonMap]] = {
    "Challenge": _TEXT,
    "Greeting": _TEXT,
    "Noted": _object(noted={"type": "integer"}),
    "Health": _object(status=_words("ok"), version=_TEXT),
    "TaskPage": _object(schema_version={"const": 1}, tasks=_list("Task"), next=_MAYBE_TEXT),
    "Heard": _object(
        tasks={
            "description": "As `view` has them; with `dryRun` as S0 has them, without an id.",
            "type": "array",
            "items": {"anyOf": [_ref("Task"), {"type": "object"}]},
        },
        clauses={"type": "array", "items": {"type": "object"}},
        questions=_list("OpenQuestion"),
        answer=_MAYBE_TEXT,
    ),
    "OpenQuestion": _object(
        id=_MAYBE_TEXT,
        taskId=_MAYBE_TEXT,
        about=_words(*About),
        question=_TEXT,
        options={"type": "array", "items": _TEXT},
        clause=_TEXT,
    ),
    "Attention": _object(reviews=_list("Review"), tasks=_list("Task")),
    "Log": _object(log=_list("LogRecord"), next=_MAYBE_COUNT),
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
    "Contacts": _object(
        contacts={"type": "array", "items": {"type": "object"}},
        others={"type": "array", "items": {"type": "object"}},
    ),
    "Permission": _object(name=_TEXT, channel=_TEXT, policy=_words(*Policy), holds=_words(*Policy)),
    "Reviews": _object(reviews=_list("Review")),
    "Review": _object(
        id=_TEXT,
        taskId=_TEXT,
        taskTitle=_TEXT,
        reason=_words(*Reason),
        question=_TEXT,
        evidence=_TEXT,
        about=_MAYBE_TEXT,
        digest=_MAYBE_TEXT,
        options={"type": "array", "items": _words(*Answered)},
        resumeTo=_words(*Status),
        openedAt=_TIME,
        decision={"anyOf": [_ref("Decision"), {"type": "null"}]},
    ),
    "Decision": _object(answer=_words(*Answered), text=_MAYBE_TEXT, by=_TEXT, decidedAt=_TIME),
    "Run": _object(
        id=_TEXT,
        startedAt=_TIME,
        endedAt={"type": ["string", "null"], "format": "date-time"},
        outcome=_MAYBE_TEXT,
        note=_MAYBE_TEXT,
    ),
    "Event": _object(
        seq=_COUNT,
        taskId=_MAYBE_TEXT,
        turnNumber=_COUNT,
        kind=_words(*Kind),
        actor=_words(*Actor),
        at=_TIME,
        data={"type": "object"},
        hash=_TEXT,
    ),
    "EventPage": _object(events=_list("Event"), next=_MAYBE_COUNT, last=_COUNT),
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
            "errors": {"type": "array", "items": _object(field=_TEXT, detail=_TEXT)},
        },
    },
}
