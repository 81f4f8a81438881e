"""Web push routes: subscribe this browser, and the service worker."""

from typing import Final

from remit.model.caller import Scope
from remit.operations.entry import push_state
from remit.server import static
from remit.server.call import Call, CallResult, Route, read, result_of

WORKER: Final = "/sw.js"  # at the root, or it could not speak for every page


async def look(call: Call) -> CallResult:
    return result_of(await push_state(call))


async def worker(_: Call) -> CallResult:
    """Return the service worker."""
    text = static.files()["js/sw.js"].raw.decode()
    return CallResult(text, media="text/javascript")


ROUTES: Final = (
    read(
        "/api/push",
        look,
        "Whether browsers can be told while no page is open, and whether this one is",
        "Push",
        scope=Scope.APPROVE,
    ),
    Route(
        method="GET",
        path=WORKER,
        does=worker,
        says="What shows a notice while no page is open",
        gives="Page",
        public=True,
        page=True,
    ),
)
