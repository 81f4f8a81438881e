"""Asks over HTTP, MCP, A2A and the live socket, and keeps what is answered in a readable form."""

import json
import re
import zlib
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

import httpx2

from remit.model.codec import JsonMap
from tests.golden.day import Day, fill
from tests.peer.peers import VERSION, meta
from tests.server.served import TOKEN
from tests.server.sockets import last, listening

_BEARER: Final = {"Authorization": f"Bearer {TOKEN}"}
_FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
# Headers that differ by themselves, and those that every answer has: those are shown once.
_PLAIN: Final = frozenset(
    {
        *("date", "content-length", "cache-control", "content-security-policy", "vary"),
        *("cross-origin-opener-policy", "cross-origin-resource-policy", "referrer-policy"),
        *("x-content-type-options", "x-frame-options"),
    }
)
_VARYING: Final = ("date", "content-length")
_ON_PAGE: Final = "as on the page"  # what the page of the same address has in that field
_ICON: Final = re.compile(r"<svg .*?</svg>", re.DOTALL)
_MAIN: Final = re.compile(r"<main.*?</main>", re.DOTALL)
_TITLE: Final = re.compile(r"<title>.*?</title>")
_HERE: Final = re.compile(r' aria-current="page"| data-page="[^"]*"| class="on"')


def read(day: Day, path: str, headers: Mapping[str, str] | None = None) -> httpx2.Response:
    sent = _BEARER if headers is None else headers
    return day.client.get(day.url + fill(path, day.names), headers=sent)


def write(day: Day, method: str, path: str, body: str) -> httpx2.Response:
    sent = _BEARER | {"Content-Type": "application/json"}
    url = day.url + fill(path, day.names)
    return day.client.request(method, url, content=body.encode(), headers=sent)


def send_form(day: Day, path: str, form: Mapping[str, str]) -> httpx2.Response:
    url = day.url + fill(path, day.names)
    said = dict(form)
    for name in [name for name, value in form.items() if value == _ON_PAGE]:
        page = day.client.get(url, headers=_BEARER).text
        found = re.search(rf'name="{name}" value="([^"]*)"', page)
        assert found, f"The page {path} has no field {name}."
        said[name] = found[1]
    return day.client.post(url, content=urlencode(said), headers=_BEARER | _FORM)


def every_header(answer: httpx2.Response) -> str:
    kept = {name: value for name, value in answer.headers.items() if name not in _VARYING}
    return "".join(f"{name}: {value}\n" for name, value in sorted(kept.items()))


def written(answer: httpx2.Response, frame: str | None = None) -> str:
    """An answer: status, the headers that are its own, and its body.

    A page is shown without its frame, unless it has another one than `frame`.
    """
    own = [(k, v) for k, v in sorted(answer.headers.items()) if k not in _PLAIN]
    head = f"{answer.status_code}\n" + "".join(f"{name}: {value}\n" for name, value in own)
    media = answer.headers.get("content-type", "").partition(";")[0]
    if media.endswith("json"):
        return head + as_json(answer.json())
    if media == "text/html":
        return head + _readable(_without_frame(answer.text, frame))
    return head + f"{answer.text}\n"


def as_json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _readable(html: str) -> str:
    """HTML with a tag a line; each icon is a number."""
    short = _ICON.sub(lambda found: f"<svg {zlib.crc32(found[0].encode()):08x}>", html)
    short = re.sub(r"(\?v=)[0-9a-f]{12}", r"\1HASH", short)
    short = re.sub(r"\s*\n\s*", "\n", short.strip())
    return re.sub(r"(?<=>)(?=<(?!/))", "\n", short) + "\n"


def _without_frame(html: str, frame: str | None) -> str:
    found = _MAIN.search(html)
    if found is None or frame not in (None, frame_of(html)):
        return html
    title = _TITLE.search(html)
    return f"{title[0] if title else ''}\n{found[0]}\n"


def frame_of(html: str) -> str:
    """What all pages have around them."""
    plain = _HERE.sub("", _TITLE.sub("", _MAIN.sub("", html)))
    return re.sub(r"<(link|script)[^>]*>(</script>)?\s*", "", plain)


def ask_agent(day: Day, protocol: str, method: str, params: str, n: int) -> httpx2.Response:
    """One request as another agent sends it."""
    said = json.loads(fill(params, day.names))
    sent = {"Authorization": f"Bearer {day.names['secret']}", "Content-Type": "application/json"}
    if protocol == "mcp":
        said["_meta"] = meta({})
        name = said.get("name", said.get("uri"))
        sent |= {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
        sent |= {"Mcp-Name": str(name)} if name else {}
    else:
        sent["A2A-Version"] = "1.0"
    body = {"jsonrpc": "2.0", "id": n, "method": method, "params": said}
    return day.client.post(f"{day.url}/{protocol}", content=json.dumps(body), headers=sent)


def live(day: Day) -> list[JsonMap]:
    """All that the live socket tells somebody who missed the whole day, in order."""
    with listening(day, since=0) as ear:
        return ear.until(last(day))
