"""Conversation routes: the recent ones, and one with its turns."""

from typing import Final

from remit.errors import BadInput, NotFound
from remit.model.codec import Json
from remit.model.conversation import Conversation, Turn
from remit.model.ids import ConversationId
from remit.operations import talk_json
from remit.operations.messages import conversation_id
from remit.server.call import Call, CallResult, QueryParameter, numbers, read
from remit.store import conversations
from remit.store.database import Tx

_MOST: Final = 200
_BEFORE: Final = QueryParameter("before", "The last one of the page before.", {"type": "string"})
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
        raise BadInput(sentence, field="before") from None
    shown: list[Json] = [talk_json.conversation(each) for each in found[:limit]]
    more = found[limit - 1].id if len(found) > limit else None
    return CallResult({"conversations": shown, "next": more})


async def show(call: Call) -> CallResult:
    """Return a conversation with its newest turns, or those before a place."""
    limit = call.number("limit", 50, least=1, most=_MOST)
    before = call.number("before", 0, most=10**9)
    talk, said = await call.house.db.read(_look, ident(call), before, limit)
    first = said[0].n if said else 0
    return CallResult(talk_json.with_turns(talk, said, first if first > 1 else None))


def ident(call: Call) -> ConversationId:
    return conversation_id(call.path["id"])


def _look(tx: Tx, talk: ConversationId, before: int, limit: int) -> tuple[Conversation, list[Turn]]:
    return conversations.get(tx, talk), conversations.turns(tx, talk, before, limit)


_ONE: Final = "/api/conversations/{id}"
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
)
