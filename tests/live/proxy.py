"""A proxy to a port: it can be slow, cut, or watched for the byte at which a process is hit.

    async with Proxy(office.port, Fault(up=900)) as line:              # reset after 900 bytes
        …
    async with Proxy(port_behind, trap=Trap(before(b"HTTP/1.1 200"), up=False)) as line:
        line.victim.set_result(process.pid)

What a process has written and what it has read is known here, outside of it: so it can be killed,
or stopped, with half of its request on the way, or with the answer on its way back.
"""

import asyncio
import os
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from signal import SIGKILL, Signals
from typing import TypeAlias

from tests.live.loopback import HOST, Listener, reset

# How many bytes in one direction may pass; None: not yet.
Spot: TypeAlias = Callable[[bytes], int | None]


class Cut(Enum):
    RESET = auto()  # as of a machine that crashed
    SILENCE = auto()  # nothing passes any more, without notice


@dataclass(frozen=True, slots=True)
class Fault:
    """After this many bytes up (to the server) or down, the connection is cut."""

    up: int | None = None
    down: int | None = None
    how: Cut = Cut.RESET
    drip: bool = False  # one byte at a time, in both directions
    delay: float = 0  # seconds before each piece


@dataclass(frozen=True, slots=True)
class Trap:
    """Where, in which direction, and with what signal."""

    spot: Spot
    up: bool
    signal: Signals = SIGKILL


def half_of(body: bytes) -> Spot:
    """Half-way between the beginning and the end of some bytes."""
    return lambda said: said.index(body) + len(body) // 2 if body in said else None


def before(word: bytes) -> Spot:
    """As soon as a word is on its way, before any byte of it has passed."""
    return lambda said: said.index(word) if word in said else None


def _unknown() -> "asyncio.Future[int]":
    return asyncio.get_running_loop().create_future()


@dataclass
class Proxy(Listener):
    """The proxy. It counts the bytes it passed on; a trap triggers once."""

    port_behind: int
    fault: Fault = Fault()
    tls: ssl.SSLContext | None = None  # it terminates TLS, for a server without it
    trap: Trap | None = None
    # The process to hit; before that is known, nothing passes where the trap is.
    victim: "asyncio.Future[int]" = field(default_factory=_unknown)
    sprung: asyncio.Event = field(default_factory=asyncio.Event)
    up: int = 0
    down: int = 0
    said: bytearray = field(default_factory=bytearray)  # what the server said through it
    connections: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if 0 in (self.fault.up, self.fault.down):
            await self._cut(writer)
            return
        far, on = await asyncio.open_connection(HOST, self.port_behind)
        try:
            await asyncio.gather(
                self._pump(reader, on, writer, up=True), self._pump(far, writer, on, up=False)
            )
        finally:
            on.transport.abort()
            with suppress(OSError):
                await on.wait_closed()

    async def _pump(
        self,
        source: asyncio.StreamReader,
        target: asyncio.StreamWriter,
        other: asyncio.StreamWriter,
        *,
        up: bool,
    ) -> None:
        heard = b""
        with suppress(OSError):
            while piece := await source.read(1 if self.fault.drip else 65_536):
                heard += piece if self.trap is not None else b""
                passes = self._let_through(heard, piece, up=up)
                await asyncio.sleep(self.fault.delay)
                await self._pass(target, piece[:passes], up=up)
                if self._room(up=up) == 0:
                    await self._cut(target, other)
                    return
                if passes < len(piece) and self._room(up=up) is None:
                    if await self._snap() is SIGKILL:
                        break  # the rest never comes
                    await self._pass(target, piece[passes:], up=up)
            target.close()

    def _let_through(self, heard: bytes, piece: bytes, *, up: bool) -> int:
        """Return how much of a piece passes before something happens."""
        room = self._room(up=up)
        if room is not None:
            return min(room, len(piece))
        stop = self.trap.spot(heard) if self.trap is not None and self.trap.up is up else None
        return len(piece) if stop is None else max(0, stop - (len(heard) - len(piece)))

    async def _pass(self, target: asyncio.StreamWriter, piece: bytes, *, up: bool) -> None:
        target.write(piece)
        await target.drain()
        if up:
            self.up += len(piece)
        else:
            self.down += len(piece)
            self.said += piece

    def _room(self, *, up: bool) -> int | None:
        most, passed = (self.fault.up, self.up) if up else (self.fault.down, self.down)
        return None if most is None else most - passed

    async def _cut(self, *ends: asyncio.StreamWriter) -> None:
        if self.fault.how is Cut.SILENCE:
            await asyncio.Event().wait()  # until the test ends
        for end in ends:
            reset(end)

    async def _snap(self) -> Signals | None:
        trap, self.trap = self.trap, None
        if trap is None:
            return None
        os.kill(await self.victim, trap.signal)
        self.sprung.set()
        return trap.signal
