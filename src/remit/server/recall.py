"""Recall: how its index stands, and tasks that are alike."""

from typing import Final

from remit.model.codec import Json, JsonMap
from remit.model.likeness import SimilarTask
from remit.model.view import JsonView, show
from remit.server.call import Call, CallResult, Route


async def look(call: Call) -> CallResult:
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
)
