"""JSON-RPC messages as MCP uses them: requests, notifications, answers and their errors."""

import json
from typing import Final, Protocol

from msgspec import Struct

from remit.errors import RemitError
from remit.model.codec import Json, JsonMap

MOST_BYTES: Final = 4_000_000  # of one message
MODERN: Final = "2026-07-28"  # each request says all about itself
LEGACY: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # after a handshake
_NO_SUCH_METHOD: Final = -32601


class McpTrouble(RemitError):
    """There is no answer. `sent` says whether the other side may have read the question."""

    def __init__(self, sentence: str, *, sent: bool) -> None:
        super().__init__(sentence)
        self.sent = sent


class McpRefusal(RemitError):
    """The other side answered that it will not, in its own words."""


class McpLimits(Struct, frozen=True):
    """Of one server."""

    name: str
    seconds: float


class McpTransport(Protocol):
    """A way to one server."""

    version: str  # that both sides speak; empty until they have agreed
    changed: bool  # whether it said that its tools are others now

    @property
    def alive(self) -> bool: ...

    async def ask(self, method: str, params: JsonMap) -> JsonMap:
        """What it answers, within the limit. Raises `McpRefusal` or `McpTrouble`."""

    async def tell(self, method: str, params: JsonMap) -> None: ...

    async def close(self) -> None: ...


def question(number: int, method: str, params: JsonMap) -> JsonMap:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def news(method: str, params: JsonMap) -> JsonMap:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def packed(message: JsonMap) -> bytes:
    """One line; JSON has no newline of its own."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def unpacked(line: bytes) -> list[JsonMap]:
    """The messages of a line; what is none is nobody's."""
    try:
        found: Json = json.loads(line)
    except (ValueError, RecursionError):
        return []
    every = found if isinstance(found, list) else [found]
    return [each for each in every if isinstance(each, dict)]


def polite(message: JsonMap) -> "JsonMap | None":
    """What a server that asks us something is told: that we are there, and no more."""
    method, number = message.get("method"), message.get("id")
    if not isinstance(method, str) or not isinstance(number, int | str):
        return None
    if method == "ping":
        return {"jsonrpc": "2.0", "id": number, "result": {}}
    error: JsonMap = {"code": _NO_SUCH_METHOD, "message": "Not offered by this client."}
    return {"jsonrpc": "2.0", "id": number, "error": error}


def says_changed(message: JsonMap) -> bool:
    return message.get("method") == "notifications/tools/list_changed"


def is_answer(message: JsonMap, number: int) -> bool:
    """Whether it is the answer to a question; true is no number, although Python thinks so."""
    same = message.get("id") == number and not isinstance(message.get("id"), bool)
    return same and "method" not in message


def answer(message: JsonMap, name: str) -> JsonMap:
    """What an answer holds, or raises what it means."""
    error = message.get("error")
    if isinstance(error, dict):
        raise McpRefusal(str(error.get("message") or "no reason given")[:2000])
    result = message.get("result")
    if not isinstance(result, dict):
        raise McpTrouble(f"The server {name} gave an answer without a result.", sent=True)
    return result
