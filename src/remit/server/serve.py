"""Runs the HTTP server on 127.0.0.1 until cancelled."""

import asyncio
import errno
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn

from remit.errors import BadInput
from remit.server import files, shapes, static
from remit.server.app import build
from remit.server.bounded_socket import LARGEST, PING_EVERY, BoundedWebSocket
from remit.server.connections import BACKLOG, KEEP_ALIVE_SECONDS, connection_limit, limited
from remit.server.files import HOST, pages_url, token_of
from remit.server.web import env
from remit.wiring import App

__all__ = ["HOST", "pages_url", "serve", "token_of"]

_GRACE: Final = 5  # seconds for running requests at shutdown


async def serve(
    house: App,
    *,
    port: int,
    debug: bool,
    token: str,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Answer requests until cancelled; then let running ones finish.

    Port 0 picks a free one. `ready` gets the URL once the server listens.
    """
    home = house.settings.home
    load()
    with _listening(port) as listener:
        port = listener.getsockname()[1]
        url = f"http://{HOST}:{port}"

        def tell() -> None:
            files.announce(home, url)
            if ready is not None:
                ready(url)

        server = _Server(_config(house, token, debug=debug, port=port), tell)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await asyncio.shield(running)
        finally:
            files.withdraw(home)
            server.should_exit = True
            await running


def load() -> None:
    """Load all files that are shown or sent; see `wiring.preload`."""
    static.files()
    env.templates()
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
        self._tell()


def _config(house: App, token: str, *, debug: bool, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        build(house, token, debug=debug, port=port),
        http=limited(connection_limit()),
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
def _listening(port: int) -> Iterator[socket.socket]:
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
