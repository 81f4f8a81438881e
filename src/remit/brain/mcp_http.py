"""MCP over HTTP: each message is posted; the answer is JSON or an event stream.

This module loads the HTTP library; `server` imports it with the first address.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

import httpx2

from remit.brain import mcp_server
from remit.brain.choose import Secret
from remit.brain.mcp_server import McpLimits, McpRefusal, McpTransport, McpTrouble
from remit.model.codec import JsonMap
from remit.system.http_client import trusted_authorities
from remit.system.process import GRACE_SECONDS

_GONE: Final = 404
_REFUSED: Final = 400
_FAILED: Final = 500
_UNKNOWN: Final = (401, 403)
_SESSION: Final = "Mcp-Session-Id"


class McpHttpTransport(McpTransport):
    def __init__(self, url: str, limits: McpLimits, token: Secret | None = None) -> None:
        super().__init__(limits)
        self._url = url
        self._token = token
        self._session = ""
        local = url.startswith("http://")  # only this machine is contacted without TLS
        self._web = httpx2.AsyncClient(
            timeout=limits.seconds,
            follow_redirects=False,
            trust_env=not local,
            verify=trusted_authorities(trust_env=not local),
        )

    async def _exchange(self, number: int, method: str, params: JsonMap) -> JsonMap:
        name = self._limits.name
        try:
            return await self._post_question(number, method, params)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            why = f"The server {name} cannot be reached: {type(error).__name__}."
            raise McpTrouble(why, sent=False) from None
        except httpx2.HTTPError as error:
            why = f"The line to the server {name} broke: {type(error).__name__}."
            raise McpTrouble(why, sent=True) from None

    async def close(self) -> None:
        self._broken = "it is closed"
        try:
            if self._session:
                async with asyncio.timeout(GRACE_SECONDS):
                    await self._web.delete(self._url, headers=self._headers("", {}))
        except (TimeoutError, httpx2.HTTPError):
            pass  # the server will notice by itself
        finally:
            await self._web.aclose()

    async def _forget(self, number: int) -> None:
        if self.version != mcp_server.MODERN:  # only older servers need the message
            await super()._forget(number)

    async def _post_question(self, number: int, method: str, params: JsonMap) -> JsonMap:
        body = mcp_server.encode_message(mcp_server.request_message(number, method, params))
        headers = self._headers(method, params)
        async with self._web.stream("POST", self._url, content=body, headers=headers) as response:
            self._check(response.status_code)
            self._session = response.headers.get(_SESSION, self._session)
            kind = response.headers.get("content-type", "").partition(";")[0].strip()
            async for part in _parts(response, kind, self._limits.name):
                for message in mcp_server.decode_messages(part):
                    if mcp_server.is_answer(message, number):
                        return message
                    await self._answer_server(message, response.status_code)
            if response.status_code >= _REFUSED:
                raise McpRefusal(f"it answered with status {response.status_code}")
        raise McpTrouble(f"The server {self._limits.name} sent no answer.", sent=True)

    def _check(self, status: int) -> None:
        """Raise what a status means, before reading; a 400 may still contain an answer."""
        name = self._limits.name
        if status == _GONE and self._session:
            self._broken = "it has forgotten this session"
            raise McpTrouble(f"The server {name} has forgotten this session.", sent=False)
        if status in _UNKNOWN:
            why = f"The server {name} wants to be shown a token; [mcp.{name}] token_env names it."
            raise McpTrouble(why, sent=False)
        if status >= _FAILED:
            raise McpTrouble(f"The server {name} failed with status {status}.", sent=True)

    async def _answer_server(self, message: JsonMap, status: int) -> None:
        error = message.get("error")
        if status >= _REFUSED and isinstance(error, dict):
            raise McpRefusal(str(error.get("message") or status)[:2000])
        self.changed = self.changed or mcp_server.announces_changed_tools(message)
        reply = mcp_server.answer_to_server(message)
        if reply is not None:
            with suppress(McpTrouble):  # a bad side message does not spoil the answer
                await self._send(reply)

    async def _send(self, message: JsonMap) -> None:
        headers = self._headers(str(message.get("method") or ""), {})
        try:
            async with asyncio.timeout(self._limits.seconds):
                async with self._web.stream(
                    "POST", self._url, content=mcp_server.encode_message(message), headers=headers
                ):
                    pass  # nothing to read: it was a notification
        except (TimeoutError, httpx2.HTTPError):
            raise McpTrouble(f"The line to {self._limits.name} broke.", sent=True) from None

    def _headers(self, method: str, params: JsonMap) -> dict[str, str]:
        headers = {
            "Accept": "application/json, text/event-stream",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
        }
        if self._token:
            headers["Authorization"] = f"Bearer {self._token.reveal()}"
        if self._session:
            headers[_SESSION] = self._session
        if self.version:
            headers["MCP-Protocol-Version"] = self.version
        if self.version == mcp_server.MODERN:
            headers["Mcp-Method"] = method
            named = params.get("name")
            headers |= {"Mcp-Name": named} if isinstance(named, str) else {}
        return headers


async def _parts(response: httpx2.Response, kind: str, name: str) -> AsyncIterator[bytes]:
    """Yield the messages of an answer: one JSON document, or those of an event stream."""
    buffer, total = b"", 0
    async for piece in response.aiter_bytes():
        total += len(piece)
        if total > mcp_server.MAX_MESSAGE_BYTES:
            raise McpTrouble(
                f"The server {name} sent more than {mcp_server.MAX_MESSAGE_BYTES} bytes.", sent=True
            )
        buffer += piece
        if kind != "text/event-stream":
            continue
        buffer = buffer.replace(b"\r\n", b"\n")
        *events, buffer = buffer.split(b"\n\n")
        for event in events:
            yield _event_data(event)
    yield _event_data(buffer) if kind == "text/event-stream" else buffer


def _event_data(event: bytes) -> bytes:
    lines = (line[5:].removeprefix(b" ") for line in event.split(b"\n") if line[:5] == b"data:")
    return b"\n".join(lines)
