"""One search over everything: tasks, what waits for the owner, and what comes back."""

import re
from dataclasses import replace
from datetime import datetime
from typing import Final

from remit.errors import BadInput
from remit.intake.lexicon.words import fold
from remit.model.codec import Json, JsonMap
from remit.model.series import Series
from remit.model.view import show
from remit.server import filters, listing, shapes
from remit.server.call import VIEW, Answer, Call, Query, Route, numbers
from remit.store import inbox, search, series
from remit.store.database import Tx
from remit.store.inbox import Waiting

_LOOKED: Final = 500  # open questions and series that are looked through


async def find(call: Call) -> Answer:
    """What fits, section by section; each as short as is asked for."""
    line, limit = call.text("q"), call.number("limit", 10, least=1, most=50)
    if line is None or not line.strip():
        raise BadInput("Give q: words to look for, or filters as status:failed.", field="q")
    asked = filters.typed(line, listing.at(call.house))
    page = await call.house.db.read(search.page, replace(asked, limit=limit))
    now, words = call.house.clock.now(), _words(asked.text or "")
    others = await call.house.db.read(_others, now, words, limit) if words else ([], [])
    undo = call.house.settings.deliver.undo
    reviews: list[Json] = [shapes.review(each, undo) for each in others[0]]
    told: JsonMap = {
        "tasks": [show(task, call.view) for task in page.tasks],
        "more": page.next is not None,
        "reviews": reviews,
        "series": [{"id": each.id, "title": each.title} for each in others[1]],
    }
    return Answer(told)


def _others(
    tx: Tx, now: datetime, words: list[str], limit: int
) -> tuple[list[Waiting], list[Series]]:
    asked = [
        each
        for each in inbox.questions(tx, now, limit=_LOOKED)
        if _fits(f"{each.task.title} {each.review.question}", words)
    ]
    repeated = [each for each in series.every(tx, limit=_LOOKED) if _fits(each.title, words)]
    return asked[:limit], repeated[:limit]


def _words(text: str) -> list[str]:
    return [fold(word) for word in re.findall(r"\w+", text)]


def _fits(text: str, words: list[str]) -> bool:
    folded = fold(text)
    return all(word in folded for word in words)


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/search",
        does=find,
        says="Look for words in tasks, open questions and series",
        gives="Found",
        query=(
            Query("q", "Words, and filters as in the list of tasks.", {"type": "string"}),
            numbers("limit", "How many of each.", 10, 1, 50),
            VIEW,
        ),
    ),
)
