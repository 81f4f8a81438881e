"""Reads the protocol revision of a message and checks it against its headers.

In the current revision there is no handshake: each request carries its version and the client's
capabilities, and over HTTP three headers repeat them. An older client sends a handshake first.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from remit.model.codec import Json, JsonMap
from remit.peer.rpc import BAD_PARAMS, RpcError, RpcMessage

CURRENT: Final = "2026-07-28"
OLDER: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
TASKS: Final = "io.modelcontextprotocol/tasks"

MISMATCH: Final = -32020
NOT_DECLARED: Final = -32021
NO_VERSION: Final = -32022

_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_OPEN, _CLOSE = "=?base64?", "?="


class ClientFeatures(Struct, frozen=True):
    """What a client supports, as far as it matters; an older one has neither."""

    current: bool
    tasks: bool = False
    opens_urls: bool = False

    def must_know_tasks(self) -> None:
        if not self.tasks:
            needed: JsonMap = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
            raise RpcError(NOT_DECLARED, f"This needs the extension {TASKS}.", needed)


def client_of(message: RpcMessage, headers: Mapping[str, str] | None) -> ClientFeatures:
    """Return the client; headers are None where there are none, as on stdin."""
    meta = message.params.get("_meta")
    version = meta.get(_VERSION) if isinstance(meta, dict) else None
    named = (headers or {}).get("mcp-protocol-version")
    if version is None and (named is None or named in OLDER):
        return ClientFeatures(current=False)
    can = meta.get(_CAPABILITIES) if isinstance(meta, dict) else None
    if not isinstance(version, str) or not isinstance(can, dict):
        if named is not None and named != CURRENT:
            raise _no_version(named)
        raise RpcError(BAD_PARAMS, f"params._meta must hold {_VERSION} and {_CAPABILITIES}.")
    if headers is not None:
        _check(message, version, headers)
    if version != CURRENT:
        raise _no_version(version)
    return ClientFeatures(
        True, TASKS in _map(can.get("extensions")), "url" in _map(can.get("elicitation"))
    )


def headers_of(message: RpcMessage) -> dict[str, str]:
    """Return the HTTP headers of a message, which allow routing without parsing it."""
    meta = message.params.get("_meta")
    version = meta.get(_VERSION) if isinstance(meta, dict) else None
    if not isinstance(version, str):
        return {}
    found = {"mcp-protocol-version": version, "mcp-method": message.method}
    name = message.params.get(_NAMED.get(message.method, ""))
    return found | {"mcp-name": _encode_text(name)} if isinstance(name, str) else found


def agree_on_version(asked: Json) -> str:
    """Return the version for a client's handshake: its own if supported, else our newest."""
    return asked if isinstance(asked, str) and asked in OLDER else OLDER[0]


def _check(message: RpcMessage, version: str, headers: Mapping[str, str]) -> None:
    if headers.get("mcp-protocol-version") != version:
        raise RpcError(MISMATCH, "MCP-Protocol-Version is not the version in params._meta.")
    if headers.get("mcp-method") != message.method:
        raise RpcError(MISMATCH, "Mcp-Method is not the method of the request.")
    field = _NAMED.get(message.method, "")
    name = message.params.get(field)
    if name is not None and _decode_text(headers.get("mcp-name")) != name:
        raise RpcError(MISMATCH, f"Mcp-Name is not `{field}` of the request.")


def _no_version(version: str) -> RpcError:
    versions: JsonMap = {"supported": [CURRENT, *OLDER], "requested": version[:60]}
    return RpcError(NO_VERSION, f"Version {version!r:.60} is not spoken here.", versions)


def _map(value: Json) -> JsonMap:
    return value if isinstance(value, dict) else {}


def _encode_text(text: str) -> str:
    plain = text.isascii() and text.isprintable() and text == text.strip()
    if plain and not text.startswith(_OPEN):
        return text
    return _OPEN + base64.b64encode(text.encode("utf-8", "replace")).decode() + _CLOSE


def _decode_text(text: str | None) -> str | None:
    if text is None or not (text.startswith(_OPEN) and text.endswith(_CLOSE)):
        return text
    inner = text[len(_OPEN) : -len(_CLOSE)]
    try:
        return base64.b64decode(inner, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
