"""The tools of an MCP server as they are offered to the brain, under the owner's policy.

A call needs the owner's approval unless the owner allowed the tool by name. It also needs approval
if the tool's description changed since then (a digest of it is stored in a file), or if the task
has read text from others and the owner did not mark the tool as safe to repeat. What a server says
about its own safety is ignored.

A program gets one message per line on its stdin and answers on its stdout. It has its own process
group and only the environment variables that were named; its stderr goes to a file of limited size.
"""

import asyncio
import hashlib
import json
import os
import signal
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from msgspec import Struct

from remit.brain import mcp_server
from remit.brain.choose import Secret
from remit.brain.mcp_server import McpLimits, McpServer, McpTransport, McpTrouble, name_at_server
from remit.model.codec import JsonMap, text_of
from remit.model.reply import Policy, Tool, ToolCall, ToolResult
from remit.model.task import Taint, Task
from remit.ports import Clock
from remit.settings import McpSettings
from remit.system import process as programs
from remit.system.files import PRIVATE, write_atomic


class ToolPins:
    """A small file; if it is unreadable, every tool counts as changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, str] | None = None
        self._broken = False

    def is_changed(self, tool: Tool) -> bool:
        """Whether its description changed; a new tool has not changed."""
        known = self._read()
        return self._broken or known.get(tool.name, tool_digest(tool)) != tool_digest(tool)

    def pin(self, tool: Tool) -> None:
        """Record that the owner allows it as it describes itself now. Durable before use."""
        known = self._read()
        if known.get(tool.name) == tool_digest(tool):
            return
        self._known = known | {tool.name: tool_digest(tool)}
        self._broken = False
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(self._path, json.dumps(self._known, indent=1, sort_keys=True), mode=PRIVATE)

    def _read(self) -> dict[str, str]:
        if self._known is None:
            self._known = {}
            try:
                found = json.loads(self._path.read_text(encoding="utf-8"))
                self._known = {str(name): str(was) for name, was in found.items()}
            except FileNotFoundError:
                pass
            except (OSError, ValueError, AttributeError):
                self._broken = True
        return self._known


def tool_digest(tool: Tool) -> str:
    """Return the digest of everything a tool says about itself."""
    return hashlib.sha256(text_of([tool.name, tool.says, tool.schema]).encode()).hexdigest()


_ALWAYS: Final = ("PATH", "HOME", "LANG")
_TOOLS_VALID_FOR: Final = timedelta(minutes=10)  # how long a list of tools holds
_RETRY_AFTER: Final = timedelta(seconds=30)  # before a server that is not there is tried again
_MAX_QUOTED_CHARACTERS: Final = 400


class McpTool(Struct, frozen=True):
    tool: Tool
    server: McpServer
    set_to: Policy
    pins: ToolPins
    may_repeat: bool = False

    @property
    def warning(self) -> str:
        if not self.pins.is_changed(self.tool):
            return ""
        description = self.tool.says[:_MAX_QUOTED_CHARACTERS]
        return f"This tool has changed since you last allowed it. Now: “{description}” "

    def policy(self, task: Task) -> Policy:
        tainted = task.taint is not Taint.OWNER and not self.may_repeat
        if self.set_to is Policy.ALLOW and (tainted or self.pins.is_changed(self.tool)):
            return Policy.ASK
        return self.set_to

    async def use(self, task: Task, call: ToolCall) -> ToolResult:
        """Call it once. If the result is unknown, that is the result."""
        del task
        await asyncio.to_thread(self.pins.pin, self.tool)
        try:
            description, failed = await self.server.call(name_at_server(self.tool.name), call.args)
        except McpTrouble as trouble:
            doubt = trouble.sent and not self.may_repeat
            taint = Taint.OWNER  # these are our words
            return ToolResult(call.id, str(trouble), failed=True, taint=taint, doubt=doubt)
        return ToolResult(call.id, description, failed=failed, taint=Taint.PUBLIC)


class McpToolSource:
    """The tools of one server in the settings."""

    def __init__(
        self,
        name: str,
        chosen: McpSettings,
        *,
        folder: Path,
        environ: Mapping[str, str],
        clock: Clock,
    ) -> None:
        self.name = name
        self.trouble = ""
        self._chosen = chosen
        self._folder = folder
        self._environ = environ
        self._clock = clock
        self._pins = ToolPins(folder / f"{name}.pins.json")
        self._server = McpServer(name, self._dial)
        self._able: tuple[McpTool, ...] = ()
        self._asked_at: datetime | None = None
        self._turn = asyncio.Lock()

    async def able(self) -> Sequence[McpTool]:
        """Return its tools, asking again when they may have changed; none if unreachable."""
        async with self._turn:
            if self._is_due():
                await self._look()
            return self._able

    async def close(self) -> None:
        async with self._turn:
            await self._server.close()

    def _is_due(self) -> bool:
        age = self._clock.now() - self._asked_at if self._asked_at else timedelta(-1)
        if age < timedelta(0):  # never asked, or by a clock that was ahead
            return True
        if self.trouble:
            return age >= _RETRY_AFTER
        return self._server.is_stale or age >= _TOOLS_VALID_FOR

    async def _look(self) -> None:
        self._able, self.trouble = (), ""
        try:
            found = await self._server.tools()
        except McpTrouble as trouble:
            self.trouble = str(trouble)
        else:
            self._able = tuple(map(self._wrap_tool, found))
        self._asked_at = self._clock.now()

    def _wrap_tool(self, tool: Tool) -> McpTool:
        policy = self._chosen.policy_of(name_at_server(tool.name))
        return McpTool(tool, self._server, policy, self._pins, self._chosen.repeat)

    async def _dial(self) -> McpTransport:
        chosen, limits = self._chosen, McpLimits(self.name, self._chosen.time_limit)
        if chosen.command:
            names = (*_ALWAYS, *chosen.env)
            environ = {name: self._environ[name] for name in names if name in self._environ}
            return await start_server(chosen.command, environ, limits, self._folder)
        from remit.brain.mcp_http import McpHttpTransport  # noqa: PLC0415 - a slow import, for few

        token = self._environ.get(chosen.token_env, "") if chosen.token_env else ""
        if chosen.token_env and not token:
            why = f"The variable {chosen.token_env} is not set; the server {self.name} wants it."
            raise McpTrouble(why, sent=False)
        return McpHttpTransport(chosen.url, limits, Secret(token) if token else None)


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
            await self._send(mcp_server.request_message(number, method, params))
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
            stdin.write(mcp_server.encode_message(message) + b"\n")
            await stdin.drain()
        except (OSError, RuntimeError):
            raise McpTrouble(f"The server {self._limits.name} has ended.", sent=True) from None

    async def _read(self) -> None:
        stdout = self._running.stdout
        assert stdout is not None  # noqa: S101 - it is a pipe
        why = "has ended"
        try:
            while line := await stdout.readline():
                for message in mcp_server.decode_messages(line):
                    await self._take(message)
                if self._unasked > _MAX_UNASKED_MESSAGES:
                    why = "talks without being asked"
                    break
        except ValueError:
            why = f"sent more than {mcp_server.MAX_MESSAGE_BYTES} bytes in one line"
        except McpTrouble:
            pass
        self._break(f"The server {self._limits.name} {why}.")

    async def _take(self, message: JsonMap) -> None:
        self.changed = self.changed or mcp_server.announces_changed_tools(message)
        number = message.get("id")
        waiting = self._waiting.get(number) if isinstance(number, int) else None
        if waiting is not None and mcp_server.is_answer(message, int(str(number))):
            self._unasked = 0
            if not waiting.done():
                waiting.set_result(message)
            return
        self._unasked += 1
        reply = mcp_server.answer_to_server(message)
        if reply is not None:
            await self._send(reply)

    def _break(self, why: str) -> None:
        self._broken = why
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(McpTrouble(why, sent=True))
        if self._running.returncode is None:
            programs.signal_group(self._running, signal.SIGKILL)


async def start_server(
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
            limit=mcp_server.MAX_MESSAGE_BYTES,
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
