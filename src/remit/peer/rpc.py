"""JSON-RPC 2.0 as MCP and A2A need it: one message in, one answer out, or none."""

import json
import logging
from collections.abc import Mapping
from typing import Final, cast

from msgspec import Struct

from remit.errors import RemitError, StoreTrouble
from remit.model.codec import Json, JsonMap

UNREADABLE: Final = -32700
NO_REQUEST: Final = -32600
NO_METHOD: Final = -32601
BAD_PARAMS: Final = -32602
BROKEN: Final = -32603
_LOG: Final = logging.getLogger("remit.peer")


class RpcError(RemitError):
    """An error answer: a number, a sentence, and data."""

    def __init__(self, code: int, sentence: str, more: Json = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.more = more


class RpcMessage(Struct, frozen=True):
    """A request; or a notification, which has no id and is never answered."""

    method: str
    params: JsonMap
    id: str | int | None
    asks: bool


def read(raw: bytes) -> RpcMessage:
    """Parse one message; a batch or anything else raises `RpcError`."""
    try:
        message = json.loads(raw)
        # A lone surrogate can be written in JSON, but neither answered nor stored.
        if b"\\u" in raw:
            json.dumps(message, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise RpcError(UNREADABLE, "This is not JSON of whole Unicode letters.") from None
    return parse(cast("Json", message))


def parse(message: Json) -> RpcMessage:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise RpcError(NO_REQUEST, "Send one JSON-RPC 2.0 request or notification.")
    method, params, ident = message.get("method"), message.get("params", {}), message.get("id")
    if not isinstance(method, str) or isinstance(ident, bool | float | list | dict):
        raise RpcError(NO_REQUEST, "A request has a method, and an id that is a text or a number.")
    if "id" in message and ident is None:
        raise RpcError(NO_REQUEST, "The id of a request is a text or a number, not null.")
    if not isinstance(params, dict):
        raise RpcError(BAD_PARAMS, "params must be an object.")
    return RpcMessage(method, params, ident, "id" in message)


def result(ident: str | int | None, body: JsonMap) -> JsonMap:
    return {"jsonrpc": "2.0", "id": ident, "result": body}


def error(ident: str | int | None, fault: RpcError) -> JsonMap:
    body: JsonMap = {"code": fault.code, "message": str(fault)}
    if fault.more is not None:
        body["data"] = fault.more
    return {"jsonrpc": "2.0", "id": ident, "error": body}


def fault_of(problem: Exception, codes: Mapping[type[RemitError], int]) -> RpcError:
    """Return what to tell the caller. An unexpected error goes to the log only."""
    if isinstance(problem, RpcError):
        return problem
    for kind, code in codes.items():
        if isinstance(problem, kind):
            return RpcError(code, str(problem))
    if isinstance(problem, StoreTrouble):
        _LOG.warning("%s", problem)
        return RpcError(BROKEN, "The store cannot be used just now; try again in a moment.")
    _LOG.error("A message failed for a reason nobody foresaw.", exc_info=problem)
    return RpcError(BROKEN, "Something broke that should not have; the log says what.")
