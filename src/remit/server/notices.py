"""Notice routes: recent notices, and a test of one way."""

import re
from typing import Annotated, Final

from pydantic import Field

from remit.errors import BadInput
from remit.model.caller import Scope
from remit.model.codec import Json
from remit.server.bodies import RequestBody
from remit.server.call import Call, CallResult, QueryParameter, Route, numbers
from remit.server.notice_shapes import notice
from remit.store import notices

_LIMIT: Final = 50
_PLACE: Final = re.compile(r"[0-9]{1,15}")
_CURSOR: Final = QueryParameter("cursor", "`next` of the page before.", {"type": "string"})


class TriedWay(RequestBody):
    """Which way is tried: conversation, push, or a channel's name."""

    way: Annotated[str, Field(min_length=1, max_length=100)]


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


async def try_out(call: Call) -> CallResult:
    """Send a test notice over one way; the answer has the result."""
    return CallResult(notice(await call.house.herald.test(call.read(TriedWay).way)))


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/notices",
        does=list_notices,
        says="What the owner was told, newest first: over which way, and what came of it",
        gives="Notices",
        query=(numbers("limit", "How many of them.", _LIMIT, 1, 500), _CURSOR),
    ),
    Route(
        method="POST",
        path="/api/notices/test",
        does=try_out,
        says="Send a test notice over one way; the answer says what came of it",
        gives="Notice",
        body=TriedWay,
        scope=Scope.ADMIN,
    ),
)
