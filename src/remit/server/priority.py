"""Routes for priority rules (those in force, errors in the file) and for lessons."""

from typing import Final

from remit.operations.shapes import lesson_history, priority_rules_to_json
from remit.server.call import Call, CallResult, read


async def list_lessons(call: Call) -> CallResult:
    return CallResult(lesson_history(await call.house.reflection.history()))


LESSONS_ROUTES: Final = (
    read(
        "/api/lessons",
        list_lessons,
        "Every accepted change of the rules and guidelines, the newest first",
        "RuleChanges",
    ),
)


async def list_priority_rules(call: Call) -> CallResult:
    """Return the rules in force; while the file is wrong, they differ from it."""
    found = call.house.priority
    return CallResult(priority_rules_to_json(found(), found.complaint))


ROUTES: Final = (
    read(
        "/api/priority-rules",
        list_priority_rules,
        "The rules that rank tasks, in their order, and what is wrong with their file",
        "PriorityRules",
    ),
    *LESSONS_ROUTES,
)
