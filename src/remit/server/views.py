"""View routes: filters that the owner named."""

from typing import Final

from remit.operations import upkeep
from remit.server.call import Call, CallResult, read, result_of


async def list_views(call: Call) -> CallResult:
    return result_of(await upkeep.list_views(call))


ROUTES: Final = (read("/api/views", list_views, "Filters with a name", "Views"),)
