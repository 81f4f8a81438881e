"""Limits connections: how many there are, and how long each may take.

Without these limits any program on this machine could open idle connections and use up the file
descriptors that the store, the engine and the channels need.
"""

import asyncio
import resource
from contextlib import suppress
from typing import ClassVar, Final

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

HEAD_SECONDS: Final = 10.0  # for the header of a request
BODY_SECONDS: Final = 60.0  # for its body
STALLED_SECONDS: Final = 60.0  # for a client to read what was sent
KEEP_ALIVE_SECONDS: Final = 5  # between two requests
BACKLOG: Final = 32  # connections accepted at once, before any limit applies
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


class Connection(H11Protocol):
    """An HTTP connection that is closed if its client takes too long.

    One too many replaces the one that has been silent the longest.
    """

    limit: ClassVar[int] = MAX_CONNECTIONS
    _timer: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None
    _stage: str | None = None
    _since = 0.0  # by the loop's clock

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
        self._watch()

    def on_response_complete(self) -> None:
        self._stage = None  # the next request has its own time
        super().on_response_complete()
        self._watch()

    def handle_websocket_upgrade(self, event: object) -> None:
        self._unwatch()
        self._stage = "upgraded"
        super().handle_websocket_upgrade(event)  # type: ignore[arg-type] # as it was given

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
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request
        return cycle is None or cycle.response_complete

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
        others = (each for each in self.connections if isinstance(each, Connection))
        silent = [each for each in others if each is not self and each.is_silent]
        oldest = min(silent, key=lambda each: each._since, default=self)  # noqa: SLF001 - a sister
        self.connections.discard(oldest)  # at once: many may come before it is closed
        oldest.transport.abort()


def limited(limit: int) -> type[Connection]:
    """Return a connection class with this limit."""
    return type("LimitedConnection", (Connection,), {"limit": limit})
