"""One live socket: its subscription, its place, and its bounded queue."""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, Protocol

from msgspec import Struct
from starlette.websockets import WebSocket, WebSocketDisconnect

from remit.errors import BadInput
from remit.model import ids
from remit.model.codec import Json
from remit.model.ids import TaskId
from remit.server import news
from remit.server.news import EventMessages

MOST_QUEUED: Final = 256  # messages
MOST_BYTES: Final = 1 << 20
MOST_BEHIND: Final = 5_000  # events that are replayed one by one
MOST_TASKS: Final = 200
PAGE: Final = 50  # events held for a socket that catches up
_LARGEST: Final = 16_000  # characters of a client's message
_MOST_MESSAGES: Final = 30  # messages of a client per minute
_MINUTE: Final = timedelta(minutes=1)
_PATIENCE: Final = 10.0  # seconds for one message to be sent, and for the close
_GRACE_POLLS: Final = 20
_REASON: Final = 120  # bytes of a close reason

POLICY, OVERLOADED, TROUBLE, SIGNED_OUT = 1008, 1013, 1011, 4401
_SLOW: Final = "You read too slowly; come back with `since`."
_EVERYTHING: Final = "*"


class Subscription(Struct, frozen=True):
    """What a client subscribed to."""

    wanted: frozenset[str] | None  # tasks, or `*`; None keeps the current ones
    since: int | None
    counts: bool | None


class EventSource(Protocol):
    """Where a socket gets events from."""

    seq: int  # the last event sent to all

    async def last(self) -> int: ...

    async def page(self, since: int) -> list[EventMessages]: ...

    def count_soon(self) -> None: ...


class LiveConnection:
    """One bounded socket: a client that does not keep up must reconnect."""

    def __init__(
        self, socket: WebSocket, source: EventSource, key: str, now: Callable[[], datetime]
    ) -> None:
        self.key = key
        self.counted = False
        self.grace_polls = _GRACE_POLLS  # how often the others still wait a moment for this one
        self._socket = socket
        self._source = source
        self._now = now
        self._wanted: frozenset[str] = frozenset()
        self._subscription: Subscription | None = None
        self._at: int | None = None  # sent or queued up to here
        self._live = False
        self._queue: deque[EventMessages] = deque()
        self._count = self._size = 0
        self._counts: str | None = None
        self._said_at: deque[datetime] = deque(maxlen=_MOST_MESSAGES)
        self._changed = asyncio.Event()
        self._ended: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()

    # What others tell it ------------------------------------------------------------------------

    def offer(self, messages: EventMessages) -> None:
        """Take an event, if it is subscribed and new; too many end the connection."""
        if not self._live or self._at is None or messages.seq <= self._at:
            return
        self._at = messages.seq
        if not self._wants(messages):
            return
        count, size = self._count + len(messages.texts), self._size + messages.size
        if self._queue and (count > MOST_QUEUED or size > MOST_BYTES):
            self.end(OVERLOADED, _SLOW)
            return
        self._queue.append(messages)
        self._count, self._size = count, size
        self._changed.set()

    def count(self, text: str) -> None:
        """Keep only the newest counts."""
        self._counts = text
        self._changed.set()

    def end(self, code: int, sentence: str) -> None:
        """Close the connection; queued messages are dropped at once."""
        self._live = False
        self._drop_queue()
        if not self._ended.done():
            self._ended.set_result((code, sentence))

    @property
    def queued(self) -> tuple[int, int]:
        """Queued messages and bytes."""
        return self._count, self._size

    @property
    def over(self) -> bool:
        return self._ended.done()

    @property
    def is_late(self) -> bool:
        return self.grace_polls > 0 and 2 * self._count > MOST_QUEUED

    # Its own life -------------------------------------------------------------------------------

    async def run(self, until: datetime | None) -> None:
        """Send and receive until one of both ends, or the session expires."""
        left = None if until is None else (until - self._now()).total_seconds()
        both = [asyncio.create_task(self._send_all()), asyncio.create_task(self._receive())]
        ends: set[asyncio.Future[None] | asyncio.Future[tuple[int, str]]] = {*both, self._ended}
        try:
            await asyncio.wait(ends, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in both:
                each.cancel()
            found = await asyncio.gather(*both, return_exceptions=True)
        if not any(isinstance(each, WebSocketDisconnect) for each in found):
            await self._close(found)

    async def _close(self, found: "list[BaseException | None]") -> None:
        if any(isinstance(each, TimeoutError) for each in found):
            self.end(OVERLOADED, _SLOW)
        if any(isinstance(each, Exception) for each in found):
            self.end(TROUBLE, "Remit cannot tell what happens just now; come back.")
        self.end(SIGNED_OUT, "You are signed out.")  # if nothing else was said before
        code, sentence = self._ended.result()
        reason = sentence.encode()[:_REASON].decode(errors="ignore")
        with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
            async with asyncio.timeout(_PATIENCE):
                await self._socket.close(code, reason)

    async def _receive(self) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message["code"])
            try:
                subscription = self._read(message.get("text"))
            except BadInput as bad:
                self.end(POLICY, str(bad))
                return
            self._subscription = subscription
            self._changed.set()

    def _read(self, text: str | None) -> Subscription:
        now = self._now()
        if len(self._said_at) == _MOST_MESSAGES and now - self._said_at[0] < _MINUTE:
            raise BadInput(f"Say at most {_MOST_MESSAGES} things a minute.")
        self._said_at.append(now)
        subscription = read(text)
        # A subscription sent a moment ago and not applied yet still counts.
        before = self._subscription
        if before is None or subscription.wanted is not None:
            return subscription
        counts = before.counts if subscription.counts is None else subscription.counts
        return Subscription(before.wanted, before.since, counts)

    async def _send_all(self) -> None:
        while True:
            self._changed.clear()
            if self._subscription is not None:
                subscription, self._subscription = self._subscription, None
                await self._begin(subscription)
            elif self._counts is not None:
                text, self._counts = self._counts, None
                await self._send(text)
            elif self._at is not None and not self._live:
                await self._catch_up(self._at)
            elif self._queue:
                await self._tell(self._queue[0])
            else:
                await self._changed.wait()

    async def _begin(self, subscription: Subscription) -> None:
        if subscription.counts is not None:
            self.counted = subscription.counts
            self._source.count_soon()
        if subscription.wanted is None:
            return
        self._wanted = subscription.wanted
        if subscription.since is None and self._at is not None:
            await self._send(news.plain("subscribed", self._at))
            return
        self._live = False
        self._drop_queue()
        last = await self._source.last()
        near = subscription.since is not None and 0 <= last - subscription.since <= MOST_BEHIND
        self._at = subscription.since if subscription.since is not None and near else last
        is_new = subscription.since is None or near
        await self._send(news.plain("subscribed" if is_new else "resync", self._at))

    async def _catch_up(self, at: int) -> None:
        """Send what was missed, page by page; then join the live stream."""
        for messages in await self._source.page(at):
            if self._subscription is not None:
                return
            if self._wants(messages):
                for text in messages.texts:
                    await self._send(text)
            self._at = at = messages.seq
        # No await in between: no event can come between the check and joining.
        self._live = at >= self._source.seq

    async def _tell(self, messages: EventMessages) -> None:
        for text in messages.texts:
            await self._send(text)
        if self._queue and self._queue[0] is messages:  # it may have been dropped meanwhile
            self._queue.popleft()
            self._count -= len(messages.texts)
            self._size -= messages.size
        if not self._queue:
            self.grace_polls = _GRACE_POLLS

    async def _send(self, text: str) -> None:
        async with asyncio.timeout(_PATIENCE):
            await self._socket.send_text(text)

    def _wants(self, messages: EventMessages) -> bool:
        return _EVERYTHING in self._wanted or messages.task_id in self._wanted

    def _drop_queue(self) -> None:
        self._queue.clear()
        self._count = self._size = 0


def read(text: str | None) -> Subscription:
    """Parse a client's message as a subscription."""
    if text is None or len(text) > _LARGEST:
        raise BadInput(f"Send JSON as text, up to {_LARGEST} letters.")
    try:
        content: Json = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise BadInput('Send a JSON object: {"subscribe": ["*"], "since": 0}.')
    if strange := sorted(content.keys() - {"subscribe", "since", "counts"}):
        raise BadInput(f"{strange[0]!r:.40} is not known; subscribe, since and counts are.")
    return Subscription(
        _tasks(content.get("subscribe")), _since(content.get("since")), _flag(content.get("counts"))
    )


def _tasks(content: Json) -> frozenset[str] | None:
    if content is None:
        return None
    if not isinstance(content, list) or len(content) > MOST_TASKS:
        raise BadInput(f'subscribe is a list of up to {MOST_TASKS} task ids, or ["*"].')
    return frozenset(_task(each) for each in content)


def _task(content: Json) -> str | TaskId:
    if content == _EVERYTHING:
        return _EVERYTHING
    try:
        return ids.task_id(content if isinstance(content, str) else "")
    except BadInput:
        raise BadInput(f"subscribe names {content!r:.40}, which is no task id.") from None


def _since(content: Json) -> int | None:
    if content is None:
        return None
    if not isinstance(content, int) or isinstance(content, bool) or content < 0:
        raise BadInput("since is the seq of an event: a whole number from 0.")
    return content


def _flag(content: Json) -> bool | None:
    if content is not None and not isinstance(content, bool):
        raise BadInput("counts is true or false.")
    return content
