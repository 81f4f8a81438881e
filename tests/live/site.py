"""A web site on loopback: some pages by their path, and everything that was asked for.

async with Site({"/visit": Page("<p>Open daily.</p>")}) as site:
    … site.url("/visit") …
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.live.loopback import Listener, head_of, read_head


@dataclass(frozen=True, slots=True)
class Page:
    body: str | bytes = ""
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class Site(Listener):
    def __init__(self, pages: dict[str, Page] | None = None) -> None:
        self.pages = pages or {}
        self.heard: list[tuple[str, Mapping[str, str], bytes]] = []  # path with query, head, body

    @property
    def host(self) -> str:
        return f"localhost:{self.port}"

    def url(self, path: str) -> str:
        return f"http://{self.host}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await read_head(reader)
        body = await reader.readexactly(head.length)
        self.heard.append((head.path, head.headers, body))
        page = self.pages.get(head.path.partition("?")[0])
        page = page or Page("Not found.", status=404)
        content = page.body.encode() if isinstance(page.body, str) else page.body
        lines = {"content-type": page.kind, "content-length": str(len(content)), **page.headers}
        writer.write(head_of(page.status, {**lines, "connection": "close"}) + content)
        await writer.drain()
