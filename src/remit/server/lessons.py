"""What ended tasks taught, and what was changed by that."""

from typing import Final

from remit.operations.lesson_json import history
from remit.server.call import Call, CallResult, read


async def list_lessons(call: Call) -> CallResult:
    return CallResult(history(await call.house.reflection.history()))


ROUTES: Final = (
    read(
        "/api/lessons",
        list_lessons,
        "Every accepted change of the rules and guidelines, the newest first",
        "RuleChanges",
    ),
)
