"""Routes for conversations, and for what the owner was told: notices, and push to browsers."""

import re
from typing import Final

from remit.errors import NotFound, UnknownName
from remit.model.caller import Scope
from remit.model.codec import Json
from remit.model.conversation import Conversation, Turn
from remit.model.ids import ConversationId
from remit.operations.entry import push_state
from remit.operations.messages import conversation_id
from remit.operations.shapes import conversation_to_json, notice_to_json, with_turns
from remit.server import static
from remit.server.call import Call, CallResult, QueryParameter, numbers, page, read, result_of
from remit.store import conversations, notices
from remit.store.database import Tx

_MOST: Final = 200
_BEFORE: Final = QueryParameter("before", "The last one of the page before.")
_LIMIT: Final = numbers("limit", "How many at most.", 50, 1, _MOST)
_TURN: Final = numbers("before", "Only turns before this one; 0 is from the end.", 0, 0, 10**9)


async def recent(call: Call) -> CallResult:
    """Return the most recent conversations first."""
    limit = call.number("limit", 50, least=1, most=_MOST)
    before = call.text("before")
    last = ConversationId(before) if before else None
    try:
        found = await call.house.db.read(conversations.recent, last, limit + 1)
    except NotFound:
        sentence = f"before is {before!r:.60}; give the last id of the page before."
        raise UnknownName(sentence, field="before") from None
    shown: list[Json] = [conversation_to_json(each) for each in found[:limit]]
    more = found[limit - 1].id if len(found) > limit else None
    return CallResult({"conversations": shown, "next": more})


async def show(call: Call) -> CallResult:
    """Return a conversation with its newest turns, or those before a place."""
    limit = call.number("limit", 50, least=1, most=_MOST)
    before = call.number("before", 0, most=10**9)
    talk, turns = await call.house.db.read(_look, ident(call), before, limit)
    first = turns[0].n if turns else 0
    return CallResult(with_turns(talk, turns, first if first > 1 else None))


def ident(call: Call) -> ConversationId:
    return conversation_id(call.path["id"])


def _look(tx: Tx, talk: ConversationId, before: int, limit: int) -> tuple[Conversation, list[Turn]]:
    return conversations.get(tx, talk), conversations.turns(tx, talk, before, limit)


_ONE: Final = "/api/conversations/{id}"


_NOTICES_LIMIT: Final = 50
_PLACE: Final = re.compile(r"[0-9]{1,15}")
_CURSOR: Final = QueryParameter("cursor", "`next` of the page before.")


async def list_notices(call: Call) -> CallResult:
    """Return sent notices, newest first, and waiting ones."""
    limit, cursor = call.number("limit", _NOTICES_LIMIT, least=1, most=500), call.text("cursor")
    if cursor is not None and not _PLACE.fullmatch(cursor):
        raise UnknownName("cursor must be the `next` of a page before.", field="cursor")
    before = int(cursor) if cursor else None
    found = await call.house.db.read(notices.recent, before, limit + 1)
    more = str(found[limit - 1][0]) if len(found) > limit else None
    listed: list[Json] = [notice_to_json(each) for _, each in found[:limit]]
    return CallResult({"notices": listed, "next": more})


WORKER: Final = "/sw.js"  # at the root, or it could not speak for every page


async def look(call: Call) -> CallResult:
    return result_of(await push_state(call))


async def worker(_: Call) -> CallResult:
    """Return the service worker."""
    text = static.files()["js/sw.js"].raw.decode()
    return CallResult(text, media="text/javascript")


ROUTES: Final = (
    read(
        "/api/conversations",
        recent,
        "The conversations that went on last",
        "Conversations",
        _BEFORE,
        _LIMIT,
    ),
    read(_ONE, show, "A conversation with its newest turns", "ConversationDetail", _TURN, _LIMIT),
    read(
        "/api/notices",
        list_notices,
        "What the owner was told, newest first: over which way, and what came of it",
        "Notices",
        numbers("limit", "How many of them.", _NOTICES_LIMIT, 1, 500),
        _CURSOR,
    ),
    read(
        "/api/push",
        look,
        "Whether browsers can be told while no page is open, and whether this one is",
        "Push",
        scope=Scope.APPROVE,
    ),
    page(WORKER, worker, public=True),
)
