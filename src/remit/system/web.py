"""Reads one page of the web as plain text, within limits of time and size.

Every address, the first and each redirect, is checked as `safe_http` says: no private network,
unless the settings name the host. What the server sends is hostile until `readable_text` has made
text of it in a process of its own.
"""

import asyncio
import zlib
from collections.abc import Collection
from typing import Final
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

import httpx2
import idna
from msgspec import Struct

from remit.system import readable_text, safe_http
from remit.system.address_rules import BlockedAddress
from remit.system.safe_http import Resolve, UnresolvedAddress

MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_OK: Final = 200
_HTML: Final = ("text/html", "application/xhtml+xml")
_TEXT: Final = ("application/json", "application/xml", "application/yaml", "application/x-ndjson")
_SAFE: Final = "%/:=&?~+!$,;'@()*"  # characters of an address that stay as they are
_GZIP: Final = b"\x1f\x8b"
_HEADERS: Final = {
    "user-agent": "Remit (reads pages for its owner)",
    "accept": "text/html,application/xhtml+xml,application/json,text/*;q=0.9,*/*;q=0.1",
}


class WebLimits(Struct, frozen=True):
    seconds: float = 20.0  # for all redirects, the page and its text
    max_bytes: int = 5_000_000
    own_hosts: Collection[str] = ()  # hosts of the owner's network that may be read, without TLS


class WebPage(Struct, frozen=True):
    """A page as text. `url` is where it was found after all redirects."""

    url: str
    text: str
    size: int  # bytes that were read


class WebFailure(Struct, frozen=True):
    """Why there is no text, in a sentence."""

    why: str
    is_refused: bool = False  # the address may not be read, so another try is in vain


async def read_page(
    url: str, limits: WebLimits, resolve: Resolve = safe_http.resolve_host
) -> WebPage | WebFailure:
    """Fetch an address and return its readable text."""
    try:
        async with asyncio.timeout(limits.seconds):
            return await _read_page(url, limits, resolve)
    except TimeoutError:
        return WebFailure(f"The page did not come within {limits.seconds:g} s.")
    except httpx2.HTTPError as error:
        long = "longer than it may be" in str(error)
        most = f"The page has more than {limits.max_bytes:,} bytes, which is too much to read."
        return WebFailure(most if long else f"The page did not come ({type(error).__name__}).")


def normal_address(url: str, own_hosts: Collection[str] = ()) -> str | WebFailure:
    """Return an address as it is asked for: without a fragment, in ASCII, with TLS."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
        ascii_host = host if host.isascii() else idna.encode(host, uts46=True).decode()
    except (ValueError, UnicodeError):
        return WebFailure("That is no address; one looks like https://example.org/page.")
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.password:
        return WebFailure("That is no address; one looks like https://example.org/page.")
    place = f"[{ascii_host}]" if ":" in ascii_host else ascii_host
    place += f":{port}" if port else ""
    is_own = place in own_hosts or ascii_host in own_hosts
    scheme = parts.scheme if is_own else "https"
    path = quote(parts.path or "/", safe=_SAFE)
    return urlunsplit((scheme, place, path, quote(parts.query, safe=_SAFE), ""))


async def _read_page(url: str, limits: WebLimits, resolve: Resolve) -> WebPage | WebFailure:
    for _ in range(MAX_REDIRECTS + 1):
        address = normal_address(url, limits.own_hosts)
        if isinstance(address, WebFailure):
            return address
        found = await _ask(address, limits, resolve)
        if not isinstance(found, str):
            return found
        url = urljoin(address, found)
    return WebFailure(f"The address leads on more than {MAX_REDIRECTS} times.")


async def _ask(url: str, limits: WebLimits, resolve: Resolve) -> WebPage | WebFailure | str:
    """Return the page, why there is none, or the address to which it redirects."""
    parts = urlsplit(url)
    is_own = parts.netloc in limits.own_hosts or parts.hostname in limits.own_hosts
    place = await safe_http.resolve_address(url, private=is_own, resolve=resolve)
    if isinstance(place, BlockedAddress):
        return WebFailure(place.why, is_refused=True)
    if isinstance(place, UnresolvedAddress):
        return WebFailure(f"{parts.hostname} cannot be found: {place.why}.")
    client = safe_http.open_client(place, most=limits.max_bytes)
    async with client, client.stream("GET", url, headers=_HEADERS) as answer:
        return await _page(url, answer, limits)


async def _page(url: str, answer: httpx2.Response, limits: WebLimits) -> WebPage | WebFailure | str:
    onward = answer.headers.get("location")
    if answer.status_code in _REDIRECTS and onward:
        return str(onward)
    if answer.status_code != _OK:
        return WebFailure(f"{answer.url.host} answered with status {answer.status_code}.")
    kind, _, more = answer.headers.get("content-type", "text/html").partition(";")
    kind = kind.strip().lower()
    if (wrong := _unreadable(kind)) is not None:
        return WebFailure(wrong)
    body = _unpack_body(await answer.aread(), limits.max_bytes)
    charset = more.partition("charset=")[2].strip("\"' ")
    text = await _text(body, charset, url if kind in _HTML else "", limits.seconds)
    return WebPage(url, text, len(body)) if text else WebFailure("The page holds no readable text.")


def _unreadable(kind: str) -> str | None:
    if kind == "application/pdf":
        return "That is a PDF, which cannot be read here. Look for the same as a page."
    if kind in (*_HTML, *_TEXT) or kind.startswith("text/") or kind.endswith(("+json", "+xml")):
        return None
    return f"That is {kind[:60] or 'something'}, not text; only pages and texts are read."


def _unpack_body(body: bytes, most: int) -> bytes:
    """Return a body that was compressed although nobody asked for it, up to the limit."""
    if not body.startswith(_GZIP):
        return body
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, most)
    except zlib.error:
        return b""


async def _text(body: bytes, charset: str, html_of: str, seconds: float) -> str:
    if html_of:
        return await readable_text.extract(body, html_of, charset, seconds)
    try:
        return body.decode(charset or "utf-8", "replace").strip()
    except LookupError:
        return body.decode("utf-8", "replace").strip()
