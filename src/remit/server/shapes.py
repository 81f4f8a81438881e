"""Runs and events as JSON, and the schemas of all answers, which `answers.toml` lists."""

import json
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Final, TypeAlias, cast

from remit.intake.extraction import QuestionTopic
from remit.language.files import read_toml
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap, pick_fields
from remit.model.conversation import Action, NoticeKind, NoticeState, Role
from remit.model.likeness import LessonFile, SimilarityKind
from remit.model.recurrence import OnMissed, Overlap, SlotFate
from remit.model.reply import Policy, Usage
from remit.model.review import InboxGroup, ReviewAnswer
from remit.model.rrule import ClockChange
from remit.model.run import Event, EventKind, Run
from remit.model.status import Actor, Reason, Status
from remit.model.task import Priority
from remit.model.veto import ConditionKind, VetoKind
from remit.operations.texts import object_schema
from remit.server.problem import URN
from remit.store.cues import CueFate

REFERENCE: Final = "#/components/schemas/"
_VIEWED: Final = frozenset({"Task", "TaskDetail", "DebugDetail"})
_ENUMS: Final[Mapping[str, type[StrEnum]]] = {
    kind.__name__: kind
    for kind in (
        *(Action, Actor, ClockChange, ConditionKind, CueFate, EventKind, InboxGroup, LessonFile),
        *(NoticeKind, NoticeState, OnMissed, Overlap, Policy, Priority, QuestionTopic, Reason),
        *(ReviewAnswer, Role, Scope, SimilarityKind, SlotFate, Status, VetoKind),
    )
}
_PLAIN: Final[Mapping[str, JsonMap]] = {
    "text": {"type": "string"},
    "count": {"type": "integer"},
    "flag": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "number": {"type": "number"},
    "object": {"type": "object"},
    "place": {"type": "integer", "minimum": 0},
}
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
    return pick_fields(run, "id startedAt endedAt outcome note")


def event(event: Event) -> JsonMap:
    head = {
        **pick_fields(event, "seq taskId"),
        "turnNumber": event.n,
        **pick_fields(event, "kind actor at"),
    }
    return {**head, "data": event.data, "hash": event.hash}


def schemas() -> dict[str, JsonMap]:
    """Return the schema of every answer, by name."""
    state = _published_schema("builder-state", "BuilderState")
    found = _tasks() | _special() | _parts(state, "BuilderState") | {"BuilderState": state}
    found |= {name: _object(each) for name, each in _answers().items() if name[0].isupper()}
    return {name: _map(in_views(each)) for name, each in found.items()}


# The notation of answers.toml ---------------------------------------------------------------------


@cache
def _answers() -> Mapping[str, JsonMap]:
    return cast("Mapping[str, JsonMap]", read_toml("answers", __package__))


def _object(fields: JsonMap) -> JsonMap:
    """Return the schema of an object; a field that ends in ? may be missing."""
    marked = _fields(fields)
    schema = object_schema(**{name.removesuffix("?"): each for name, each in marked.items()})
    return schema | {"required": [name for name in marked if not name.endswith("?")]}


def _fields(fields: JsonMap) -> Properties:
    found: Properties = {}
    for names, notation in fields.items():
        if names == "...":
            found |= _fields(_answers()[str(notation)])
        else:
            found |= dict.fromkeys(names.split(), _schema(notation))
    return found


def _schema(notation: Json) -> Json:
    if isinstance(notation, dict):
        return _object(notation)
    if isinstance(notation, list):
        return {"type": "array", "items": _schema(notation[0])}
    text = str(notation)
    for opens, make in _FORMS.items():
        if text.startswith(opens):
            return make(text)
    return _or_null(text[:-1]) if text.endswith("?") else _schema_of_name(text)


_FORMS: Final[Mapping[str, Callable[[str], JsonMap]]] = {
    "[": lambda text: {"type": "array", "items": _schema(text[1:-1])},
    "{": lambda text: {"type": "object", "additionalProperties": _schema(text[1:-1])},
    "= ": lambda text: {"const": int(text[2:]) if text[2:].isdecimal() else text[2:]},
}


def _schema_of_name(text: str) -> JsonMap:
    if text in _PLAIN:
        return _PLAIN[text]
    if text in _ENUMS:
        return {"enum": list[Json](_ENUMS[text])}
    if "|" in text:
        return {"enum": list[Json](text.split("|"))}
    return {"$ref": REFERENCE + text} if text[0].isupper() else _object(_answers()[text])


def _or_null(text: str) -> JsonMap:
    if text in _PLAIN:
        return _PLAIN[text] | {"type": [_PLAIN[text]["type"], "null"]}
    if text in _ENUMS:
        return {"enum": [*_ENUMS[text], None]}
    return {"anyOf": [_schema_of_name(text), {"type": "null"}]}


def _special() -> dict[str, JsonMap]:
    """Return the schemas that the notation has no words for."""
    failing = "Loops that failed and have not run well since: failures in a row."
    health = _fields({"status": "ok|degraded", "version": "text", "failing": "{count}"})
    health["failing"] = {"description": failing, **_map(health["failing"])}
    tasks = "As `view` has them; with `dryRun` as S0 has them, without an id."
    message = _fields({"tasks": "[Task]", "...": "heard"})
    either: list[Json] = [_schema_of_name("Task"), {"type": "object"}]
    message["tasks"] = {"description": tasks, "type": "array", "items": {"anyOf": either}}
    record = _fields(_answers()["log_record"])
    return {
        "Challenge": _PLAIN["text"],
        "Greeting": _PLAIN["text"],
        "FileContent": {"type": "string", "format": "binary"},
        "OpenApi": _PLAIN["object"],
        "Health": object_schema(**health),
        "Heard": object_schema(**message),
        "LogRecord": {
            "description": "A line of a task's log, in S3's transcript form.",
            "type": "object",
            "required": list[Json](record),
            "properties": record,
        },
        "Problem": _problem(),
    }


def _problem() -> JsonMap:
    schema = _object(_answers()["problem"])
    kind: JsonMap = {"type": "string", "pattern": f"^{URN}[a-z-]+$"}
    required, properties = cast("list[Json]", schema["required"]), _map(schema["properties"])
    return {
        "description": "What went wrong (RFC 9457); `detail` is a sentence for a person.",
        **schema,
        "required": ["type", *required],
        "properties": {"type": kind, **properties},
    }


# Views of a task ----------------------------------------------------------------------------------


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
        return {"anyOf": [_schema_of_name(name), _schema_of_name(f"{name}S4")]}
    return {key: in_views(each) for key, each in schema.items()}


def _tasks() -> dict[str, JsonMap]:
    """Return the published schemas of a task, alone and with its log: S3's and S4's."""
    found: dict[str, JsonMap] = {}
    detail = _fields(_answers()["detail"])
    for view, ending in (("s3", ""), ("s4", "S4")):
        whole = _published_schema(f"task.{view}", f"Task{ending}")
        found |= _parts(whole, f"Task{ending}")
        found[f"Task{ending}"] = whole
        found[f"TaskDetail{ending}"] = _with_properties(whole, detail)
        found[f"DebugDetail{ending}"] = _with_properties(
            whole, detail | {"internal": {"type": "object"}}
        )
    return found


@cache
def _text_of(file: str) -> str:
    return files("remit.model").joinpath("schema", f"{file}.json").read_text(encoding="utf-8")


def _published_schema(file: str, name: str) -> JsonMap:
    text = _text_of(file)
    parts = re.sub(r"#/\$defs/(\w)", lambda found: REFERENCE + name + found[1].upper(), text)
    # Inside the API's document a schema has the API's address and name.
    own = ("$id", "$schema", "title")
    return {key: value for key, value in _map(json.loads(parts)).items() if key not in own}


def _parts(schema: JsonMap, name: str) -> dict[str, JsonMap]:
    """Move the parts out of a published schema, under their names in the API."""
    parts = _map(schema.pop("$defs"))
    return {name + part[0].upper() + part[1:]: _map(each) for part, each in parts.items()}


def _with_properties(schema: JsonMap, more: Properties) -> JsonMap:
    properties, required = schema["properties"], schema["required"]
    assert isinstance(properties, dict)  # noqa: S101 - a schema of ours
    assert isinstance(required, list)  # noqa: S101 - a schema of ours
    return schema | {"properties": properties | more, "required": [*required, *more]}


def _map(value: Json) -> JsonMap:
    assert isinstance(value, dict)  # noqa: S101 - a schema of ours
    return value
