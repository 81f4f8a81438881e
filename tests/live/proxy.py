"""A line to a port that is watched byte for byte, and a signal to a process at the right one.

    async with Watched(port_behind) as line:
        line.victim, line.trap = process.pid, Trap(before(b"HTTP/1.1 200"), up=False)

What a process has written and what it has read is known here, outside of it: so it can be killed,
or stopped, with half of its request on the way, or with the answer on its way back.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from signal import SIGKILL, Signals
from types import TracebackType
from typing import Final, Self, TypeAlias

HOST: Final = "127.0.0.1"

# How many bytes of all that went one way may pass before the signal; None: it is not time yet.
Spot: TypeAlias = Callable[[bytes], int | None]


@dataclass(frozen=True, slots=True)
class Trap:
    """Where on the line, on which way, and with what signal."""

    spot: Spot
    up: bool
    signal: Signals = SIGKILL


def half_of(body: bytes) -> Spot:
    """Half-way between the beginning and the end of some bytes."""
    return lambda said: said.index(body) + len(body) // 2 if body in said else None


def before(word: bytes) -> Spot:
    """As soon as a word is on its way, before any byte of it has passed."""
    return lambda said: said.index(word) if word in said else None


@dataclass
class Watched:
    """The line. A trap springs once."""

    port_behind: int
    victim: int = 0
    trap: Trap | None = None
    sprung: asyncio.Event = field(default_factory=asyncio.Event)
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)
    _busy: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._welcome, HOST, 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in tuple(self._busy):
            task.cancel()
        await asyncio.gather(*self._busy, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()
        await self._server.wait_closed()

    @property
    def port(self) -> int:
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _welcome(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        far, on = await asyncio.open_connection(HOST, self.port_behind)
        self._writers += [back, on]
        for pump in (self._pump(near, on, up=True), self._pump(far, back, up=False)):
            task = asyncio.create_task(pump)
            self._busy.add(task)
            task.add_done_callback(self._busy.discard)

    async def _pump(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, up: bool
    ) -> None:
        said = b""
        with suppress(OSError):
            while piece := await source.read(65_536):
                passed = len(said)
                said += piece
                stop = self._springs(said, up=up)
                if stop is not None:
                    target.write(said[passed : max(passed, stop)])
                    await target.drain()
                    if self._snap() is SIGKILL:
                        break  # what it had not said yet it never will
                    passed = max(passed, stop)
                target.write(said[passed:])
                await target.drain()
            target.close()

    def _springs(self, said: bytes, *, up: bool) -> int | None:
        if self.trap is None or self.trap.up is not up:
            return None
        return self.trap.spot(said)

    def _snap(self) -> Signals | None:
        trap, self.trap = self.trap, None
        if trap is None:
            return None
        os.kill(self.victim, trap.signal)
        self.sprung.set()
        return trap.signal
