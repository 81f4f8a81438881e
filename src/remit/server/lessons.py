"""Lesson routes: reflect now, list changes, revert one."""

from typing import Annotated, Final

from pydantic import Field

from remit.model.caller import Scope
from remit.server.bodies import EmptyBody, RequestBody
from remit.server.call import VIEW, Call, CallResult, Route, created
from remit.server.lesson_shapes import changed, history


class Revert(RequestBody):
    """Which change is taken back: the latest that holds, if none is named."""

    change: Annotated[int, Field(ge=1)] | None = None
    force: bool = False


async def look(call: Call) -> CallResult:
    """Create a reflection task now; it asks about what it finds."""
    call.read(EmptyBody)
    return await created(call, await call.house.reflection.now())


async def list_lessons(call: Call) -> CallResult:
    return CallResult(history(await call.house.reflection.history()))


async def revert(call: Call) -> CallResult:
    body = call.read(Revert)
    return CallResult(changed(await call.house.reflection.revert(body.change, force=body.force)))


ROUTES: Final = (
    Route(
        method="POST",
        path="/api/reflections",
        does=look,
        says="Look back on what ended, now; each lesson is a question to you",
        gives="Task",
        status=201,
        query=(VIEW,),
        body=EmptyBody,
        scope=Scope.ADMIN,
    ),
    Route(
        method="GET",
        path="/api/lessons",
        does=list_lessons,
        says="Every accepted change of the rules and guidelines, the newest first",
        gives="RuleChanges",
    ),
    Route(
        method="POST",
        path="/api/lessons/revert",
        does=revert,
        says="Take a change of the rules or guidelines back",
        gives="RuleChange",
        body=Revert,
        scope=Scope.ADMIN,
        reveals=True,
    ),
)
