"""Live updates over sockets, and the route that says what a message became.

One journal follower feeds every socket and waits for none for long.
"""

import asyncio
import resource
import sys
from typing import Final

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from remit.model.caller import Caller, Scope
from remit.model.run import Event
from remit.operations.callers import CallerRegistry
from remit.server import news, problem
from remit.server.live_connection import OVERLOADED, PAGE, SIGNED_OUT, TROUBLE, LiveConnection
from remit.server.news import EventMessages
from remit.server.problem import Problem
from remit.wiring import App

PATH: Final = "/ws"
NEWS_LOOP: Final = "live updates"
COUNTS_LOOP: Final = "live counts"
MOST_CONNECTIONS: Final = 300
MOST_OF_ONE_CALLER: Final = 150  # with the same token or session
_CHUNK: Final = 64  # messages handed out before the sockets may send
_GRACE_SECONDS: Final = 0.005  # seconds
_COUNT_EVERY: Final = 0.5


class LiveConnections:
    """The live sockets. The journal follower runs while there is at least one."""

    def __init__(self, app: App, callers: CallerRegistry) -> None:
        self.seq = 0
        self._app = app
        self._connections: set[LiveConnection] = set()
        self._counts_due = asyncio.Event()
        self._begun = asyncio.Event()
        callers.on_gone(self._sign_out)

    @property
    def route(self) -> WebSocketRoute:
        return WebSocketRoute(PATH, self.answer)

    @property
    def connections(self) -> frozenset[LiveConnection]:
        return frozenset(self._connections)

    async def answer(self, socket: WebSocket) -> None:
        """Serve a socket that passed the guard."""
        caller: Caller = socket.scope["caller"]
        if not caller.may(Scope.READ):
            sentence = f"{caller.name} may not listen: it needs the scope `read`."
            await socket.send_denial_response(problem.response(Problem("forbidden", sentence)))
            return
        await socket.accept()
        connection = LiveConnection(socket, self, socket.scope["key"], self._app.clock.now)
        refusal = self._refusal(connection.key)
        if refusal:
            await socket.close(OVERLOADED, refusal)
            return
        self._connections.add(connection)
        try:
            await self._follow_along()
            await connection.run(socket.scope["until"])
        finally:
            self._connections.discard(connection)
            if not self._connections:
                await self._app.background.stop(NEWS_LOOP, COUNTS_LOOP)

    def _refusal(self, key: str) -> str:
        """Return why one more may not listen; a few tokens cannot shut out the owner's pages."""
        if sum(connection.key == key for connection in self._connections) >= MOST_OF_ONE_CALLER:
            return f"{MOST_OF_ONE_CALLER} listen with this token already; close one of them."
        if len(self._connections) >= min(MOST_CONNECTIONS, _descriptors() // 4):
            return f"{len(self._connections)} listen already; come back later."
        return ""

    # What a connection asks ----------------------------------------------------------------------

    async def last(self) -> int:
        return await self._app.journal.last()

    async def page(self, since: int) -> list[EventMessages]:
        return await self._app.db.read(news.page, since, PAGE)

    def count_soon(self) -> None:
        self._counts_due.set()

    # Telling all --------------------------------------------------------------------------------

    async def _follow_along(self) -> None:
        loops = self._app.background
        if not loops.has(NEWS_LOOP):
            self._begun = asyncio.Event()
        loops.start(NEWS_LOOP, self._follow_journal)
        loops.start(COUNTS_LOOP, self._tally)
        await self._begun.wait()

    async def _follow_journal(self) -> None:
        try:
            await self._follow()
        except Exception:
            # The clients reconnect, and the follower starts again; a new one waits meanwhile.
            for connection in tuple(self._connections):
                connection.end(TROUBLE, "The journal cannot be read just now; come back.")
            begun, self._begun = self._begun, asyncio.Event()
            begun.set()
            raise

    async def _follow(self) -> None:
        if not self._begun.is_set():  # otherwise the sockets continue where they are
            self.seq = await self.last()
            self._begun.set()
        async for page in self._app.journal.pages(self.seq):
            for start in range(0, len(page), PAGE):
                await self._hand_out(page[start : start + PAGE])
            self._counts_due.set()

    async def _hand_out(self, found: list[Event]) -> None:
        handed = 0
        for messages in await self._app.db.read(news.event_messages, found):
            self.seq = messages.seq
            for connection in tuple(self._connections):
                connection.offer(messages)
            handed += len(messages.texts)
            if handed >= _CHUNK:
                handed = 0
                await self._let_send()

    async def _let_send(self) -> None:
        """Let the sockets send. A half-full one is waited for, but only a few times."""
        await asyncio.sleep(0)
        while late := [connection for connection in self._connections if connection.is_late]:
            for connection in late:
                connection.grace_polls -= 1
            await asyncio.sleep(_GRACE_SECONDS)

    async def _tally(self) -> None:
        while True:
            await self._counts_due.wait()
            self._counts_due.clear()
            if any(connection.counted for connection in self._connections):
                text = await self._app.db.read(news.counts, self._app.clock.now())
                for connection in tuple(self._connections):
                    if connection.counted:
                        connection.count(text)
            await asyncio.sleep(_COUNT_EVERY)

    def _sign_out(self, key: str) -> None:
        for connection in tuple(self._connections):
            if connection.key == key:
                connection.end(SIGNED_OUT, "You are signed out.")


def _descriptors() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft
