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
MOST_BEHIND: Final = 5_000  # events that are told again one by one
MOST_TASKS: Final = 200
PAGE: Final = 50  # events that are held for a socket which catches up
_LARGEST: Final = 16_000  # letters of what a client says
_MOST_SAID: Final = 30  # messages of a client within a minute
_MINUTE: Final = timedelta(minutes=1)
_PATIENCE: Final = 10.0  # seconds for one message to be taken, and for a farewell
_BREATHS: Final = 20
_REASON: Final = 120  # bytes that a farewell has room for

POLICY, OVERLOADED, TROUBLE, SIGNED_OUT = 1008, 1013, 1011, 4401
_SLOW: Final = "You read too slowly; come back with `since`."
_EVERYTHING: Final = "*"


class Subscription(Struct, frozen=True):
    """What a client asked for."""

    wanted: frozenset[str] | None  # tasks, or `*`; None leaves it as it is
    since: int | None
    counts: bool | None


class EventSource(Protocol):
    """Where a socket hears from."""

    seq: int  # the last event that was told to all

    async def last(self) -> int: ...

    async def page(self, since: int) -> list[EventMessages]: ...

    def count_soon(self) -> None: ...


class LiveConnection:
    """A socket, bounded: who does not keep up is told to come back, and nothing is kept for him."""

    def __init__(
        self, socket: WebSocket, source: EventSource, key: str, now: Callable[[], datetime]
    ) -> None:
        self.key = key
        self.counted = False
        self.breaths = _BREATHS  # how often the others still wait a moment for this one
        self._socket = socket
        self._source = source
        self._now = now
        self._wanted: frozenset[str] = frozenset()
        self._wish: Subscription | None = None
        self._at: int | None = None  # told, or in the queue, up to here
        self._live = False
        self._queue: deque[EventMessages] = deque()
        self._count = self._size = 0
        self._counts: str | None = None
        self._said: deque[datetime] = deque(maxlen=_MOST_SAID)
        self._stir = asyncio.Event()
        self._ended: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()

    # What others tell it ------------------------------------------------------------------------

    def offer(self, told: EventMessages) -> None:
        """Take an event, if it is wanted and new here; too many of them end it."""
        if not self._live or self._at is None or told.seq <= self._at:
            return
        self._at = told.seq
        if not self._wants(told):
            return
        count, size = self._count + len(told.texts), self._size + told.size
        if self._queue and (count > MOST_QUEUED or size > MOST_BYTES):
            self.end(OVERLOADED, _SLOW)
            return
        self._queue.append(told)
        self._count, self._size = count, size
        self._stir.set()

    def count(self, text: str) -> None:
        """Only the newest numbers are worth telling."""
        self._counts = text
        self._stir.set()

    def end(self, code: int, sentence: str) -> None:
        """Say farewell; what waited is let go of at once."""
        self._live = False
        self._forget()
        if not self._ended.done():
            self._ended.set_result((code, sentence))

    @property
    def queued(self) -> tuple[int, int]:
        """Messages and bytes that wait."""
        return self._count, self._size

    @property
    def over(self) -> bool:
        return self._ended.done()

    @property
    def is_late(self) -> bool:
        return self.breaths > 0 and 2 * self._count > MOST_QUEUED

    # Its own life -------------------------------------------------------------------------------

    async def run(self, until: datetime | None) -> None:
        """Speak and listen until one of both ends, or what let it in has run out."""
        left = None if until is None else (until - self._now()).total_seconds()
        both = [asyncio.create_task(self._speak()), asyncio.create_task(self._hear())]
        ends: set[asyncio.Future[None] | asyncio.Future[tuple[int, str]]] = {*both, self._ended}
        try:
            await asyncio.wait(ends, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in both:
                each.cancel()
            found = await asyncio.gather(*both, return_exceptions=True)
        if not any(isinstance(each, WebSocketDisconnect) for each in found):
            await self._farewell(found)

    async def _farewell(self, found: "list[BaseException | None]") -> None:
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

    async def _hear(self) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message["code"])
            try:
                wish = self._read(message.get("text"))
            except BadInput as bad:
                self.end(POLICY, str(bad))
                return
            self._wish = wish
            self._stir.set()

    def _read(self, text: str | None) -> Subscription:
        now = self._now()
        if len(self._said) == _MOST_SAID and now - self._said[0] < _MINUTE:
            raise BadInput(f"Say at most {_MOST_SAID} things a minute.")
        self._said.append(now)
        wish = read(text)
        # What was said a moment ago and not yet heeded still counts.
        before = self._wish
        if before is None or wish.wanted is not None:
            return wish
        counts = before.counts if wish.counts is None else wish.counts
        return Subscription(before.wanted, before.since, counts)

    async def _speak(self) -> None:
        while True:
            self._stir.clear()
            if self._wish is not None:
                wish, self._wish = self._wish, None
                await self._begin(wish)
            elif self._counts is not None:
                text, self._counts = self._counts, None
                await self._send(text)
            elif self._at is not None and not self._live:
                await self._catch_up(self._at)
            elif self._queue:
                await self._tell(self._queue[0])
            else:
                await self._stir.wait()

    async def _begin(self, wish: Subscription) -> None:
        if wish.counts is not None:
            self.counted = wish.counts
            self._source.count_soon()
        if wish.wanted is None:
            return
        self._wanted = wish.wanted
        if wish.since is None and self._at is not None:
            await self._send(news.plain("subscribed", self._at))
            return
        self._live = False
        self._forget()
        last = await self._source.last()
        near = wish.since is not None and 0 <= last - wish.since <= MOST_BEHIND
        self._at = wish.since if wish.since is not None and near else last
        is_new = wish.since is None or near
        await self._send(news.plain("subscribed" if is_new else "resync", self._at))

    async def _catch_up(self, at: int) -> None:
        """Tell what was missed, a page at a time; then join those who hear it live."""
        for told in await self._source.page(at):
            if self._wish is not None:
                return
            if self._wants(told):
                for text in told.texts:
                    await self._send(text)
            self._at = at = told.seq
        # Nothing is awaited in between: no event can come after the look and before the joining.
        self._live = at >= self._source.seq

    async def _tell(self, told: EventMessages) -> None:
        for text in told.texts:
            await self._send(text)
        if self._queue and self._queue[0] is told:  # it may have been forgotten meanwhile
            self._queue.popleft()
            self._count -= len(told.texts)
            self._size -= told.size
        if not self._queue:
            self.breaths = _BREATHS

    async def _send(self, text: str) -> None:
        async with asyncio.timeout(_PATIENCE):
            await self._socket.send_text(text)

    def _wants(self, told: EventMessages) -> bool:
        return _EVERYTHING in self._wanted or told.task_id in self._wanted

    def _forget(self) -> None:
        self._queue.clear()
        self._count = self._size = 0


def read(text: str | None) -> Subscription:
    """What a client said, as a wish."""
    if text is None or len(text) > _LARGEST:
        raise BadInput(f"Send JSON as text, up to {_LARGEST} letters.")
    try:
        said: Json = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise BadInput('Send a JSON object: {"subscribe": ["*"], "since": 0}.')
    if strange := sorted(said.keys() - {"subscribe", "since", "counts"}):
        raise BadInput(f"{strange[0]!r:.40} is not known; subscribe, since and counts are.")
    return Subscription(
        _tasks(said.get("subscribe")), _since(said.get("since")), _flag(said.get("counts"))
    )


def _tasks(said: Json) -> frozenset[str] | None:
    if said is None:
        return None
    if not isinstance(said, list) or len(said) > MOST_TASKS:
        raise BadInput(f'subscribe is a list of up to {MOST_TASKS} task ids, or ["*"].')
    return frozenset(_task(each) for each in said)


def _task(said: Json) -> str | TaskId:
    if said == _EVERYTHING:
        return _EVERYTHING
    try:
        return ids.task_id(said if isinstance(said, str) else "")
    except BadInput:
        raise BadInput(f"subscribe names {said!r:.40}, which is no task id.") from None


def _since(said: Json) -> int | None:
    if said is None:
        return None
    if not isinstance(said, int) or isinstance(said, bool) or said < 0:
        raise BadInput("since is the seq of an event: a whole number from 0.")
    return said


def _flag(said: Json) -> bool | None:
    if said is not None and not isinstance(said, bool):
        raise BadInput("counts is true or false.")
    return said
