"""Views: filters that the owner gave a name to."""

from typing import Final

from remit.operations import upkeep
from remit.server.call import Call, CallResult, Route, result_of


async def list_views(call: Call) -> CallResult:
    return result_of(await upkeep.list_views(call))


ROUTES: Final = (
    Route(
        method="GET", path="/api/views", does=list_views, says="Filters with a name", gives="Views"
    ),
)
