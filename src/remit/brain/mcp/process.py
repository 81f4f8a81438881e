"""MCP over stdio: one message per line on the program's stdin and stdout.

The program has its own process group and only the environment variables that were named. Its stderr
goes to a file of limited size.
"""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from remit.brain.mcp import server
from remit.brain.mcp.server import McpLimits, McpTrouble
from remit.model.codec import JsonMap
from remit.system.process import (
    GRACE_SECONDS,
    end_group,
    exit_code_within,
    read_first,
    signal_group,
)

MAX_STDERR_BYTES: Final = 1_000_000
_MAX_UNASKED_MESSAGES: Final = 10_000  # messages that answer nothing, one after the other


class McpProcess:
    """A started program; `start` makes one."""

    def __init__(self, running: asyncio.subprocess.Process, limits: McpLimits, log: Path) -> None:
        self.version = ""
        self.changed = False
        self._running = running
        self._limits = limits
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[JsonMap]] = {}
        self._broken = ""  # why it is broken
        self._unasked = 0
        self._reading = asyncio.create_task(self._read())
        self._logging = asyncio.create_task(_log_stderr(running, log))

    @property
    def alive(self) -> bool:
        return not self._broken and self._running.returncode is None

    async def ask(self, method: str, params: JsonMap) -> JsonMap:
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._limits.seconds):
                await self._write(server.question(number, method, params))
                return server.answer(await answer, self._limits.name)
        except TimeoutError:
            await self._forget(number)
            why = f"The server {self._limits.name} did not answer in {self._limits.seconds:g} s."
            raise McpTrouble(why, sent=True) from None
        except asyncio.CancelledError:
            await self._forget(number)
            raise
        finally:
            self._waiting.pop(number, None)

    async def tell(self, method: str, params: JsonMap) -> None:
        await self._write(server.news(method, params))

    async def close(self) -> None:
        """Ask it to end, then kill the whole process group."""
        stdin = self._running.stdin
        if stdin is not None:
            stdin.close()
        try:
            await exit_code_within(self._running, GRACE_SECONDS)
        finally:
            await end_group(self._running)
            self._reading.cancel()
            self._logging.cancel()
        await asyncio.gather(self._reading, self._logging, return_exceptions=True)

    async def _forget(self, number: int) -> None:
        """Cancel a request nobody waits for, without waiting for that either."""
        gone: JsonMap = {"requestId": number, "reason": "The client does not wait any longer."}
        with suppress(McpTrouble, TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await self.tell("notifications/cancelled", gone)

    async def _write(self, message: JsonMap) -> None:
        stdin = self._running.stdin
        assert stdin is not None  # noqa: S101 - it is a pipe
        try:
            stdin.write(server.packed(message) + b"\n")
            await stdin.drain()
        except (OSError, RuntimeError):
            raise McpTrouble(f"The server {self._limits.name} has ended.", sent=True) from None

    async def _read(self) -> None:
        stdout = self._running.stdout
        assert stdout is not None  # noqa: S101 - it is a pipe
        why = "has ended"
        try:
            while line := await stdout.readline():
                for message in server.unpacked(line):
                    await self._take(message)
                if self._unasked > _MAX_UNASKED_MESSAGES:
                    why = "talks without being asked"
                    break
        except ValueError:
            why = f"sent more than {server.MAX_MESSAGE_BYTES} bytes in one line"
        except McpTrouble:
            pass
        self._break(f"The server {self._limits.name} {why}.")

    async def _take(self, message: JsonMap) -> None:
        self.changed = self.changed or server.says_changed(message)
        number = message.get("id")
        waiting = self._waiting.get(number) if isinstance(number, int) else None
        if waiting is not None and server.is_answer(message, int(str(number))):
            self._unasked = 0
            if not waiting.done():
                waiting.set_result(message)
            return
        self._unasked += 1
        reply = server.polite(message)
        if reply is not None:
            await self._write(reply)

    def _break(self, why: str) -> None:
        self._broken = why
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(McpTrouble(why, sent=True))
        if self._running.returncode is None:
            signal_group(self._running, signal.SIGKILL)


async def start(
    command: Sequence[str], environ: Mapping[str, str], limits: McpLimits, folder: Path
) -> McpProcess:
    """Start a program; its stderr goes to a file in the folder."""
    await asyncio.to_thread(folder.mkdir, 0o700, parents=True, exist_ok=True)
    try:
        running = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env=dict(environ),
            start_new_session=True,
            limit=server.MAX_MESSAGE_BYTES,
        )
    except OSError as error:
        why = f"The server {limits.name} cannot be started: {error.strerror or error}."
        raise McpTrouble(why, sent=False) from None
    return McpProcess(running, limits, folder / f"{limits.name}.log")


async def _log_stderr(running: asyncio.subprocess.Process, log: Path) -> None:
    """Keep what it says on stderr, from this start on, and go on reading when there is no room."""
    assert running.stderr is not None  # noqa: S101 - it is a pipe
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(log, flags, 0o600), "wb", buffering=0) as file:
        await read_first(running.stderr, file.write, MAX_STDERR_BYTES)
