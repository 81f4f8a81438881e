"""Routes for health (whether Remit answers and every part works) and for the journal's events."""

from typing import Final

from remit import __version__
from remit.model.codec import Json, stamp
from remit.model.run import Event
from remit.server import shapes
from remit.server.call import Call, CallResult, Route, numbers, read
from remit.store import events
from remit.store.database import Tx
from remit.system.background import LoopState


async def health(call: Call) -> CallResult:
    """Return failing loops by kind and count only, because anybody may ask."""
    failing: dict[str, Json] = {}
    for loop in call.house.background.failing:
        kind = loop.name.partition(":")[0]
        failing[kind] = max(loop.failures, int(str(failing.get(kind, 0))))
    status = "degraded" if failing else "ok"
    return CallResult({"status": status, "version": __version__, "failing": failing})


async def background(call: Call) -> CallResult:
    return CallResult({"loops": [_shown(call, loop) for loop in call.house.background.states]})


def _shown(call: Call, loop: LoopState) -> Json:
    return {
        "name": loop.name,
        "failures": loop.failures,
        "error": call.house.hide(loop.error) or None,
        "since": stamp(loop.since) if loop.since else None,
    }


ROUTES: Final = (
    Route(
        method="GET",
        path="/healthz",
        does=health,
        says="Whether Remit is there, and which of its loops keep failing",
        gives="Health",
        public=True,
    ),
    read(
        "/api/background",
        background,
        "The loops that run in the background, and what those that fail failed with",
        "Background",
    ),
)


async def follow(call: Call) -> CallResult:
    """Return everything after a place, in order, without a gap."""
    since, limit = call.number("since", 0), call.number("limit", 100, least=1, most=1000)
    found, last = await call.house.db.read(_page, since, limit + 1)
    rows: list[Json] = [shapes.event(event) for event in found[:limit]]
    more = found[limit - 1].seq if len(found) > limit else None
    return CallResult({"events": rows, "next": more, "last": last})


def _page(tx: Tx, since: int, limit: int) -> tuple[list[Event], int]:
    last = events.last(tx)
    return events.after(tx, since, limit), last


EVENTS_ROUTES: Final = (
    read(
        "/api/events",
        follow,
        "What happened, in order",
        "EventPage",
        numbers("since", "Go on after this seq.", 0, 0, 10**15 - 1),
        numbers("limit", "How many.", 100, 1, 1000),
    ),
)
