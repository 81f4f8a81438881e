"""MCP over stdio: one message per line on the program's stdin and stdout.

The program has its own process group and only the environment variables that were named. Its stderr
goes to a file of limited size.
"""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from remit.brain.mcp import server
from remit.brain.mcp.server import McpLimits, McpTransport, McpTrouble
from remit.model.codec import JsonMap
from remit.system import process as programs

MAX_STDERR_BYTES: Final = 1_000_000
_MAX_UNASKED_MESSAGES: Final = 10_000  # messages that answer nothing, one after the other


class McpProcess(McpTransport):
    """A started program; `start` makes one."""

    def __init__(self, running: asyncio.subprocess.Process, limits: McpLimits, log: Path) -> None:
        super().__init__(limits)
        self._running = running
        self._waiting: dict[int, asyncio.Future[JsonMap]] = {}
        self._unasked = 0
        self._reading = asyncio.create_task(self._read())
        self._logging = asyncio.create_task(_log_stderr(running, log))

    @property
    def alive(self) -> bool:
        return not self._broken and self._running.returncode is None

    async def _exchange(self, number: int, method: str, params: JsonMap) -> JsonMap:
        answer: asyncio.Future[JsonMap] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            await self._send(server.question(number, method, params))
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """Ask it to end, then kill the whole process group."""
        stdin = self._running.stdin
        if stdin is not None:
            stdin.close()
        try:
            await programs.exit_code_within(self._running, programs.GRACE_SECONDS)
        finally:
            await programs.end_group(self._running)
            self._reading.cancel()
            self._logging.cancel()
        await asyncio.gather(self._reading, self._logging, return_exceptions=True)

    async def _send(self, message: JsonMap) -> None:
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
            await self._send(reply)

    def _break(self, why: str) -> None:
        self._broken = why
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(McpTrouble(why, sent=True))
        if self._running.returncode is None:
            programs.signal_group(self._running, signal.SIGKILL)


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
        await programs.read_first(running.stderr, file.write, MAX_STDERR_BYTES)
