"""Answer one A2A message, or stream the changes of one task until it rests.

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

from remit.a2a import requests, shapes
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
from remit.store.agent_tasks import AgentTaskFilter

PATIENCE: Final = 20.0  # seconds that a message waits for its task; after that the agent polls
_CODES: Final = {
    NotFound: requests.NO_TASK,
    BadInput: rpc.BAD_PARAMS,
    NotAllowed: rpc.NO_REQUEST,
    Conflict: requests.NOT_DONE,
}


class A2aReply(Struct, frozen=True):
    """The answer: one message, or a stream."""

    status: int
    body: "JsonMap | None" = None
    stream: "AsyncGenerator[JsonMap, None] | None" = None


class _Asked(Struct, frozen=True):
    desk: AgentOperations
    journal: Journal
    params: JsonMap


async def answer(
    raw: bytes, desk: AgentOperations, journal: Journal, version: str | None
) -> A2aReply:
    """Answer one message; an unexpected error goes to the log only."""
    ident: str | int | None = None
    try:
        message = rpc.read(raw)
        ident = message.id
        requests.check(message, version)
        return await _answered(message, _Asked(desk, journal, message.params))
    except Exception as error:  # noqa: BLE001 - whatever breaks, the caller gets an answer
        status = 403 if isinstance(error, NotAllowed) else 200
        return A2aReply(status, rpc.error(ident, rpc.fault_of(error, _CODES)))


async def _answered(message: RpcMessage, asked: _Asked) -> A2aReply:
    if message.method in _FOLLOWED:
        since = await asked.journal.last()
        seen = await _FOLLOWED[message.method](asked)
        return A2aReply(200, stream=_told(message, asked, seen, since))
    does = _ANSWERED.get(message.method)
    if does is None:
        raise RpcError(rpc.NO_METHOD, f"There is no method {message.method!r:.60} here.")
    return A2aReply(200, rpc.result(message.id, await does(asked)))


# What an agent may ask ----------------------------------------------------------------------------


async def _send(asked: _Asked) -> JsonMap:
    """Handle a message; wait a while for the result, unless that is not wanted."""
    since = await asked.journal.last()
    seen = await _entrust(asked)
    if requests.sent(asked.params).waits and not shapes.rests(seen):
        try:
            async with asyncio.timeout(PATIENCE), aclosing(_seen(asked, seen, since)) as following:
                async for seen in following:
                    if shapes.rests(seen):
                        break
        except TimeoutError:
            seen = await asked.desk.look(seen.task.id)
    return {"task": shapes.task(seen)}


async def _entrust(asked: _Asked) -> AgentTaskView:
    """Return the task of a message; the same message again is the same task."""
    message = requests.sent(asked.params)
    if message.task is not None:
        await _refuse_more_words(asked, message.task)
    session = await _session(asked, message)
    return await asked.desk.entrust(NewTask(message.text, session=session), message.key)


async def _refuse_more_words(asked: _Asked, name: str) -> None:
    """Refuse more words for a task: only the owner answers its questions."""
    seen = await _own(asked, name)
    if seen.waits:
        raise RpcError(requests.NOT_DONE, f"No message answers this. {seen.sentence}")
    sentence = f"Task {seen.task.id} is {seen.task.status} and takes no more words."
    raise RpcError(
        requests.NOT_DONE, f"{sentence} Send a new message and name it in referenceTaskIds."
    )


async def _session(asked: _Asked, message: requests.A2aMessage) -> SessionId | None:
    """Return the session to continue: only one of the agent's own."""
    if message.context is not None:
        session = SessionId(message.context)
        if not await asked.desk.page(AgentTaskFilter(session=session, limit=1)):
            sentence = f"There is no context {message.context!r:.60} of yours; leave it out."
            raise RpcError(rpc.BAD_PARAMS, sentence)
        return session
    for name in message.about:
        return (await _own(asked, name)).task.session_id
    return None


async def _get(asked: _Asked) -> JsonMap:
    return shapes.task(await _own(asked, requests.task(asked.params)))


async def _list(asked: _Asked) -> JsonMap:
    wish = requests.listed(asked.params)
    wanted = AgentTaskFilter(
        statuses=tuple(shapes.statuses(wish.state)) if wish.state else (),
        session=SessionId(wish.context) if wish.context else None,
        since=wish.since,
        before=ids.task_id(wish.before) if wish.before else None,
        limit=wish.size + 1,
    )
    if wish.state and not wanted.statuses:
        raise RpcError(rpc.BAD_PARAMS, f"No task is ever {wish.state!r:.60}.")
    total = await asked.desk.count(replace(wanted, before=None))
    found = await asked.desk.page(wanted)
    shown = [each for each in found[: wish.size] if not wish.state or _fits(each, wish.state)]
    listed: list[Json] = [shapes.task(each, artifacts=wish.artifacts) for each in shown]
    more = found[wish.size - 1].task.id if len(found) > wish.size else ""
    return {"tasks": listed, "nextPageToken": more, "pageSize": len(listed), "totalSize": total}


def _fits(seen: AgentTaskView, state: str) -> bool:
    return shapes.is_called(seen, state)


async def _cancel(asked: _Asked) -> JsonMap:
    seen = await _own(asked, requests.task(asked.params))
    try:
        return shapes.task(await asked.desk.cancel(seen.task.id))
    except Conflict as error:
        raise RpcError(requests.NO_CANCEL, str(error)) from None


async def _no_push(_: _Asked) -> JsonMap:
    raise requests.no_push()


async def _no_more_card(_: _Asked) -> JsonMap:
    raise RpcError(requests.NOT_DONE, "There is one card, and it is public.")


async def _subscribe(asked: _Asked) -> AgentTaskView:
    seen = await _own(asked, requests.task(asked.params))
    if seen.task.ended:
        sentence = f"Task {seen.task.id} is {seen.task.status}; nothing more happens to it."
        raise RpcError(requests.NOT_DONE, sentence)
    return seen


async def _own(asked: _Asked, name: str) -> AgentTaskView:
    """Return a task by its name; an impossible name is not found."""
    try:
        return await asked.desk.look(name)
    except BadInput as error:
        raise RpcError(requests.NO_TASK, str(error)) from None


# Following a task ---------------------------------------------------------------------------------


async def _told(
    message: RpcMessage, asked: _Asked, first: AgentTaskView, since: int
) -> AsyncGenerator[JsonMap, None]:
    """Yield the task, then each change, until it rests."""
    yield rpc.result(message.id, {"task": shapes.task(first)})
    if first.task.ended:
        return
    try:
        async with aclosing(_seen(asked, first, since)) as following:
            async for seen in following:
                for update in _updates(seen):
                    yield rpc.result(message.id, update)
                if shapes.rests(seen):
                    return
    except Exception as error:  # noqa: BLE001 - the stream ends with why
        yield rpc.error(message.id, rpc.fault_of(error, _CODES))


def _updates(seen: AgentTaskView) -> list[JsonMap]:
    whose: JsonMap = {"taskId": seen.task.id, "contextId": seen.task.session_id}
    status: JsonMap = {"statusUpdate": {**whose, "status": shapes.status(seen)}}
    made = shapes.artifact(seen)
    if made is None:
        return [status]
    return [{"artifactUpdate": {**whose, "artifact": made, "lastChunk": True}}, status]


async def _seen(
    asked: _Asked, before: AgentTaskView, since: int
) -> AsyncGenerator[AgentTaskView, None]:
    """Yield the task each time its state changes."""
    was = shapes.state(before), before.sentence
    async for page in asked.journal.pages(since):
        if not any(event.task_id == before.task.id for event in page):
            continue
        seen = await asked.desk.look(before.task.id)
        if (shapes.state(seen), seen.sentence) != was:
            was = shapes.state(seen), seen.sentence
            yield seen


_Does: TypeAlias = Callable[[_Asked], Awaitable[JsonMap]]
_ANSWERED: Final[Mapping[str, _Does]] = {
    "SendMessage": _send,
    "GetTask": _get,
    "ListTasks": _list,
    "CancelTask": _cancel,
    "CreateTaskPushNotificationConfig": _no_push,
    "GetTaskPushNotificationConfig": _no_push,
    "ListTaskPushNotificationConfigs": _no_push,
    "DeleteTaskPushNotificationConfig": _no_push,
    "GetExtendedAgentCard": _no_more_card,
}
_FOLLOWED: Final[Mapping[str, Callable[[_Asked], Awaitable[AgentTaskView]]]] = {
    "SendStreamingMessage": _entrust,
    "SubscribeToTask": _subscribe,
}
