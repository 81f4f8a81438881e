"""What ended tasks taught, and what was changed by that."""

from typing import Final

from remit.operations.lesson_json import history
from remit.server.call import Call, CallResult, Route


async def list_lessons(call: Call) -> CallResult:
    return CallResult(history(await call.house.reflection.history()))


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/lessons",
        does=list_lessons,
        says="Every accepted change of the rules and guidelines, the newest first",
        gives="RuleChanges",
    ),
)
