"""Routes for the search over tasks, reviews and series, for recall, and for saved views."""

import re
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from remit.language.tokens import fold
from remit.model.codec import Json, JsonMap
from remit.model.series import Series
from remit.model.view import show
from remit.operations import filters, upkeep
from remit.operations.review_json import review_to_json
from remit.operations.shapes import alike
from remit.server.call import (
    VIEW,
    Call,
    CallResult,
    QueryParameter,
    Route,
    numbers,
    read,
    result_of,
)
from remit.store import inbox, search, series
from remit.store.database import Tx
from remit.store.inbox import WaitingReview
from remit.store.search import TaskFilter


async def look(call: Call) -> CallResult:
    return CallResult(await call.house.recollection.state())


RECALL_ROUTES: Final = (
    Route(
        method="GET",
        path="/api/recall",
        does=look,
        says="How the index of tasks stands",
        gives="Recall",
    ),
)


_LOOKED: Final = 500  # open questions and series that are searched


async def find(call: Call) -> CallResult:
    """Return the matches by section, each limited."""
    line, limit = call.text("q"), call.number("limit", 10, least=1, most=50)
    like = call.text("like")
    if like is not None and like.strip():
        found = await call.house.recollection.like(like, limit)
        return CallResult(_search_json([], alike=alike(found, call.view)))
    if line is None or not _words(line):
        return CallResult(_search_json([]))
    asked = filters.typed(line, filters.context(call.house))
    page = await call.house.db.read(search.page, replace(asked, limit=limit))
    now, words = call.house.clock.now(), _words(asked.text or "")
    others = await call.house.db.read(_others, now, words, limit) if words else ([], [])
    shown = {task.id for task in page.tasks}
    # Filters narrow the list; similar tasks would ignore them.
    plain = (
        asked.text if replace(asked, text=None, limit=limit) == TaskFilter(limit=limit) else None
    )
    near = await call.house.recollection.finder.find(plain, limit) if plain else []
    undo = call.house.settings.deliver.undo
    content = _search_json(
        [show(task, call.view) for task in page.tasks],
        more=page.next is not None,
        reviews=[review_to_json(each, undo) for each in others[0]],
        series=[{"id": each.id, "title": each.title} for each in others[1]],
        alike=alike([each for each in near if each.task.id not in shown], call.view),
    )
    return CallResult(content)


def _search_json(tasks: list[Json], *, more: bool = False, **parts: list[Json]) -> JsonMap:
    none: JsonMap = {"reviews": [], "series": [], "alike": []}
    return {"tasks": tasks, "more": more, **none, **parts}


def _others(
    tx: Tx, now: datetime, words: list[str], limit: int
) -> tuple[list[WaitingReview], list[Series]]:
    asked = [
        each
        for each in inbox.questions(tx, now, limit=_LOOKED)
        if _fits(f"{each.task.title} {each.review.question}", words)
    ]
    repeated = [each for each in series.list_series(tx, limit=_LOOKED) if _fits(each.title, words)]
    return asked[:limit], repeated[:limit]


def _words(text: str) -> list[str]:
    return [fold(word) for word in re.findall(r"\w+", text)]


def _fits(text: str, words: list[str]) -> bool:
    folded = fold(text)
    return all(word in folded for word in words)


ROUTES: Final = (
    read(
        "/api/search",
        find,
        "Look for words in tasks, open questions and series",
        "Found",
        QueryParameter("q", "Words, and filters as in the list of tasks.", {"type": "string"}),
        QueryParameter("like", "A task's id, or words: only what is like it.", {"type": "string"}),
        numbers("limit", "How many of each.", 10, 1, 50),
        VIEW,
    ),
)


async def list_views(call: Call) -> CallResult:
    return result_of(await upkeep.list_views(call))


VIEWS_ROUTES: Final = (read("/api/views", list_views, "Filters with a name", "Views"),)
