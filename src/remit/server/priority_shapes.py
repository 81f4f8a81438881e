"""Priority rules as JSON for programs, the terminal and a page, and the schema of that JSON."""

from typing import Final

from remit.model.codec import Json, JsonMap
from remit.model.task import Priority
from remit.plan.priority import PriorityRules


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


_TEXT: Final[JsonMap] = {"type": "string"}
_MAYBE_TEXT: Final[JsonMap] = {"type": ["string", "null"]}
_LEVEL: Final[JsonMap] = {"enum": list[Json](Priority)}


def _object(**properties: Json) -> JsonMap:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list[Json](properties),
        "properties": properties,
    }


SCHEMAS: Final[dict[str, JsonMap]] = {
    "PriorityRules": _object(
        file=_MAYBE_TEXT,
        complaint=_MAYBE_TEXT,
        rules={
            "type": "array",
            "items": _object(
                name=_TEXT, line={"type": "integer"}, when=_TEXT, priority=_LEVEL, because=_TEXT
            ),
        },
        lists={"type": "object", "additionalProperties": {"type": "array", "items": _TEXT}},
        default=_LEVEL,
    )
}
