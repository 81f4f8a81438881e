"""The OpenAPI schemas of a message's result: tasks, clauses, the card."""

from typing import Final

from remit.intake.recipients import QuestionTopic
from remit.model.codec import Json, JsonMap
from remit.model.condition import ConditionKind
from remit.model.veto import VetoKind

_REFERENCE: Final = "#/components/schemas/"
_TEXT: Final[JsonMap] = {"type": "string"}
_MAYBE_TEXT: Final[JsonMap] = {"type": ["string", "null"]}
_MAYBE_TIME: Final[JsonMap] = {"type": ["string", "null"], "format": "date-time"}
_COUNT: Final[JsonMap] = {"type": "integer", "minimum": 0}


def _object(**properties: Json) -> JsonMap:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list[Json](properties),
        "properties": properties,
    }


def _list(name: str) -> JsonMap:
    return {"type": "array", "items": {"$ref": f"{_REFERENCE}{name}"}}


def _words(*values: str) -> JsonMap:
    return {"enum": list[Json](values)}


SCHEMAS: Final[dict[str, JsonMap]] = {
    "Heard": _object(
        tasks={
            "description": "As `view` has them; with `dryRun` as S0 has them, without an id.",
            "type": "array",
            "items": {"anyOf": [{"$ref": f"{_REFERENCE}Task"}, {"type": "object"}]},
        },
        clauses={"type": "array", "items": {"type": "object"}},
        questions=_list("OpenQuestion"),
        answer=_MAYBE_TEXT,
        alike={"type": "array", "items": _TEXT},
        veto=_list("VetoCue"),
        conditions=_list("Condition"),
        reading={"type": "boolean"},
        card={"anyOf": [{"$ref": f"{_REFERENCE}Card"}, {"type": "null"}]},
    ),
    "Condition": _object(
        kind=_words(*ConditionKind),
        words=_TEXT,
        end=_COUNT,
        at=_MAYBE_TIME,
        days={"type": "array", "items": _COUNT},
        zone=_TEXT,
        names={"type": "array", "items": _TEXT},
    ),
    "VetoCue": _object(kind=_words(*VetoKind), words=_TEXT, start=_COUNT, end=_COUNT),
    "OpenQuestion": _object(
        id=_MAYBE_TEXT,
        taskId=_MAYBE_TEXT,
        about=_words(*QuestionTopic),
        question=_TEXT,
        options={"type": "array", "items": _TEXT},
        clause=_TEXT,
        lines=_list("OpenLine"),
    ),
    "OpenLine": _object(
        number=_COUNT,
        taskId=_TEXT,
        about=_words(*QuestionTopic),
        question=_TEXT,
        options={"type": "array", "items": _TEXT},
        clause=_TEXT,
    ),
    "Card": _object(
        language=_TEXT,
        held=_TEXT,
        text=_TEXT,
        tasks={
            "type": "array",
            "items": _object(id=_TEXT, title=_TEXT, rows=_list("CardRow")),
        },
    ),
    "CardRow": _object(kind=_TEXT, label=_TEXT, value=_TEXT),
}
