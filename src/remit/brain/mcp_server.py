"""One MCP server: its JSON-RPC messages, its connection, its tools and the calls to them.

It connects at first use and again if the server ended. Everything a server says is untrusted text.
A tool whose description is too long, too deep or oddly named is not offered.
"""

import asyncio
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Final, TypeAlias

from msgspec import Struct

from remit.brain import outside, tools
from remit.errors import RemitError
from remit.model.codec import Json, JsonMap
from remit.model.reply import Tool
from remit.system.process import GRACE_SECONDS

MAX_MESSAGE_BYTES: Final = 4_000_000  # of one message
MODERN: Final = "2026-07-28"  # each request says all about itself
LEGACY: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # after a handshake
_NO_SUCH_METHOD: Final = -32601


class McpTrouble(RemitError):
    """There is no answer. `sent`: whether the other side may have read the request."""

    def __init__(self, sentence: str, *, sent: bool) -> None:
        super().__init__(sentence)
        self.sent = sent


class McpRefusal(RemitError):
    """The other side refused, in its own words."""


class McpLimits(Struct, frozen=True):
    name: str
    seconds: float


class McpTransport(ABC):
    def __init__(self, limits: McpLimits) -> None:
        self.version = ""  # the agreed revision; empty before that
        self.changed = False  # whether it announced that its tools changed
        self._limits = limits
        self._numbers = count(1)
        self._broken = ""  # why it is broken

    @property
    def alive(self) -> bool:
        return not self._broken

    async def ask(self, method: str, params: JsonMap) -> JsonMap:
        """Return the answer, within the limit. Raises `McpRefusal` or `McpTrouble`."""
        number, limits = next(self._numbers), self._limits
        try:
            async with asyncio.timeout(limits.seconds):
                return result_of(await self._exchange(number, method, params), limits.name)
        except TimeoutError:
            await self._forget(number)
            why = f"The server {limits.name} did not answer in {limits.seconds:g} s."
            raise McpTrouble(why, sent=True) from None
        except asyncio.CancelledError:
            await self._forget(number)
            raise

    async def tell(self, method: str, params: JsonMap) -> None:
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def _forget(self, number: int) -> None:
        """Cancel a request nobody waits for, without waiting for that either."""
        gone: JsonMap = {"requestId": number, "reason": "The client does not wait any longer."}
        with suppress(McpTrouble, TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await self.tell("notifications/cancelled", gone)

    @abstractmethod
    async def _exchange(self, number: int, method: str, params: JsonMap) -> JsonMap:
        """Send a request, and return the message that answers it."""

    @abstractmethod
    async def _send(self, message: JsonMap) -> None: ...

    @abstractmethod
    async def close(self) -> None: ...


def request_message(number: int, method: str, params: JsonMap) -> JsonMap:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def encode_message(message: JsonMap) -> bytes:
    """Return one line; JSON has no raw newline."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def decode_messages(line: bytes) -> list[JsonMap]:
    """Return the messages of a line; anything else is ignored."""
    try:
        found: Json = json.loads(line)
    except (ValueError, RecursionError):
        return []
    every = found if isinstance(found, list) else [found]
    return [each for each in every if isinstance(each, dict)]


def answer_to_server(message: JsonMap) -> "JsonMap | None":
    """Return the answer to a server's own request: a ping is answered, all else refused."""
    method, number = message.get("method"), message.get("id")
    if not isinstance(method, str) or not isinstance(number, int | str):
        return None
    if method == "ping":
        return {"jsonrpc": "2.0", "id": number, "result": {}}
    error: JsonMap = {"code": _NO_SUCH_METHOD, "message": "Not offered by this client."}
    return {"jsonrpc": "2.0", "id": number, "error": error}


def announces_changed_tools(message: JsonMap) -> bool:
    return message.get("method") == "notifications/tools/list_changed"


def is_answer(message: JsonMap, number: int) -> bool:
    """Whether it is the answer to a request; True is no number here."""
    same = message.get("id") == number and not isinstance(message.get("id"), bool)
    return same and "method" not in message


def result_of(message: JsonMap, name: str) -> JsonMap:
    """Return an answer's result, or raise what it means."""
    error = message.get("error")
    if isinstance(error, dict):
        raise McpRefusal(str(error.get("message") or "no reason given")[:2000])
    result = message.get("result")
    if not isinstance(result, dict):
        raise McpTrouble(f"The server {name} gave an answer without a result.", sent=True)
    return result


Dial: TypeAlias = Callable[[], Awaitable[McpTransport]]

MAX_TOOLS: Final = 100
_MAX_PAGES: Final = 20
_MAX_NAME_CHARACTERS: Final = 64  # that vendors take for a tool, with the server in front
_MAX_DESCRIPTION_CHARACTERS: Final = 2_000  # characters that a tool may say of itself
_MAX_SCHEMA_CHARACTERS: Final = 20_000
_MAX_PARTS: Final = 1_000
_MAX_DEPTH: Final = 16
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_WHO: Final[JsonMap] = {"name": "remit", "version": "1"}
_META: Final = "io.modelcontextprotocol/"


class McpServer:
    def __init__(self, name: str, dial: Dial) -> None:
        self.name = name
        self._dial = dial
        self._line: McpTransport | None = None

    @property
    def is_stale(self) -> bool:
        """Whether its list of tools may be out of date."""
        return self._line is None or not self._line.alive or self._line.changed

    async def tools(self) -> list[Tool]:
        """Return all its tools; if it ended meanwhile, ask once more."""
        try:
            return await self._list(await self._connect())
        except McpTrouble:
            if self._line is None or self._line.alive:
                raise
            return await self._list(await self._connect())

    async def call(self, tool: str, args: JsonMap) -> tuple[str, bool]:
        """Return the result of a call, and whether the server calls it a failure. Sent once."""
        line = await self._connect()
        params = self._params(line, {"name": tool, "arguments": args})
        try:
            result = await line.ask("tools/call", params)
        except McpRefusal as no:
            return f"It refused: {no}", True
        if result.get("resultType") == "input_required":
            return "It wants to ask something back; that is not possible here.", True
        return _result_text(result), result.get("isError") is True

    async def close(self) -> None:
        if self._line is not None:
            await self._line.close()
            self._line = None

    async def _connect(self) -> McpTransport:
        if self._line is not None and self._line.alive:
            return self._line
        await self.close()
        line = await self._dial()
        try:
            await self._agree(line)
        except BaseException:
            await line.close()
            raise
        self._line = line
        return line

    async def _agree(self, line: McpTransport) -> None:
        """Find the revision both support: by a handshake, or by asking for capabilities."""
        hello: JsonMap = {"protocolVersion": LEGACY[0], "capabilities": {}, "clientInfo": _WHO}
        try:
            answer = await line.ask("initialize", hello)
        except McpRefusal:
            await self._discover(line)
            return
        spoken = answer.get("protocolVersion")
        if not isinstance(spoken, str) or spoken not in LEGACY:
            why = f"The server {self.name} speaks MCP {spoken!r:.30}; known is {LEGACY[0]}."
            raise McpTrouble(why, sent=False)
        line.version = spoken
        await line.tell("notifications/initialized", {})

    async def _discover(self, line: McpTransport) -> None:
        line.version = MODERN
        try:
            answer = await line.ask("server/discover", self._params(line, {}))
        except McpRefusal as no:
            raise McpTrouble(f"The server {self.name} speaks no MCP: {no}", sent=False) from None
        spoken = answer.get("supportedVersions")
        if not isinstance(spoken, list) or MODERN not in spoken:
            why = f"The server {self.name} does not speak MCP {MODERN}."
            raise McpTrouble(why, sent=False)

    async def _list(self, line: McpTransport) -> list[Tool]:
        line.changed = False
        found: dict[str, Tool] = {}
        params: JsonMap = {}
        for _ in range(_MAX_PAGES):
            try:
                page = await line.ask("tools/list", self._params(line, params))
            except McpRefusal as no:
                raise McpTrouble(
                    f"The server {self.name} lists no tools: {no}", sent=True
                ) from None
            listed = page.get("tools")
            for each in listed if isinstance(listed, list) else ():
                tool = _tool(self.name, each)
                if tool is not None and len(found) < MAX_TOOLS:
                    found.setdefault(tool.name, tool)
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or params.get("cursor") == cursor:
                break
            params = {"cursor": cursor}
        return [*found.values()]

    def _params(self, line: McpTransport, params: JsonMap) -> JsonMap:
        """Return the parameters with client and revision, for stateless servers."""
        if line.version != MODERN:
            return params
        meta: JsonMap = {
            f"{_META}protocolVersion": MODERN,
            f"{_META}clientInfo": _WHO,
            f"{_META}clientCapabilities": {},
        }
        return params | {"_meta": meta}


def name_at_server(offered: str) -> str:
    """Return the server's own name of a tool."""
    return offered.partition("__")[2]


def _tool(server: str, described: Json) -> Tool | None:
    """Return a tool as it may be offered, or None."""
    if not isinstance(described, dict):
        return None
    name, takes = described.get("name"), described.get("inputSchema")
    offered = f"{server}__{name}"
    named = isinstance(name, str) and _NAME.fullmatch(name) and len(offered) <= _MAX_NAME_CHARACTERS
    if not named or not isinstance(takes, dict) or not _is_sound(takes):
        return None
    says = outside.neutralise(str(described.get("description") or ""))[:_MAX_DESCRIPTION_CHARACTERS]
    return Tool(offered, f"Of the server {server}, in its own words: {says}", _quiet(takes))


def _is_sound(takes: JsonMap) -> bool:
    """Whether a schema describes arguments, and is neither long nor deep."""
    with suppress(ValueError, RecursionError):
        long = len(json.dumps(takes, ensure_ascii=False)) > _MAX_SCHEMA_CHARACTERS
        parts, deep = tools.schema_size(takes)
        return takes.get("type") == "object" and not (
            long or parts > _MAX_PARTS or deep > _MAX_DEPTH
        )
    return False


def _quiet(takes: JsonMap) -> JsonMap:
    """Return the schema with its descriptions neutralised."""
    calmed: JsonMap = {}
    for name, part in takes.items():
        if name in ("description", "title") and isinstance(part, str):
            calmed[name] = outside.neutralise(part)[:_MAX_DESCRIPTION_CHARACTERS]
        elif isinstance(part, dict):
            calmed[name] = _quiet(part)
        elif isinstance(part, list):
            calmed[name] = [_quiet(each) if isinstance(each, dict) else each for each in part]
        else:
            calmed[name] = part
    return calmed


def _result_text(result: JsonMap) -> str:
    """Return the text of a result; a picture or a sound is noted, not passed on."""
    content = result.get("content")
    parts: Sequence[Json] = content if isinstance(content, list) else []
    texts = [_part(each) for each in parts if isinstance(each, dict)]
    if not texts and isinstance(result.get("structuredContent"), dict):
        return json.dumps(result["structuredContent"], ensure_ascii=False)
    return "\n".join(texts) or "It answered with nothing."


def _part(part: JsonMap) -> str:
    inner = part.get("resource")
    if isinstance(inner, dict) and isinstance(inner.get("text"), str):
        return str(inner["text"])
    match part.get("type"), part.get("text"):
        case "text", str(text):
            return text
        case "resource_link", _:
            return f"(a link: {str(part.get('uri'))[:500]})"
        case kind, _:
            what = str(part.get("mimeType") or "")[:60]
            return f"({str(kind)[:30]} {what}: not shown)"
