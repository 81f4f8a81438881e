"""The A2A server: other agents find Remit and give it tasks over the A2A protocol.

An agent sees only the tasks it created. A question to the owner is shown by its address; no A2A
message can decide it. Push notifications are not supported, so Remit never calls an address that an
agent names.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from remit.a2a import messages
from remit.errors import BadInput, Conflict, NotFound
from remit.journal.follow import Journal
from remit.model import ids
from remit.model.codec import Json, JsonMap
from remit.model.ids import SessionId
from remit.operations.arguments import NewTask
from remit.operations.permission import NotAllowed
from remit.peer import rpc
from remit.peer.agent_operations import AgentOperations, AgentTaskView
from remit.peer.rpc import RpcError, RpcMessage
from remit.store.search import AgentTaskFilter

PATIENCE: Final = 20.0  # seconds that a message waits for its task; after that the agent polls
_CODES: Final = {
    NotFound: messages.NO_TASK,
    BadInput: rpc.BAD_PARAMS,
    NotAllowed: rpc.NO_REQUEST,
    Conflict: messages.NOT_DONE,
}


class A2aReply(Struct, frozen=True):
    """The answer: one message, or a stream."""

    status: int
    body: "JsonMap | None" = None
    stream: "AsyncGenerator[JsonMap, None] | None" = None


class _Call(Struct, frozen=True):
    operations: AgentOperations
    journal: Journal
    params: JsonMap


async def answer(
    raw: bytes, operations: AgentOperations, journal: Journal, version: str | None
) -> A2aReply:
    """Answer one message; an unexpected error goes to the log only."""
    ident: str | int | None = None
    try:
        message = rpc.read(raw)
        ident = message.id
        messages.check(message, version)
        return await _answer(message, _Call(operations, journal, message.params))
    except Exception as error:  # noqa: BLE001 - whatever breaks, the caller gets an answer
        status = 403 if isinstance(error, NotAllowed) else 200
        return A2aReply(status, rpc.error(ident, rpc.fault_of(error, _CODES)))


async def _answer(message: RpcMessage, call: _Call) -> A2aReply:
    if message.method in _FOLLOWED:
        since = await call.journal.last()
        view = await _FOLLOWED[message.method](call)
        return A2aReply(200, stream=_follow(message, call, view, since))
    does = _ANSWERED.get(message.method)
    if does is None:
        raise RpcError(rpc.NO_METHOD, f"There is no method {message.method!r:.60} here.")
    return A2aReply(200, rpc.result(message.id, await does(call)))


# What an agent may ask ----------------------------------------------------------------------------


async def _send(call: _Call) -> JsonMap:
    """Handle a message; wait a while for the result, unless that is not wanted."""
    since = await call.journal.last()
    view = await _entrust(call)
    if messages.sent(call.params).waits and not messages.rests(view):
        try:
            async with asyncio.timeout(PATIENCE), aclosing(_views(call, view, since)) as following:
                async for view in following:
                    if messages.rests(view):
                        break
        except TimeoutError:
            view = await call.operations.look(view.task.id)
    return {"task": messages.task(view)}


async def _entrust(call: _Call) -> AgentTaskView:
    """Return the task of a message; the same message again is the same task."""
    message = messages.sent(call.params)
    if message.task is not None:
        await _refuse_more_words(call, message.task)
    session = await _session(call, message)
    return await call.operations.entrust(NewTask(message.text, session=session), message.key)


async def _refuse_more_words(call: _Call, name: str) -> None:
    """Refuse more words for a task: only the owner answers its questions."""
    view = await _own(call, name)
    if view.waits:
        raise RpcError(messages.NOT_DONE, f"No message answers this. {view.sentence}")
    sentence = f"Task {view.task.id} is {view.task.status} and takes no more words."
    raise RpcError(
        messages.NOT_DONE, f"{sentence} Send a new message and name it in referenceTaskIds."
    )


async def _session(call: _Call, message: messages.A2aMessage) -> SessionId | None:
    """Return the session to continue: only one of the agent's own."""
    if message.context is not None:
        session = SessionId(message.context)
        if not await call.operations.page(AgentTaskFilter(session=session, limit=1)):
            sentence = f"There is no context {message.context!r:.60} of yours; leave it out."
            raise RpcError(rpc.BAD_PARAMS, sentence)
        return session
    for name in message.about:
        return (await _own(call, name)).task.session_id
    return None


async def _get(call: _Call) -> JsonMap:
    return messages.task(await _find_named_task(call))


async def _list(call: _Call) -> JsonMap:
    query = messages.parse_list_request(call.params)
    wanted = AgentTaskFilter(
        statuses=tuple(messages.statuses(query.state)) if query.state else (),
        session=SessionId(query.context) if query.context else None,
        since=query.since,
        before=ids.task_id(query.before) if query.before else None,
        limit=query.size + 1,
    )
    if query.state and not wanted.statuses:
        raise RpcError(rpc.BAD_PARAMS, f"No task is ever {query.state!r:.60}.")
    total = await call.operations.count(replace(wanted, before=None))
    found = await call.operations.page(wanted)
    wants = query.state
    shown = [each for each in found[: query.size] if not wants or messages.is_called(each, wants)]
    listed: list[Json] = [messages.task(each, artifacts=query.artifacts) for each in shown]
    more = found[query.size - 1].task.id if len(found) > query.size else ""
    return {"tasks": listed, "nextPageToken": more, "pageSize": len(listed), "totalSize": total}


async def _cancel(call: _Call) -> JsonMap:
    view = await _find_named_task(call)
    try:
        return messages.task(await call.operations.cancel(view.task.id))
    except Conflict as error:
        raise RpcError(messages.NO_CANCEL, str(error)) from None


async def _no_push(_: _Call) -> JsonMap:
    raise messages.no_push()


async def _no_more_card(_: _Call) -> JsonMap:
    raise RpcError(messages.NOT_DONE, "There is one card, and it is public.")


async def _subscribe(call: _Call) -> AgentTaskView:
    view = await _find_named_task(call)
    if view.task.ended:
        sentence = f"Task {view.task.id} is {view.task.status}; nothing more happens to it."
        raise RpcError(messages.NOT_DONE, sentence)
    return view


async def _find_named_task(call: _Call) -> AgentTaskView:
    return await _own(call, messages.text_of_field(call.params, "id"))


async def _own(call: _Call, name: str) -> AgentTaskView:
    """Return a task by its name; an impossible name is not found."""
    try:
        return await call.operations.look(name)
    except BadInput as error:
        raise RpcError(messages.NO_TASK, str(error)) from None


# Following a task ---------------------------------------------------------------------------------


async def _follow(
    message: RpcMessage, call: _Call, first: AgentTaskView, since: int
) -> AsyncGenerator[JsonMap, None]:
    """Yield the task, then each change, until it rests."""
    yield rpc.result(message.id, {"task": messages.task(first)})
    if first.task.ended:
        return
    try:
        async with aclosing(_views(call, first, since)) as following:
            async for view in following:
                for update in _updates(view):
                    yield rpc.result(message.id, update)
                if messages.rests(view):
                    return
    except Exception as error:  # noqa: BLE001 - the stream ends with why
        yield rpc.error(message.id, rpc.fault_of(error, _CODES))


def _updates(view: AgentTaskView) -> list[JsonMap]:
    whose: JsonMap = {"taskId": view.task.id, "contextId": view.task.session_id}
    status: JsonMap = {"statusUpdate": {**whose, "status": messages.status(view)}}
    made = messages.artifact(view)
    if made is None:
        return [status]
    return [{"artifactUpdate": {**whose, "artifact": made, "lastChunk": True}}, status]


async def _views(
    call: _Call, before: AgentTaskView, since: int
) -> AsyncGenerator[AgentTaskView, None]:
    """Yield the task each time its state changes."""
    was = messages.state(before), before.sentence
    async for page in call.journal.pages(since):
        if not any(event.task_id == before.task.id for event in page):
            continue
        view = await call.operations.look(before.task.id)
        if (messages.state(view), view.sentence) != was:
            was = messages.state(view), view.sentence
            yield view


_Does: TypeAlias = Callable[[_Call], Awaitable[JsonMap]]
_ANSWERED: Final[Mapping[str, _Does]] = {
    "SendMessage": _send,
    "GetTask": _get,
    "ListTasks": _list,
    "CancelTask": _cancel,
    **{f"{verb}TaskPushNotificationConfig": _no_push for verb in ("Create", "Get", "Delete")},
    "ListTaskPushNotificationConfigs": _no_push,
    "GetExtendedAgentCard": _no_more_card,
}
_FOLLOWED: Final[Mapping[str, Callable[[_Call], Awaitable[AgentTaskView]]]] = {
    "SendStreamingMessage": _entrust,
    "SubscribeToTask": _subscribe,
}
