"""Recall routes: the state of the index, rebuild it, or switch it off and delete it."""

from typing import Final

from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap
from remit.model.likeness import SimilarTask
from remit.model.view import JsonView, show
from remit.server.call import Call, CallResult, Route


async def look(call: Call) -> CallResult:
    return CallResult(await call.house.recollection.state())


async def rebuild(call: Call) -> CallResult:
    """Empty the index; it is rebuilt in the background, and `GET /api/recall` shows progress."""
    await call.house.recollection.rebuild()
    return CallResult(await call.house.recollection.state())


async def turn_off(call: Call) -> CallResult:
    """Delete the index and stop; the settings decide when they are read again."""
    await call.house.recollection.turn_off()
    return CallResult(await call.house.recollection.state())


def alike(found: list[SimilarTask], view: JsonView) -> list[Json]:
    """Return similar tasks as JSON, with what they share."""
    return [_shape(each, view) for each in found]


def _shape(each: SimilarTask, view: JsonView) -> JsonMap:
    return {
        "task": show(each.task, view),
        "by": each.by.value,
        "score": round(max(0.0, min(1.0, each.score)), 3),
    }


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/recall",
        does=look,
        says="How the index of tasks stands",
        gives="Recall",
    ),
    Route(
        method="POST",
        path="/api/recall/rebuild",
        does=rebuild,
        says="Make the index of tasks anew",
        gives="Recall",
        scope=Scope.ADMIN,
    ),
    Route(
        method="DELETE",
        path="/api/recall",
        does=turn_off,
        says="Delete the index of tasks, and keep none until the settings are read again",
        gives="Recall",
        scope=Scope.ADMIN,
    ),
)
