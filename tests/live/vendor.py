"""A model vendor on loopback: speaks three protocols, streams or not, and fails on order.

    async with Vendor() as vendor:
        vendor.orders = [Order(status=429), Order(Answer("Good day."))]   # the last one repeats
        …
        assert len(vendor.heard) == 2

Real HTTP over a real socket, so that retries, time-outs and cancellations are the real ones too.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count

from tests.live import wire
from tests.live.loopback import Listener, head_of, read_head, reset
from tests.live.wire import Answer, Api, Json, Tag


@dataclass(frozen=True, slots=True)
class Order:
    """What the vendor does with one request."""

    answer: Answer = field(default_factory=Answer)
    status: int = 200
    kind: str = "server_error"  # of an error, as the vendor calls it
    message: str = "Something went wrong."
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None  # these bytes instead of an answer
    wait: float = 0  # seconds before the first byte
    pace: float = 0  # seconds between two pieces of a stream
    until: asyncio.Event | None = None  # nothing, or half a stream, comes before this is set
    reset_after: int | None = None  # pieces, or halves of a body, after which the socket is reset


@dataclass(slots=True)
class Heard:
    """A request, as it came in."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Json]
    left: asyncio.Event = field(default_factory=asyncio.Event)  # the client disconnected early

    @property
    def api(self) -> Api:
        return Api(self.path.partition("?")[0])

    @property
    def streams(self) -> bool:
        return self.body.get("stream") is True

    @property
    def text(self) -> str:
        """The whole prompt, as one text."""
        return json.dumps(self.body, ensure_ascii=False)


class Vendor(Listener):
    def __init__(self) -> None:
        self.orders: list[Order] = [Order(Answer("Good day."))]
        self.decide: Callable[[Heard], Order] | None = None  # instead of orders
        self.heard: list[Heard] = []
        self._numbers = count(1)
        self._news = asyncio.Event()

    @property
    def url(self) -> str:
        return self.root

    async def until(self, requests: int) -> None:
        """Wait for this many requests."""
        while len(self.heard) < requests:
            self._news.clear()
            await self._news.wait()

    # Beneath ------------------------------------------------------------------------------------

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await self._one(reader, writer):
            pass

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; true if the connection stays open for the next."""
        heard = await _read(reader)
        self.heard.append(heard)
        self._news.set()
        order = self._order(heard)
        tag = Tag(next(self._numbers), str(heard.body.get("model")))
        answering = asyncio.create_task(_answer(writer, heard, order, tag))
        leaving = asyncio.create_task(reader.read(1))
        try:
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                heard.left.set()
                return False
            await answering
            return order.reset_after is None
        finally:
            for task in (answering, leaving):
                task.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)

    def _order(self, heard: Heard) -> Order:
        if self.decide is not None:
            return self.decide(heard)
        return self.orders.pop(0) if len(self.orders) > 1 else self.orders[0]


async def _read(reader: asyncio.StreamReader) -> Heard:
    head = await read_head(reader)
    body = await reader.readexactly(head.length)
    return Heard(head.path, head.headers, json.loads(body or b"{}"))


async def _answer(writer: asyncio.StreamWriter, heard: Heard, order: Order, tag: Tag) -> None:
    if order.wait:
        await asyncio.sleep(order.wait)
    if order.until and not heard.streams:
        await order.until.wait()
    if order.status != 200:
        body = order.body or wire.complaint(heard.api, order.kind, order.message)
        await _send(writer, order, "application/json", body)
    elif order.body is not None:
        kind = "text/event-stream" if heard.streams else "application/json"
        await _send(writer, order, kind, order.body)
    elif heard.streams:
        await _stream(writer, order, wire.pieces(heard.api, order.answer, tag))
    else:
        await _send(writer, order, "application/json", wire.whole(heard.api, order.answer, tag))


async def _send(writer: asyncio.StreamWriter, order: Order, kind: str, body: bytes) -> None:
    writer.write(_head(order, {"content-type": kind, "content-length": str(len(body))}))
    if order.reset_after is not None:
        writer.write(body[: len(body) // 2])
        await _reset(writer)
        return
    writer.write(body)
    await writer.drain()


async def _stream(writer: asyncio.StreamWriter, order: Order, pieces: Iterable[bytes]) -> None:
    writer.write(
        _head(order, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
    )
    whole = list(pieces)
    for sent, piece in enumerate(whole):
        if order.until and sent == len(whole) // 2:
            await order.until.wait()
        if sent == order.reset_after:
            await _reset(writer)
            return
        writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await writer.drain()
        await asyncio.sleep(order.pace)
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def _reset(writer: asyncio.StreamWriter) -> None:
    """Reset the connection, as a crashed server does."""
    await writer.drain()
    await asyncio.sleep(0.05)  # let the client read what was sent
    reset(writer)


def _head(order: Order, headers: Mapping[str, str]) -> bytes:
    return head_of(order.status, {**headers, **order.headers})
