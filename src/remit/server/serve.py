"""Runs the HTTP server on 127.0.0.1 until cancelled, and limits its connections.

Without limits on number and time, any program on this machine could open idle connections and use
up the file descriptors that the store, the engine and the channels need. A WebSocket peer that no
longer reads is dropped.
"""

import asyncio
import errno
import os
import resource
import socket
from asyncio.transports import BaseTransport
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import ClassVar, Final
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from remit.errors import BadInput
from remit.server import files, shapes, static
from remit.server.app import build
from remit.server.files import HOST, pages_url, token_of
from remit.server.web import shell
from remit.settings import ServerSettings
from remit.wiring import App

try:  # in C, and several times faster than h11
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as HttpProtocol
except ImportError:  # there is no wheel for every system
    from uvicorn.protocols.http.h11_impl import (  # type: ignore[assignment]
        H11Protocol as HttpProtocol,
    )

HEAD_SECONDS: Final = 10.0  # for the header of a request
MAX_HEAD_BYTES: Final = 1 << 16  # of the header
BODY_SECONDS: Final = 60.0  # for its body
STALLED_SECONDS: Final = 60.0  # for a client to read what was sent
KEEP_ALIVE_SECONDS: Final = 5  # between two requests
BACKLOG: Final = 32  # connections accepted at once, before any limit applies
# Connections that wait to be accepted; one more would try again only after seconds, then longer.
MAX_WAITING: Final = 1_024
MAX_CONNECTIONS: Final = 1_000
_WANTED_DESCRIPTORS: Final = 8_192
_LEAST_RESERVE: Final = 100  # descriptors reserved for other uses


def connection_limit() -> int:
    """Return how many connections this process may have; raises the descriptor limit if it can."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = (
        _WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _WANTED_DESCRIPTORS)
    )
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    reserve = max(_LEAST_RESERVE, soft // 4) + BACKLOG
    return max(8, min(MAX_CONNECTIONS, soft - reserve))


class Connection(HttpProtocol):
    """An HTTP connection that is closed if its client takes too long, or its header is too long.

    One too many replaces the one that has been waited for the longest.
    """

    limit: ClassVar[int] = MAX_CONNECTIONS
    _timer: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None
    _stage: str | None = None
    _since = 0.0  # by the loop's clock
    _head_bytes: int | None = None  # of a header that has not ended

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()
        if len(self.connections) > self.limit:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unwatch()
        self.resume_writing()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head_bytes is not None:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("The header of the request is too long.")
        self._watch()

    def on_message_begin(self) -> None:
        self._head_bytes = 0  # httptools has no limit, h11 one of its own
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_bytes = None
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        self._stage = None  # the next request has its own time
        super().on_response_complete()
        self._watch()

    def handle_websocket_upgrade(self, *event: object) -> None:
        self._unwatch()
        self._stage = "upgraded"
        super().handle_websocket_upgrade(*event)  # h11 hands it over

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall = self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    @property
    def is_silent(self) -> bool:
        """Whether no request is in progress."""
        cycle: object = self.cycle  # None before the first request
        return cycle is None or self.cycle.response_complete

    def _watch(self) -> None:
        """Set the timer for what the client sends next, when that changes."""
        if self._stage == "upgraded":
            return
        stage = "head" if self.is_silent else "body" if self.cycle.more_body else "answer"
        if stage != self._stage:
            self._unwatch()
            self._stage, self._since = stage, self.loop.time()
            seconds = {"head": HEAD_SECONDS, "body": BODY_SECONDS}.get(stage)
            if seconds is not None and not self.transport.is_closing():
                self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _make_room(self) -> None:
        """Cut off the oldest that is silent; if none is, the oldest that still sends its body."""
        others = [each for each in self.connections if isinstance(each, Connection)]
        others = [each for each in others if each is not self]
        silent = [each for each in others if each.is_silent]
        waited_for = silent or [each for each in others if each._stage == "body"]  # noqa: SLF001
        oldest = min(waited_for, key=lambda each: each._since, default=self)  # noqa: SLF001 - a sister
        self.connections.discard(oldest)  # at once: many may come before it is closed
        oldest.transport.abort()


def limited_connection(limit: int) -> type[Connection]:
    """Return a connection class with this limit."""
    return type("LimitedConnection", (Connection,), {"limit": limit})


PING_EVERY: Final = 20.0  # seconds, and as many for the answer
LARGEST: Final = 1 << 16  # bytes of a client's message
_SEND_BUFFER: Final = 1 << 16
_CONNECTIONS_GRACE: Final = 10.0  # seconds to read the rest after the end
_GRACE_AT_STOP: Final = 1.0


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """Cuts off a stalled peer: a transport closes only after everything was sent."""

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self._socket = transport.get_extra_info("socket")
        if self._socket is not None:
            # Data the system would buffer for a slow reader is kept by us.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)

    async def run_asgi(self) -> None:
        try:
            await super().run_asgi()
        finally:
            self._let_go(_CONNECTIONS_GRACE)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._let_go(0)

    def shutdown(self) -> None:
        """Tell the client that the server ends, unless it is leaving itself."""
        if self.handshake_complete and self.conn.state is not State.OPEN:
            self._cut_off()
            return
        super().shutdown()
        self._let_go(_GRACE_AT_STOP)

    def _let_go(self, after: float) -> None:
        asyncio.get_running_loop().call_later(after, self._cut_off)

    def _cut_off(self) -> None:
        """End the connection at once; under TLS, `abort` does nothing after `close` came twice."""
        self.transport.abort()
        if self._socket is not None:
            with suppress(OSError):  # it has ended already
                self._socket.shutdown(socket.SHUT_RDWR)


__all__ = ["HOST", "listening", "pages_url", "serve", "token_of"]

_HTTPS_PORT: Final = 443
_GRACE: Final = 5  # seconds for running requests at shutdown


async def serve(
    app: App,
    *,
    port: int = 0,
    listener: socket.socket | None = None,
    debug: bool,
    token: str,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Answer requests until cancelled; then let running ones finish.

    A given socket stays open: whoever asks later is answered by the next server on it. Port 0
    picks a free one. `ready` gets the URL once the server listens.
    """
    load()
    with listening(port) if listener is None else nullcontext(listener) as found:
        port = found.getsockname()[1]
        url = f"http://{HOST}:{port}"

        def tell() -> None:
            files.announce(app.settings.home, url)
            if ready is not None:
                ready(url)

        site = build(app, token, debug=debug, port=port)
        chosen = app.settings.server
        with _tls_listener(chosen) as public:
            servers = [(_Server(_config(site), tell), found.dup())]
            if public is not None:
                tls = {"ssl_certfile": chosen.tls_cert, "ssl_keyfile": chosen.tls_key}
                servers.append((_Server(_config(site, **tls), lambda: None), public.dup()))
            await _run(servers, app.settings.home)


async def _run(servers: Sequence[tuple["_Server", socket.socket]], home: Path) -> None:
    tasks = [asyncio.create_task(each.serve(sockets=[at])) for each, at in servers]
    running = asyncio.gather(*tasks)
    try:
        await asyncio.shield(running)
    finally:
        files.withdraw(home)
        for each, _ in servers:
            each.should_exit = True
        await asyncio.wait(tasks)  # if one fails, the other must end, too
        for each, at in servers:  # one that did not come up leaves its socket open
            for opened in getattr(each, "servers", ()):
                opened.close()
            at.close()
        await running


@contextmanager
def _tls_listener(chosen: ServerSettings) -> Iterator[socket.socket | None]:
    """Listen on every address for `public_url`, if the certificate is here and not at a proxy."""
    if not chosen.tls_cert:
        yield None
        return
    for path in (chosen.tls_cert, chosen.tls_key):
        if not os.access(path, os.R_OK):
            raise BadInput(f"[server] {path} cannot be read; name a file in PEM form.")
    port = urlsplit(chosen.public_url).port or _HTTPS_PORT
    try:
        with socket.create_server(("", port), backlog=BACKLOG) as listener:
            yield listener
    except OSError as error:
        raise BadInput(_sentence(port, error), field="public_url") from None


def load() -> None:
    """Load all files that are shown or sent; see `wiring.preload`."""
    static.files()
    shell.templates()
    shapes.schemas()


class _Server(uvicorn.Server):
    """Uvicorn that leaves signals to the caller and reports when it listens."""

    def __init__(self, config: uvicorn.Config, tell: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell = tell

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(MAX_WAITING)  # the backlog is also how many asyncio accepts at once
        self._tell()


def _config(
    app: Starlette, ssl_certfile: str | None = None, ssl_keyfile: str | None = None
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        ssl_certfile=ssl_certfile,
        ssl_keyfile=ssl_keyfile,
        http=limited_connection(connection_limit()),
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        ws=BoundedWebSocket,
        ws_max_size=LARGEST,
        ws_ping_interval=PING_EVERY,
        ws_ping_timeout=PING_EVERY,
        ws_per_message_deflate=False,  # it would need a memory window per socket
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE,
    )


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """Open the socket; port 0 picks a free one."""
    # Only with the protocol named does asyncio set TCP_NODELAY; otherwise each answer waits 40 ms.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise BadInput(_sentence(port, error), field="port") from None
        yield listener


def _sentence(port: int, error: Exception) -> str:
    code = error.errno if isinstance(error, OSError) else None
    why = {
        errno.EADDRINUSE: "is taken by another program",
        errno.EACCES: "is for the administrator alone",
    }.get(code or 0, "is no port")
    return (
        f"Port {port} {why}. Choose another: --port, `port` under [server] in settings.toml,"
        " or REMIT_SERVER_PORT; or stop whatever holds it."
    )
