"""Uvicorn's WebSocket, which drops a peer that no longer reads."""

import asyncio
import socket
from asyncio.transports import BaseTransport
from typing import Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

PING_EVERY: Final = 20.0  # seconds, and as many for the answer
LARGEST: Final = 1 << 16  # bytes of a client's message
_SEND_BUFFER: Final = 1 << 16
_GRACE: Final = 10.0  # seconds to read the rest after the end
_GRACE_AT_STOP: Final = 1.0


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """Cuts off a stalled peer: a transport closes only after everything was sent."""

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        found = transport.get_extra_info("socket")
        if found is not None:
            # Data the system would buffer for a slow reader is kept by us.
            found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)

    async def run_asgi(self) -> None:
        try:
            await super().run_asgi()
        finally:
            self._let_go(_GRACE)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._let_go(0)

    def shutdown(self) -> None:
        super().shutdown()
        self._let_go(_GRACE_AT_STOP)

    def _let_go(self, after: float) -> None:
        asyncio.get_running_loop().call_later(after, self.transport.abort)
