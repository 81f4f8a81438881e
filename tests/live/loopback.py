"""The base of every test server: a port on loopback, and an end that waits for nobody.

class Echo(Listener):
    async def serve(self, reader, writer): …

async with Echo() as echo:
    … echo.port …
"""

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from types import TracebackType
from typing import Final, NamedTuple, Self, TypeVar

T = TypeVar("T")

HOST: Final = "127.0.0.1"
LIMIT_SECONDS: Final = 100.0  # against a hang: a busy machine is slow, not wrong


class Listener:
    """Serves each client in its own task; all end with the server."""

    tls: ssl.SSLContext | None = None
    _server: asyncio.Server
    _busy: set[asyncio.Task[None]]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle one connection, which is closed afterwards."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        self._busy = set()
        self._server = await asyncio.start_server(self._welcome, HOST, 0, ssl=self.tls)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        await asyncio.sleep(0)  # a connection that was just accepted gets its task now
        while busy := list(self._busy):
            for task in busy:
                task.cancel()
            await asyncio.gather(*busy, return_exceptions=True)
            await asyncio.sleep(0)
        await self._server.wait_closed()

    @property
    def port(self) -> int:
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def narrow(self) -> None:
        """Shrink the system's buffers: otherwise a letter may fit into them."""
        self._server.sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)

    @property
    def root(self) -> str:
        return f"http://{HOST}:{self.port}"

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._served(reader, writer))
        self._busy.add(task)
        task.add_done_callback(self._busy.discard)
        # Also for a task that is cancelled before it begins.
        task.add_done_callback(lambda _: writer.transport.abort())

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, asyncio.IncompleteReadError, ValueError):
                await self.serve(reader, writer)
        except asyncio.CancelledError:
            writer.transport.abort()
            raise
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


class FunctionListener(Listener):
    """Serves each client with a function."""

    def __init__(
        self,
        answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._answer = answer
        self.tls = tls

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._answer(reader, writer)


class ServerThread:
    """Servers on an event loop in a thread of its own; what they hold may be read from outside."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._stack = AsyncExitStack()

    async def open(self) -> None:
        """Enter the servers, by `entered`."""

    async def entered(self, server: AbstractAsyncContextManager[T]) -> T:
        return await self._stack.enter_async_context(server)

    def __enter__(self) -> Self:
        self._thread.start()
        self.do(self.open())
        return self

    def __exit__(self, *_: object) -> None:
        self.do(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def do(self, work: Coroutine[object, object, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(LIMIT_SECONDS)


class Head(NamedTuple):
    """The header of a request."""

    method: str
    path: str
    headers: dict[str, str]

    @property
    def length(self) -> int:
        return int(self.headers.get("content-length", "0"))


async def read_head(reader: asyncio.StreamReader) -> Head:
    """Read a request without its body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    request, *lines = head.strip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    method, path, _ = request.split(" ")
    return Head(method, path, {name.strip().lower(): value.strip() for name, _, value in pairs})


def head_of(status: int, headers: dict[str, str]) -> bytes:
    """Return the header of an answer."""
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {told}" for name, told in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def reset(writer: asyncio.StreamWriter) -> None:
    """Reset the connection, as a crashed machine does."""
    plug = writer.get_extra_info("socket")
    if plug is not None:
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
