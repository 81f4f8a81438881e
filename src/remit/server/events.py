"""The journal as pages of events."""

from typing import Final

from remit.model.codec import Json
from remit.model.event import Event
from remit.server import shapes
from remit.server.call import Call, CallResult, numbers, read
from remit.store import events
from remit.store.database import Tx


async def follow(call: Call) -> CallResult:
    """Return everything after a place, in order, without a gap."""
    since, limit = call.number("since", 0), call.number("limit", 100, least=1, most=1000)
    found, last = await call.house.db.read(_page, since, limit + 1)
    told: list[Json] = [shapes.event(event) for event in found[:limit]]
    more = found[limit - 1].seq if len(found) > limit else None
    return CallResult({"events": told, "next": more, "last": last})


def _page(tx: Tx, since: int, limit: int) -> tuple[list[Event], int]:
    last = events.last(tx)
    return events.after(tx, since, limit), last


ROUTES: Final = (
    read(
        "/api/events",
        follow,
        "What happened, in order",
        "EventPage",
        numbers("since", "Go on after this seq.", 0, 0, 10**15),
        numbers("limit", "How many.", 100, 1, 1000),
    ),
)
