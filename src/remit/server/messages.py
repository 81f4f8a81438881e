"""Message routes: the owner's words, read and turned into tasks."""

from typing import Final

from remit.errors import BadInput
from remit.intake.heard import OwnerMessage, message_result_to_json, rehearsed
from remit.model.caller import Scope
from remit.model.codec import JsonMap
from remit.model.ids import ConversationId
from remit.model.task import Source, SourceKind
from remit.server.bodies import NewMessage
from remit.server.call import VIEW, Call, CallResult, QueryParameter, Route
from remit.server.tasks import moment, repeats_of

_PATIENCE: Final = 60.0  # seconds: a model may be reading


async def hear(call: Call) -> CallResult:
    """Store everything a message asks for; return what became of every clause."""
    body = call.read(NewMessage)
    # The text counts as the owner's words: recipients are taken from it.
    call.access.check_person("these would be its owner's words. POST /api/tasks is for it")
    at = moment(body.scheduled_for, "scheduledFor")
    message = OwnerMessage(
        text=body.text,
        source=Source(SourceKind.MANUAL, call.ref),
        scheduled_for=at,
        priority=body.priority,
        repeats=repeats_of(body.repeats, at),
    )
    if body.dry_run:
        return CallResult(rehearsed(await call.house.intake.read(message)))
    if body.conversation_id is not None:
        return await _in_talk(call, body, ConversationId(body.conversation_id))
    heard = await call.house.intake.receive(message, wait=body.wait)
    answer = message_result_to_json(heard, call.view)
    if not call.access.reads:
        answer["alike"] = []  # it names tasks of others
    if not heard.tasks:
        return CallResult(answer)
    return CallResult(answer, 201, f"/api/tasks/{heard.tasks[0].id}")


async def became(call: Call) -> CallResult:
    """Return what a stored message became; with `wait` once it is read."""
    heard = await call.house.intake.became(call.task_id, wait=call.flag("wait"))
    return CallResult(message_result_to_json(heard, call.view))


async def _in_talk(call: Call, body: NewMessage, talk: ConversationId) -> CallResult:
    """Handle the same words as a turn of a conversation, which may be more than a request."""
    call.access.check(Scope.APPROVE, Scope.READ)
    if body.scheduled_for is not None or body.priority is not None or body.repeats is not None:
        sentence = "In a conversation, say the time and how urgent it is in your words."
        field = "priority" if body.priority else "scheduledFor"
        raise BadInput(sentence, field=field)
    turn = await call.house.talk.say(talk, body.text, channel="api", key=call.ref)
    answer = await call.house.talk.answered(turn, _PATIENCE, from_model=body.wait)
    where = f"/api/conversations/{talk}"
    receipt = answer.receipt if answer else {}
    if not receipt:
        lists = ("tasks", "clauses", "questions", "alike", "veto", "conditions")
        nothing: JsonMap = {name: [] for name in lists}
        sort = "control" if answer else None
        lacks: JsonMap = {"answer": sort, "reading": answer is None, "card": None}
        return CallResult(nothing | lacks, 200, where)
    # What a turn of an earlier version lacks.
    told: JsonMap = {"veto": [], "conditions": [], "reading": False, "card": None}
    return CallResult(told | receipt, 201 if receipt["tasks"] else 200, where)


ROUTES: Final = (
    Route(
        method="POST",
        path="/api/messages",
        does=hear,
        says="Say what is to be done, in your own words; it may become several tasks, or none",
        gives="Heard",
        status=201,
        also=200,
        query=(VIEW,),
        body=NewMessage,
    ),
    Route(
        method="GET",
        path="/api/messages/{id}",
        does=became,
        says="What a message became, by the id of its task; a model may still be reading it",
        gives="Heard",
        query=(VIEW, QueryParameter("wait", "Answer once it is read.", {"type": "boolean"})),
    ),
)
