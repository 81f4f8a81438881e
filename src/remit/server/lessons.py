"""What ended tasks taught: look now, what was changed, and taking a change back."""

from typing import Annotated, Final

from pydantic import Field

from remit.model.caller import Scope
from remit.server.bodies import Body, Nothing
from remit.server.call import VIEW, Answer, Call, Route, created
from remit.server.lesson_shapes import changed, history


class Revert(Body):
    """Which change is taken back: the latest that holds, if none is named."""

    change: Annotated[int, Field(ge=1)] | None = None
    force: bool = False


async def look(call: Call) -> Answer:
    """Make a task that looks back now; what it finds, it asks."""
    call.read(Nothing)
    return await created(call, await call.house.reflection.now())


async def every(call: Call) -> Answer:
    return Answer(history(await call.house.reflection.history()))


async def revert(call: Call) -> Answer:
    body = call.read(Revert)
    return Answer(changed(await call.house.reflection.revert(body.change, force=body.force)))


ROUTES: Final = (
    Route(
        method="POST",
        path="/api/reflections",
        does=look,
        says="Look back on what ended, now; each lesson is a question to you",
        gives="Task",
        status=201,
        query=(VIEW,),
        body=Nothing,
        scope=Scope.ADMIN,
    ),
    Route(
        method="GET",
        path="/api/lessons",
        does=every,
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
