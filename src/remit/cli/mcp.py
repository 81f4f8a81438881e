"""`remit mcp`: the running Remit as an MCP server on stdin and stdout.

Each line is passed on to it unchanged, and its answer is printed as a line. A caller here counts as
an agent: it may create, read and stop tasks, but decide nothing.
"""

import http.client
import json as codec
import os
import sys
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import urlsplit

from remit import settings as app_settings
from remit.cli import codes, out
from remit.cli.out import AsJson
from remit.mcp.envelope import headers_of
from remit.model.codec import JsonMap
from remit.peer import rpc
from remit.peer.rpc import RpcError
from remit.server import files

TOKEN: Final = "REMIT_TOKEN"  # noqa: S105 - the name of a variable
LIMIT: Final = 60.0
_AWAY: Final = -32000
_NOBODY: Final = "No Remit runs here; start it with `remit up`, then try again."


def mcp(*, json: AsJson = False) -> int:
    """Speak the Model Context Protocol on stdin and stdout, for the Remit that runs here.

    With --json: what a client is to be told, so that it starts this by itself.
    """
    home = app_settings.load().home
    if json:
        server: JsonMap = {
            "command": "remit",
            "args": ["mcp"],
            "env": {"REMIT_HOME": str(home.absolute())},
        }
        out.emit({"mcpServers": {"remit": server}})
        return codes.DONE
    relay(sys.stdin.buffer, sys.stdout.buffer, home, os.environ.get(TOKEN))
    return codes.DONE


def relay(source: BinaryIO, goes: BinaryIO, home: Path, token: str | None) -> None:
    """Answer line by line, until the input ends."""
    for line in source:
        if not line.strip():
            continue
        answer = _answer(line, home, token)
        if answer is not None:
            goes.write(codec.dumps(answer, ensure_ascii=False).encode() + b"\n")
            goes.flush()


def _answer(line: bytes, home: Path, token: str | None) -> "JsonMap | None":
    """Return the answer to one line; None for a notification."""
    try:
        message = rpc.read(line)
    except RpcError as fault:
        return rpc.error(None, fault)
    try:
        answer = _ask(line, headers_of(message), home, token)
    except RpcError as fault:
        answer = rpc.error(message.id, fault)
    return answer if message.asks else None


def _ask(line: bytes, headers: dict[str, str], home: Path, token: str | None) -> "JsonMap | None":
    url = files.listens(home)
    if url is None:
        raise RpcError(_AWAY, _NOBODY)
    place = urlsplit(url)
    connection = http.client.HTTPConnection(
        place.hostname or "127.0.0.1", place.port, timeout=LIMIT
    )
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    sent["Authorization"] = f"Bearer {token or files.token_of(home)}"
    try:
        connection.request("POST", "/mcp", line, sent | headers)
        answer = connection.getresponse()
        raw = answer.read()
    except (OSError, http.client.HTTPException):
        raise RpcError(_AWAY, _NOBODY) from None
    finally:
        connection.close()
    return _parse_answer(raw)


def _parse_answer(raw: bytes) -> "JsonMap | None":
    """Parse an answer, or raise a problem's sentence: the guard does not speak JSON-RPC."""
    try:
        found = codec.loads(raw) if raw else None
    except ValueError:
        raise RpcError(rpc.BROKEN, "The running Remit answered what cannot be read.") from None
    if isinstance(found, dict) and "jsonrpc" not in found:
        raise RpcError(_AWAY, str(found.get("detail") or "The running Remit refused this."))
    return found if isinstance(found, dict) else None
