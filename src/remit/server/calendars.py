"""Asks the calendars now instead of at the next poll."""

from typing import Final

from remit.model.caller import Scope
from remit.server.call import Call, CallResult, Route


async def sync(call: Call) -> CallResult:
    """Ask every calendar server now; return how many answered."""
    found = await call.house.calendars.look()
    return CallResult({"noted": sum(why is None for why in found.values())})


ROUTES: Final = (
    Route(
        method="POST",
        path="/api/calendars/sync",
        does=sync,
        says="Look at every calendar now",
        gives="Noted",
        scope=Scope.ADMIN,
    ),
)
