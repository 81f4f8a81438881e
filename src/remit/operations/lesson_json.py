"""Changes of rules, rules of priority and similar tasks as JSON."""

from typing import Final

from remit.model.codec import Json, JsonMap, stamp
from remit.model.likeness import FileVersion, LessonFile, SimilarTask, standing
from remit.model.view import JsonView, show
from remit.operations.texts import object_schema
from remit.plan.priority import PriorityRules


def changed(each: FileVersion) -> JsonMap:
    return {
        "change": each.no,
        "file": each.file.value,
        "why": each.why,
        "by": each.by,
        "at": stamp(each.made_at),
        "taskId": each.task_id,
        "reverts": each.reverts,
        "was": each.was,
        "digest": each.digest,
    }


def history(found: tuple[FileVersion, ...]) -> JsonMap:
    """Return all changes, newest first; `holds` are those not reverted."""
    listed = [changed(each) for each in reversed(found)]
    return {"changes": [*listed], "holds": [each.no for each in standing(found)]}


def alike(found: list[SimilarTask], view: JsonView) -> list[Json]:
    """Return similar tasks as JSON, with what they share."""
    return [
        {
            "task": show(each.task, view),
            "by": each.by.value,
            "score": round(max(0.0, min(1.0, each.score)), 3),
        }
        for each in found
    ]


_TEXT: Final[JsonMap] = {"type": "string"}
_CHANGE: Final[dict[str, Json]] = {
    "change": {"type": "integer"},
    "file": {"enum": list[Json](LessonFile)},
    "why": _TEXT,
    "by": _TEXT,
    "at": {"type": "string", "format": "date-time"},
    "taskId": {"type": ["string", "null"]},
    "reverts": {"type": ["integer", "null"]},
    "was": _TEXT,
    "digest": _TEXT,
}


SCHEMAS: Final[dict[str, JsonMap]] = {
    "RuleChange": object_schema(**_CHANGE),
    "RuleChanges": object_schema(
        changes={"type": "array", "items": object_schema(**_CHANGE)},
        holds={"type": "array", "items": {"type": "integer"}},
    ),
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
