"""JSON-RPC messages as MCP uses them: requests, notifications, answers and their errors."""

import json
from typing import Final, Protocol

from msgspec import Struct

from remit.errors import RemitError
from remit.model.codec import Json, JsonMap

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
    """The limits of one server."""

    name: str
    seconds: float


class McpTransport(Protocol):
    """A connection to one server."""

    version: str  # the agreed revision; empty before that
    changed: bool  # whether it announced that its tools changed

    @property
    def alive(self) -> bool: ...

    async def ask(self, method: str, params: JsonMap) -> JsonMap:
        """Return the answer, within the limit. Raises `McpRefusal` or `McpTrouble`."""

    async def tell(self, method: str, params: JsonMap) -> None: ...

    async def close(self) -> None: ...


def question(number: int, method: str, params: JsonMap) -> JsonMap:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def news(method: str, params: JsonMap) -> JsonMap:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def packed(message: JsonMap) -> bytes:
    """Return one line; JSON has no raw newline."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def unpacked(line: bytes) -> list[JsonMap]:
    """Return the messages of a line; anything else is ignored."""
    try:
        found: Json = json.loads(line)
    except (ValueError, RecursionError):
        return []
    every = found if isinstance(found, list) else [found]
    return [each for each in every if isinstance(each, dict)]


def polite(message: JsonMap) -> "JsonMap | None":
    """Return the answer to a server's own request: a ping is answered, all else refused."""
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
    """Whether it is the answer to a request; True is no number here."""
    same = message.get("id") == number and not isinstance(message.get("id"), bool)
    return same and "method" not in message


def answer(message: JsonMap, name: str) -> JsonMap:
    """Return an answer's result, or raise what it means."""
    error = message.get("error")
    if isinstance(error, dict):
        raise McpRefusal(str(error.get("message") or "no reason given")[:2000])
    result = message.get("result")
    if not isinstance(result, dict):
        raise McpTrouble(f"The server {name} gave an answer without a result.", sent=True)
    return result
