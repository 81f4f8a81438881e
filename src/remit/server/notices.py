"""Notices: what the owner was told lately, and over which way."""

import re
from typing import Final

from remit.errors import BadInput
from remit.model.codec import Json
from remit.operations.notice_json import notice
from remit.server.call import Call, CallResult, QueryParameter, numbers, read
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
