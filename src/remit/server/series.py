"""Series routes: all repeating work, and one series with its next times."""

from typing import Final

from remit.errors import BadInput, UnknownName
from remit.model import ids
from remit.model.codec import Json, JsonMap
from remit.model.ids import SeriesId
from remit.operations import series as operations
from remit.operations.series_json import NEXT, event, listed
from remit.server.call import Call, CallResult, QueryParameter, numbers, read, result_of
from remit.store import agenda, series
from remit.store.database import Tx

_COMING: Final = numbers("coming", "How many of the next slots.", NEXT, 0, 100)


async def list_series(call: Call) -> CallResult:
    """Return the series, oldest first."""
    limit, cursor = call.number("limit", 100, least=1, most=500), call.text("cursor")
    try:
        after = None if cursor is None else ids.series_id(cursor)
    except BadInput as bad:
        raise UnknownName(str(bad), field="cursor") from None
    found = await call.house.db.read(_page, call, after, limit + 1)
    more = found[limit - 1]["id"] if len(found) > limit else None
    # Calendar events have no place among ours: they are on the first page, soonest first.
    events = [] if cursor else await call.house.db.read(_events, call, limit)
    return CallResult({"series": list[Json](found[:limit]), "events": events, "next": more})


async def look(call: Call) -> CallResult:
    coming = call.number("coming", NEXT, least=0, most=100)
    return result_of(await operations.look(call, call.series_id, coming))


def _page(tx: Tx, call: Call, after: SeriesId | None, limit: int) -> list[JsonMap]:
    found = series.list_series(tx, ended=call.flag("ended"), after=after, limit=limit)
    return [listed(tx, each, call.house.clock.now(), 1) for each in found]


def _events(tx: Tx, call: Call, limit: int) -> list[Json]:
    found = agenda.next_of_each(tx, call.house.clock.now(), limit)
    return [event(each, call.house.zone) for each in found]


ROUTES: Final = (
    read(
        "/api/series",
        list_series,
        "What comes back, oldest first",
        "SeriesPage",
        QueryParameter("ended", "Those that have ended, too.", {"enum": ["true", "false"]}),
        QueryParameter("cursor", "`next` of the page before.", {"type": "string"}),
        numbers("limit", "How many.", 100, 1, 500),
    ),
    read(
        "/api/series/{id}",
        look,
        "One series, and the next times it comes back",
        "Series",
        _COMING,
        tagged=True,
    ),
)
