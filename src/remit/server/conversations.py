"""Conversation routes: start, list, write, rename, delete, and where a task was discussed.

A turn counts as the owner's words: it may answer a question or stop a task. So it needs the scope
`approve`, and agents may neither write in nor delete a conversation.
"""

from typing import Annotated, Final

from pydantic import Field

from remit.converse.talk import MOST_SAID, MOST_TITLE, checked_title
from remit.errors import BadInput, NotFound
from remit.model import ids
from remit.model.caller import Scope
from remit.model.codec import Json
from remit.model.conversation import Conversation, Turn
from remit.model.ids import ConversationId
from remit.server import talk_shapes
from remit.server.bodies import EmptyBody, RequestBody
from remit.server.call import Call, CallResult, QueryParameter, Route, numbers
from remit.store import conversations
from remit.store.database import Tx

PATIENCE: Final = 3.0  # seconds to wait for an answer; a model may take longer
_MOST_ID: Final = 200
_MOST: Final = 200
_BEFORE: Final = QueryParameter("before", "The last one of the page before.", {"type": "string"})
_LIMIT: Final = numbers("limit", "How many at most.", 50, 1, _MOST)
_TURN: Final = numbers("before", "Only turns before this one; 0 is from the end.", 0, 0, 10**9)


class NewConversation(RequestBody):
    """Without a title it is named after the first thing that is said."""

    title: Annotated[str, Field(max_length=MOST_TITLE)] = ""


class NewTitle(RequestBody):
    title: Annotated[str, Field(min_length=1, max_length=MOST_TITLE)]


class NewTurn(RequestBody):
    """What the owner says; `about` is the task that he points at."""

    text: Annotated[str, Field(min_length=1, max_length=MOST_SAID)]
    about: Annotated[str | None, Field(max_length=_MOST_ID)] = None


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
    shown: list[Json] = [talk_shapes.conversation(each) for each in found[:limit]]
    more = found[limit - 1].id if len(found) > limit else None
    return CallResult({"conversations": shown, "next": more})


async def begin(call: Call) -> CallResult:
    title = call.read(NewConversation).title
    talk = await call.house.talk.begin(title, "api")
    return CallResult(talk_shapes.conversation(talk), 201, f"/api/conversations/{talk.id}")


async def show(call: Call) -> CallResult:
    """Return a conversation with its newest turns, or those before a place."""
    limit = call.number("limit", 50, least=1, most=_MOST)
    before = call.number("before", 0, most=10**9)
    talk, said = await call.house.db.read(_look, ident(call), before, limit)
    first = said[0].n if said else 0
    return CallResult(talk_shapes.with_turns(talk, said, first if first > 1 else None))


async def rename(call: Call) -> CallResult:
    title = checked_title(call.read(NewTitle).title)
    talk = await call.house.db.write(conversations.rename, ident(call), title)
    return CallResult(talk_shapes.conversation(talk))


async def remove(call: Call) -> CallResult:
    call.read(EmptyBody)
    talk = await call.house.db.read(conversations.get, ident(call))
    await call.house.db.write(conversations.remove, talk.id, call.house.clock.now())
    return CallResult(talk_shapes.conversation(talk))


async def say(call: Call) -> CallResult:
    """Store a turn; the answer is included if it comes quickly."""
    body = call.read(NewTurn)
    about = ids.task_id(body.about) if body.about else None
    talk = call.house.talk
    turn = await talk.say(ident(call), body.text, about=about, channel="api", key=call.ref)
    answer = await talk.answered(turn, PATIENCE)
    shown = talk_shapes.turn(answer) if answer else None
    where = f"/api/conversations/{turn.conversation_id}"
    return CallResult({"turn": talk_shapes.turn(turn), "answer": shown}, 201, where)


async def resume(call: Call) -> CallResult:
    """Return where a task was discussed; if there is none, a new conversation about it."""
    call.read(EmptyBody)
    talk = await call.house.talk.resume(call.task_id)
    return CallResult(talk_shapes.conversation(talk), 200, f"/api/conversations/{talk.id}")


def ident(call: Call) -> ConversationId:
    return ConversationId(call.path["id"][:_MOST_ID])


def _look(tx: Tx, talk: ConversationId, before: int, limit: int) -> tuple[Conversation, list[Turn]]:
    return conversations.get(tx, talk), conversations.turns(tx, talk, before, limit)


_ONE: Final = "/api/conversations/{id}"
ROUTES: Final = (
    Route(
        method="GET",
        path="/api/conversations",
        does=recent,
        says="The conversations that went on last",
        gives="Conversations",
        query=(_BEFORE, _LIMIT),
    ),
    Route(
        method="POST",
        path="/api/conversations",
        does=begin,
        says="Begin a conversation",
        gives="Conversation",
        status=201,
        body=NewConversation,
    ),
    Route(
        method="GET",
        path=_ONE,
        does=show,
        says="A conversation with its newest turns",
        gives="ConversationDetail",
        query=(_TURN, _LIMIT),
    ),
    Route(
        method="PATCH",
        path=_ONE,
        does=rename,
        says="Give a conversation another title",
        gives="Conversation",
        scope=Scope.APPROVE,
        reveals=True,
        body=NewTitle,
    ),
    Route(
        method="DELETE",
        path=_ONE,
        does=remove,
        says="Put a conversation away for good",
        gives="Conversation",
        scope=Scope.APPROVE,
        reveals=True,
        body=EmptyBody,
    ),
    Route(
        method="POST",
        path=f"{_ONE}/turns",
        does=say,
        says="Say something; it is answered once, now or soon",
        gives="Spoken",
        status=201,
        scope=Scope.APPROVE,
        reveals=True,
        body=NewTurn,
    ),
    Route(
        method="POST",
        path="/api/tasks/{id}/conversation",
        does=resume,
        says="The conversation about a task; a new one if it was put away",
        gives="Conversation",
        body=EmptyBody,
        reveals=True,
    ),
)
