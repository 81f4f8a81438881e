"""A network between the processes and their servers that can be cut: nothing passes, silently.

    network = Network()
    wire = network.wire(str(folder / ".s.PGSQL.5432"))     # a socket, or a port
    wire.cut(); wire.mend()

Each process has a wire of its own to each server, so that one of them can be cut off alone.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TypeVar

from tests.live.loopback import HOST, Listener

T = TypeVar("T")


class Wire(Listener):
    def __init__(self, network: "Network", target: str | int) -> None:
        self._network = network
        self._target = target
        self._whole = asyncio.Event()
        self._whole.set()

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    def cut(self) -> None:
        self._network.call(self._whole.clear)

    def mend(self) -> None:
        self._network.call(self._whole.set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._whole.wait()
        with suppress(OSError):  # nobody is at home: the caller is told by the end of the line
            far, on = await self._connected()
            try:
                await asyncio.gather(self._pump(reader, on), self._pump(far, writer))
            finally:
                on.transport.abort()

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._target, str):
            return await asyncio.open_unix_connection(self._target)
        return await asyncio.open_connection(HOST, self._target)

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await source.read(65_536):
                await self._whole.wait()
                target.write(piece)
                await target.drain()
        target.close()


class Network:
    """Runs the wires in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._wires: list[Wire] = []

    def wire(self, target: str | int) -> Wire:
        """Open a wire to a socket (a path) or to a port."""

        async def opened() -> Wire:
            wire = Wire(self, target)
            return await wire.__aenter__()

        self._wires.append(self._do(opened()))
        return self._wires[-1]

    def call(self, work: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(work)

    def close(self) -> None:
        async def closed() -> None:
            for each in self._wires:
                await each.__aexit__(None, None, None)

        self._do(closed())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Coroutine[object, object, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(100)
