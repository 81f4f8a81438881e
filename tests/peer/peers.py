"""Other agents: a working app, a token for each, and messages sent by hand."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

import httpx2

from remit.model.codec import Json, JsonMap
from tests.server.besieged import Besieged

VERSION: Final = "2026-07-28"
TASKS: Final = "io.modelcontextprotocol/tasks"
CAN: Final[JsonMap] = {"extensions": {TASKS: {}}, "elicitation": {"url": {}}}


def meta(can: "JsonMap | None" = None, version: Json = VERSION) -> JsonMap:
    return {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": CAN if can is None else can,
    }


class Peers(Besieged):
    """A working app, and agents that call it."""

    def _listens(self, url: str) -> None:
        super()._listens(url)
        self.url = url  # agents call 127.0.0.1, not the pages

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self._secrets: dict[str, str] = {}

    def agent(self, name: str = "nina", *scopes: str) -> str:
        """Return an agent's secret; the same agent has one."""
        if name not in self._secrets:
            self._secrets[name] = self.secret(name, *(scopes or ("read", "write")), agent=True)
        return self._secrets[name]

    def post(self, path: str, body: Json = None) -> JsonMap:
        return super().post(path, body)

    def call(
        self,
        secret: str,
        method: str,
        params: "JsonMap | None" = None,
        *,
        path: str = "/mcp",
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Send one request as a client of the current revision, unless configured otherwise."""
        said = dict(params or {})
        sent = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        if path == "/mcp":
            said.setdefault("_meta", meta())
            sent |= {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
            name = said.get("name", said.get("uri"))
            sent |= {"Mcp-Name": str(name)} if name else {}
        sent |= headers or {}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": said}
        return self.client.post(self.url + path, content=json.dumps(body), headers=sent)

    def result(self, secret: str, method: str, params: "JsonMap | None" = None) -> JsonMap:
        answer = self.call(secret, method, params)
        assert answer.status_code == 200, answer.text
        return cast("JsonMap", answer.json()["result"])

    def tool(self, secret: str, name: str, **said: Json) -> JsonMap:
        """Return a tool's answer to a client without the extension."""
        params: JsonMap = {"name": name, "arguments": said, "_meta": meta({})}
        return self.result(secret, "tools/call", params)

    def entrust(self, secret: str, text: str, **more: Json) -> str:
        told = self.tool(secret, "create_task", text=text, **more)
        assert not told["isError"], told
        return str(content(told)["id"])


def content(told: JsonMap) -> JsonMap:
    return cast("JsonMap", told["structuredContent"])


def text(told: JsonMap) -> str:
    return str(cast("list[JsonMap]", told["content"])[0]["text"])
