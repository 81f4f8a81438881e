"""Series routes: pause, resume, end, and skip or move one slot."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Final

from remit.errors import BadInput, OutOfDate
from remit.model import ids
from remit.model.codec import Json, JsonMap, text_of
from remit.model.ids import SeriesId
from remit.model.series import Series
from remit.server.bodies import EmptyBody, MoveSlot, SeriesRules, SkipSlot
from remit.server.call import VIEW, Call, CallResult, QueryParameter, Route, numbers, task_answer
from remit.server.series_shapes import NEXT, event, listed, whole
from remit.server.tasks import moment
from remit.store import agenda, series
from remit.store.database import Tx

_COMING: Final = numbers("coming", "How many of the next slots.", NEXT, 0, 100)


async def list_series(call: Call) -> CallResult:
    """Return the series, oldest first."""
    limit, cursor = call.number("limit", 100, least=1, most=500), call.text("cursor")
    try:
        after = None if cursor is None else ids.series_id(cursor)
    except BadInput as bad:
        raise BadInput(str(bad), field="cursor") from None
    found = await call.house.db.read(_page, call, after, limit + 1)
    more = found[limit - 1]["id"] if len(found) > limit else None
    # Calendar events have no place among ours: they are on the first page, soonest first.
    events = [] if cursor else await call.house.db.read(_events, call, limit)
    return CallResult({"series": list[Json](found[:limit]), "events": events, "next": more})


async def look(call: Call) -> CallResult:
    return await _answer(call, call.number("coming", NEXT, least=0, most=100))


async def pause(call: Call) -> CallResult:
    return await _order(call, call.owner.pause_series)


async def resume(call: Call) -> CallResult:
    return await _order(call, call.owner.resume_series)


async def end(call: Call) -> CallResult:
    return await _order(call, call.owner.end_series)


async def skip(call: Call) -> CallResult:
    """Leave one slot out."""
    slot = moment(call.read(SkipSlot).slot, "slot")
    await _check(call)
    await call.owner.skip_slot(call.series_id, slot)
    return await _answer(call)


async def move(call: Call) -> CallResult:
    """Run one occurrence at another time."""
    body = call.read(MoveSlot)
    to = moment(body.to, "to")
    assert to is not None  # noqa: S101 - a text is a moment, or refused
    await _check(call)
    slot = moment(body.slot, "slot")
    task = await call.owner.move_slot(call.series_id, slot, to)
    call.house.engine.nudge()
    return await task_answer(call, task)


async def rules(call: Call) -> CallResult:
    """Say what becomes of slots that are missed, or meet."""
    body = call.read(SeriesRules)
    await _check(call)
    await call.owner.rule_series(call.series_id, body.missed, body.overlap)
    return await _answer(call)


async def _order(call: Call, verb: Callable[[SeriesId], Awaitable[Series]]) -> CallResult:
    call.read(EmptyBody)
    await _check(call)
    await verb(call.series_id)
    call.house.engine.nudge()
    return await _answer(call)


async def _check(call: Call) -> None:
    await call.house.db.read(call.access.check_finds_series, call.series_id)
    if call.version is not None and call.version != _tag(await _read(call, NEXT)):
        sentence = f"Series {call.series_id} has changed since you looked at it; look again."
        raise OutOfDate(sentence)


async def _answer(call: Call, coming: int = NEXT) -> CallResult:
    told = await _read(call, coming)
    # The number of slots shown is no part of the series' version.
    usual = told if coming == NEXT else await _read(call, NEXT)
    return CallResult(told, headers={"ETag": f'"{_tag(usual)}"'})


async def _read(call: Call, coming: int) -> JsonMap:
    return await call.house.db.read(whole, call.series_id, call.house.clock.now(), coming)


def _tag(told: JsonMap) -> str:
    return hashlib.sha256(text_of(told).encode()).hexdigest()[:32]


def _page(tx: Tx, call: Call, after: SeriesId | None, limit: int) -> list[JsonMap]:
    found = series.list_series(tx, ended=call.flag("ended"), after=after, limit=limit)
    return [listed(tx, each, call.house.clock.now(), 1) for each in found]


def _events(tx: Tx, call: Call, limit: int) -> list[Json]:
    found = agenda.next_of_each(tx, call.house.clock.now(), limit)
    return [event(each, call.house.zone) for each in found]


def _says(verb: str) -> str:
    return f"/api/series/{{id}}/{verb}"


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/series",
        does=list_series,
        says="What comes back, oldest first",
        gives="SeriesPage",
        query=(
            QueryParameter("ended", "Those that have ended, too.", {"enum": ["true", "false"]}),
            QueryParameter("cursor", "`next` of the page before.", {"type": "string"}),
            numbers("limit", "How many.", 100, 1, 500),
        ),
    ),
    Route(
        method="GET",
        path="/api/series/{id}",
        does=look,
        says="One series, and the next times it comes back",
        gives="Series",
        query=(_COMING,),
        tagged=True,
    ),
    Route(
        method="POST",
        path=_says("pause"),
        does=pause,
        says="Put in nothing more, and hold what waits for its time",
        gives="Series",
        body=EmptyBody,
        tagged=True,
    ),
    Route(
        method="POST",
        path=_says("resume"),
        does=resume,
        says="Go on with the next slot; those that came meanwhile are skipped",
        gives="Series",
        body=EmptyBody,
        tagged=True,
    ),
    Route(
        method="POST",
        path=_says("end"),
        does=end,
        says="Put in nothing more, and cancel what waits for its time",
        gives="Series",
        body=EmptyBody,
        tagged=True,
    ),
    Route(
        method="POST",
        path=_says("skip"),
        does=skip,
        says="Leave one slot out: the next one, if none is named",
        gives="Series",
        body=SkipSlot,
        tagged=True,
    ),
    Route(
        method="POST",
        path=_says("move"),
        does=move,
        says="Run the next occurrence at another time",
        gives="Task",
        query=(VIEW,),
        body=MoveSlot,
        tagged=True,
    ),
    Route(
        method="POST",
        path=_says("rules"),
        does=rules,
        says="Say what becomes of its slots that are missed, or due while one is open",
        gives="Series",
        body=SeriesRules,
        tagged=True,
    ),
)
