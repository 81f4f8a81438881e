"""Routes for notices (what the owner was told, and how), web push and its service worker."""

import re
from typing import Final

from remit.errors import BadInput
from remit.model.caller import Scope
from remit.model.codec import Json
from remit.operations.entry import push_state
from remit.operations.notice_json import notice
from remit.server import static
from remit.server.call import Call, CallResult, QueryParameter, Route, numbers, read, result_of
from remit.store import notices

_LIMIT: Final = 50
_PLACE: Final = re.compile(r"[0-9]{1,15}")
_CURSOR: Final = QueryParameter("cursor", "`next` of the page before.", {"type": "string"})


async def list_notices(call: Call) -> CallResult:
    """Return sent notices, newest first, and waiting ones."""
    limit, cursor = call.number("limit", _LIMIT, least=1, most=500), call.text("cursor")
    if cursor is not None and not _PLACE.fullmatch(cursor):
        raise BadInput("cursor must be the `next` of a page before.", field="cursor")
    before = int(cursor) if cursor else None
    found = await call.house.db.read(notices.recent, before, limit + 1)
    more = str(found[limit - 1][0]) if len(found) > limit else None
    listed: list[Json] = [notice(each) for _, each in found[:limit]]
    return CallResult({"notices": listed, "next": more})


ROUTES: Final = (
    read(
        "/api/notices",
        list_notices,
        "What the owner was told, newest first: over which way, and what came of it",
        "Notices",
        numbers("limit", "How many of them.", _LIMIT, 1, 500),
        _CURSOR,
    ),
)


WORKER: Final = "/sw.js"  # at the root, or it could not speak for every page


async def look(call: Call) -> CallResult:
    return result_of(await push_state(call))


async def worker(_: Call) -> CallResult:
    """Return the service worker."""
    text = static.files()["js/sw.js"].raw.decode()
    return CallResult(text, media="text/javascript")


PUSH_ROUTES: Final = (
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
