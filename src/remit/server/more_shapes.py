"""OpenAPI schemas: series, numbers, channels, rules, views, bulk actions, a message's result."""

from typing import Final

from remit.intake.recipients import QuestionTopic
from remit.model.codec import Json, JsonMap
from remit.model.conversation import NoticeKind, NoticeState
from remit.model.likeness import SimilarityKind
from remit.model.reply import Policy
from remit.model.rrule import ClockChange
from remit.model.series import OnMissed, Overlap, SlotFate
from remit.model.status import Status
from remit.model.task import Priority
from remit.model.veto import ConditionKind, VetoKind
from remit.operations.texts import object_schema
from remit.plan.priority import PriorityRules
from remit.store import cues

_REFERENCE: Final = "#/components/schemas/"


def _object(*optional: str, **properties: Json) -> JsonMap:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [name for name in properties if name not in optional],
        "properties": properties,
    }


def _list(schema: JsonMap) -> JsonMap:
    return {"type": "array", "items": schema}


def _ref(name: str) -> JsonMap:
    return {"$ref": _REFERENCE + name}


_TEXT: Final[JsonMap] = {"type": "string"}
_MAYBE_TEXT: Final[JsonMap] = {"type": ["string", "null"]}
_COUNT: Final[JsonMap] = {"type": "integer"}
_MAYBE_COUNT: Final[JsonMap] = {"type": ["integer", "null"]}
_FLAG: Final[JsonMap] = {"type": "boolean"}
_TIME: Final[JsonMap] = {"type": "string", "format": "date-time"}
_MAYBE_TIME: Final[JsonMap] = {"type": ["string", "null"], "format": "date-time"}
_USED: Final[dict[str, Json]] = {"cents": _COUNT, "tokens": _COUNT, "requests": _COUNT}
_SLOT: Final = _object(
    slot=_TIME,
    plannedFor=_MAYBE_TIME,
    local=_TEXT,
    taskId=_MAYBE_TEXT,
    fate={"enum": [*SlotFate, None]},
    why=_MAYBE_TEXT,
    startedAt=_MAYBE_TIME,
    late=_MAYBE_COUNT,
    flags=_list({"enum": list[Json](ClockChange)}),
)
_SKIPPED: Final = _object(
    **{"from": _TIME}, upto=_TIME, slots=_COUNT, why=_TEXT, fate={"enum": list[Json](SlotFate)}
)
_SERIES: Final[dict[str, Json]] = {
    "id": _TEXT,
    "title": _TEXT,
    "sessionId": _TEXT,
    "rule": _TEXT,
    "zone": _TEXT,
    "rhythm": _TEXT,
    "firstAt": _TIME,
    "lastAt": _TIME,
    "pausedAt": _MAYBE_TIME,
    "endedAt": _MAYBE_TIME,
    "why": _MAYBE_TEXT,
    "missed": {"enum": [*OnMissed, None]},
    "overlap": {"enum": [*Overlap, None]},
    "coming": _list(_SLOT),
}
_KEPT_FILE: Final[dict[str, Json]] = {
    "name": _TEXT,
    "type": _TEXT,
    "size": _COUNT,
    "sha256": _TEXT,
    "taint": _TEXT,
}
SCHEMAS: Final[dict[str, JsonMap]] = {
    "KeptFile": _object(**_KEPT_FILE),
    "TaskFiles": _object(files=_list(_object(**_KEPT_FILE, made=_FLAG))),
    "FileContent": {"type": "string", "format": "binary"},
    "Series": _object(**_SERIES, skipped=_list(_SKIPPED), slots=_list(_SLOT)),
    "SeriesPage": _object(
        series=_list(_object(**_SERIES)), events=_list(_ref("Start")), next=_MAYBE_TEXT
    ),
    "Start": _object(
        uid=_TEXT,
        title=_TEXT,
        calendar=_TEXT,
        slot=_TIME,
        local=_TEXT,
        taskId=_MAYBE_TEXT,
        repeats=_FLAG,
    ),
    "Stats": _object(
        needs=_ref("Needs"),
        counts={"type": "object", "additionalProperties": _COUNT},
        hours=_list(_object(at=_TIME, completed=_COUNT, failed=_COUNT, cancelled=_COUNT)),
        days=_list(_object(at=_TIME, **_USED)),
        next=_list(_ref("Task")),
        today=_object(**_USED, centsLimit=_MAYBE_COUNT, tokensLimit=_MAYBE_COUNT),
        slots=_object(busy=_COUNT, all=_COUNT),
    ),
    "Channels": _object(channels=_list(_ref("Channel"))),
    "Channel": _object(
        name=_TEXT,
        kind=_TEXT,
        aliases=_list(_TEXT),
        ready=_FLAG,
        why=_MAYBE_TEXT,
        off=_FLAG,
        guarantee=_TEXT,
        lastError=_MAYBE_TEXT,
    ),
    "Refusal": _object(
        account=_TEXT, calendar=_TEXT, uid=_TEXT, title=_TEXT, why=_TEXT, seen=_FLAG
    ),
    "Notices": _object(notices=_list(_ref("Notice")), next=_MAYBE_TEXT),
    "Notice": _object(
        id=_TEXT,
        kind={"enum": list[Json](NoticeKind)},
        way=_TEXT,
        state={"enum": list[Json](NoticeState)},
        title=_TEXT,
        line=_TEXT,
        href=_TEXT,
        taskId=_MAYBE_TEXT,
        seq=_MAYBE_COUNT,
        at=_TIME,
        dueAt=_MAYBE_TIME,
        toldAt=_MAYBE_TIME,
        attempts=_COUNT,
        channel=_MAYBE_TEXT,
        receipt=_MAYBE_TEXT,
        why=_MAYBE_TEXT,
    ),
    "Cue": _object(
        cue=_TEXT, fate={"enum": list[Json](cues.CueFate)}, taskId=_MAYBE_TEXT, why=_TEXT
    ),
    "Push": _object(possible=_FLAG, why=_MAYBE_TEXT, publicKey=_MAYBE_TEXT, on=_FLAG),
    "Rules": _object(rules=_list(_ref("Rule"))),
    "Rule": _object(
        id=_TEXT,
        kind={"const": "permission"},
        contact=_TEXT,
        channel=_TEXT,
        address=_TEXT,
        policy={"enum": list[Json](Policy)},
        givenAt=_MAYBE_TIME,
    ),
    "Views": _object(views=_list(_ref("View"))),
    "View": _object(name=_TEXT, filter=_TEXT, createdAt=_TIME),
    "Found": _object(
        tasks=_list(_ref("Task")),
        more=_FLAG,
        reviews=_list(_ref("Review")),
        series=_list(_object(id=_TEXT, title=_TEXT)),
        alike=_list(_ref("Alike")),
    ),
    "Alike": _object(
        task=_ref("Task"), by={"enum": list[Json](SimilarityKind)}, score={"type": "number"}
    ),
    "Recall": _object(
        on=_FLAG,
        store=_TEXT,
        embedder=_TEXT,
        snippets=_COUNT,
        tasks=_COUNT,
        open=_FLAG,
        trouble=_MAYBE_TEXT,
    ),
    "SeenResults": _object(seen=_COUNT),
    "BulkResult": _object(
        action=_TEXT,
        dryRun=_FLAG,
        more=_FLAG,
        matched=_COUNT,
        done=_COUNT,
        refused=_COUNT,
        first=_list(_object(id=_TEXT, title=_TEXT, state={"enum": list[Json](Status)})),
        results=_list(
            _object(
                "state",
                "why",
                "became",
                id=_TEXT,
                done=_FLAG,
                state={"enum": list[Json](Status)},
                why=_TEXT,
                became=_TEXT,
            )
        ),
    ),
}


_PLACE: Final[JsonMap] = {"type": "integer", "minimum": 0}


def _words(*values: str) -> JsonMap:
    return {"enum": list[Json](values)}


MESSAGE_SCHEMAS: Final[dict[str, JsonMap]] = {
    "Heard": _object(
        tasks={
            "description": "As `view` has them; with `dryRun` as S0 has them, without an id.",
            "type": "array",
            "items": {"anyOf": [{"$ref": f"{_REFERENCE}Task"}, {"type": "object"}]},
        },
        clauses={"type": "array", "items": {"type": "object"}},
        questions=_list(_ref("OpenQuestion")),
        answer=_MAYBE_TEXT,
        alike={"type": "array", "items": _TEXT},
        veto=_list(_ref("VetoCue")),
        conditions=_list(_ref("Condition")),
        reading={"type": "boolean"},
        card={"anyOf": [{"$ref": f"{_REFERENCE}Card"}, {"type": "null"}]},
    ),
    "Condition": _object(
        kind=_words(*ConditionKind),
        words=_TEXT,
        end=_PLACE,
        at=_MAYBE_TIME,
        days={"type": "array", "items": _PLACE},
        zone=_TEXT,
        names={"type": "array", "items": _TEXT},
        pattern=_TEXT,
    ),
    "VetoCue": _object(kind=_words(*VetoKind), words=_TEXT, start=_PLACE, end=_PLACE),
    "OpenQuestion": _object(
        id=_MAYBE_TEXT,
        taskId=_MAYBE_TEXT,
        about=_words(*QuestionTopic),
        question=_TEXT,
        options={"type": "array", "items": _TEXT},
        clause=_TEXT,
        lines=_list(_ref("OpenLine")),
    ),
    "OpenLine": _object(
        number=_PLACE,
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
            "items": _object(id=_TEXT, title=_TEXT, rows=_list(_ref("CardRow"))),
        },
    ),
    "CardRow": _object(kind=_TEXT, label=_TEXT, value=_TEXT),
}


def priority_rules_to_json(found: PriorityRules, complaint: str | None = None) -> JsonMap:
    """Return each rule with its line, the lists, the default, and the file's error if any."""
    rules: list[Json] = [
        {
            "name": rule.name,
            "line": rule.line,
            "when": rule.when.said,
            "priority": rule.priority.value,
            "because": rule.because,
        }
        for rule in found.rules
    ]
    lists: dict[str, Json] = {name: list[Json](each) for name, each in found.lists.items()}
    return {
        "file": found.file or None,
        "complaint": complaint,
        "rules": rules,
        "lists": lists,
        "default": found.default.value,
    }


_LEVEL: Final[JsonMap] = {"enum": list[Json](Priority)}


PRIORITY_SHAPES_SCHEMAS: Final[dict[str, JsonMap]] = {
    "PriorityRules": object_schema(
        file=_MAYBE_TEXT,
        complaint=_MAYBE_TEXT,
        rules={
            "type": "array",
            "items": object_schema(
                name=_TEXT, line={"type": "integer"}, when=_TEXT, priority=_LEVEL, because=_TEXT
            ),
        },
        lists={"type": "object", "additionalProperties": {"type": "array", "items": _TEXT}},
        default=_LEVEL,
    )
}
