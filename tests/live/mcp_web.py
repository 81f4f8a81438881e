"""A small MCP server on loopback, over real HTTP, good or hostile by its mode."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from remit.model.codec import Json, JsonMap
from tests.live.loopback import Listener

HEAD: Final = {"json": "application/json", "sse": "text/event-stream"}


@dataclass(frozen=True, slots=True)
class Heard:
    """A request, as it came in."""

    verb: str
    headers: dict[str, str]
    body: JsonMap

    @property
    def method(self) -> str:
        return str(self.body.get("method", ""))


@dataclass(frozen=True, slots=True)
class Says:
    """The answer to one request."""

    messages: tuple[Json, ...] = ()
    status: int = 200
    kind: str = "json"
    headers: tuple[str, ...] = ()
    hangs: bool = False  # sends nothing more, and keeps the connection
    breaks: bool = False  # ends in the middle


@dataclass
class Web(Listener):
    """`decide` may replace the normal answer."""

    kind: str = "json"
    decide: Callable[[Heard], Says | None] = lambda _: None
    heard: list[Heard] = field(default_factory=list)
    notes: list[Json] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"{self.root}/mcp"

    @property
    def methods(self) -> list[str]:
        return [each.method for each in self.heard]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while heard := await _read(reader):
                self.heard.append(heard)
                says = self.decide(heard) or self._good(heard)
                try:
                    writer.write(_bytes(says))
                    await writer.drain()
                    await (reader.read() if says.hangs else asyncio.sleep(0))
                finally:
                    if says.hangs:
                        self.left.set()
                if says.hangs or says.breaks:
                    break

    def _good(self, heard: Heard) -> Says:
        number = heard.body.get("id")
        if number is None or not heard.method:
            return Says(status=202)
        match heard.method:
            case "initialize":
                result: JsonMap = {"protocolVersion": "2025-11-25", "capabilities": {}}
            case "tools/list":
                result = {"tools": [tool("note")]}
            case _:
                params = heard.body["params"]
                assert isinstance(params, dict)
                self.notes.append(params["arguments"])
                result = {"content": [{"type": "text", "text": "noted"}]}
        return Says((answer(number, result),), kind=self.kind)


def tool(name: str) -> JsonMap:
    takes: JsonMap = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"name": name, "description": "Keeps a note.", "inputSchema": takes}


def answer(number: Json, result: Json) -> JsonMap:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def refusal(number: Json, code: int = -32601) -> JsonMap:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": "Not that way"}}


async def _read(reader: asyncio.StreamReader) -> Heard | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Heard(first.split()[0], headers, json.loads(body) if body else {})


def _bytes(says: Says) -> bytes:
    texts = [json.dumps(each) for each in says.messages]
    if says.kind == "sse":
        body = "".join(f": hello\r\nevent: message\r\ndata: {text}\r\n\r\n" for text in texts)
    else:
        body = "".join(texts)
    whole = body.encode()
    size = len(whole) + (100 if says.breaks or says.hangs else 0)
    head = [f"HTTP/1.1 {says.status} X", f"Content-Length: {size}"]
    head += [f"Content-Type: {HEAD[says.kind]}; charset=utf-8", *says.headers]
    return "\r\n".join([*head, "", ""]).encode() + whole
