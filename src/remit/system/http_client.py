"""One POST to a channel's provider, with TLS, and whether any byte of it left.

It tries once: no retries, no redirects, no second connection. Every failure is a value, because the
next step depends on one fact: before the first byte nothing was sent, after it the result is
unknown.
"""

import asyncio
import hashlib
import hmac
import json
import os
import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cache
from http import HTTPStatus
from typing import Final, TypeAlias

import httpx2
from msgspec import Struct

from remit.model.delivery import Accepted, Locked, Refused, SendRetry, Unknown
from remit.system import first_byte


def trusted_authorities(*, trust_env: bool = True) -> ssl.SSLContext:
    """Return one TLS context for all clients: loading the authorities takes 40 ms each time.

    With `trust_env`, SSL_CERT_FILE and SSL_CERT_DIR are used.
    """
    named = (os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")) if trust_env else ()
    return _context(trust_env, *named)


@cache
def _context(trust_env: bool, *_named: str | None) -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=trust_env)


Token: TypeAlias = Callable[[], str]  # called at each send, so a renewed one needs no restart
Fields: TypeAlias = Mapping[str, object]


def hidden(token: Token) -> Token:
    """Return a token that shows nothing to who prints what holds it."""

    def look_up() -> str:
        return token()

    return look_up


MAX_WAIT_SECONDS: Final = 3600.0  # a provider that asks for more is asked again then
MAX_ANSWER_BYTES: Final = 65_536  # bytes of an answer; a provider says yes or no in far fewer
_MAX_ERROR_CHARACTERS: Final = 200
_TELLING: Final = 8  # so many characters of a token in a row
_CONNECT: Final = 10.0
_LOCAL: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_HEADER_SAFE: Final = re.compile(r"[\x21-\x7e]{1,4096}")


class HttpReply(Struct, frozen=True):
    """The provider's answer. `body` is None if it broke off or was too long."""

    status: int
    retry_after: str
    body: bytes | None


class HttpFailure(Struct, frozen=True):
    """No answer came. `left`: whether any byte of the request was sent."""

    left: bool
    why: str


def open_client(url: str) -> httpx2.AsyncClient:
    """Return a client for one provider. Requests to this machine bypass any proxy."""
    limits = httpx2.Limits(max_connections=20, max_keepalive_connections=20, keepalive_expiry=5)
    near = httpx2.URL(url).host in _LOCAL
    tls = trusted_authorities()
    straight = httpx2.AsyncHTTPTransport(verify=tls, retries=0, limits=limits) if near else None
    return httpx2.AsyncClient(
        transport=straight,
        verify=tls,
        limits=limits,
        follow_redirects=False,
        # A compressed answer could expand without limit; ours are small.
        headers={"accept-encoding": "identity", "accept": "application/json"},
    )


async def post(
    client: httpx2.AsyncClient,
    url: str,
    token: str,
    fields: Fields,
    seconds: float,
    max_bytes: int = MAX_ANSWER_BYTES,
) -> HttpReply | HttpFailure:
    """Post fields once, as JSON, with a token if there is one."""
    content = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    headers = {"content-type": "application/json"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    return await post_bytes(client, url, headers, content, seconds, max_bytes)


async def post_bytes(
    client: httpx2.AsyncClient,
    url: str,
    headers: Mapping[str, str],
    content: bytes,
    seconds: float,
    max_bytes: int = MAX_ANSWER_BYTES,
) -> HttpReply | HttpFailure:
    """Post once; give up after this many seconds in all, however slowly the answer comes."""
    watch = _Watch()
    request = client.build_request(
        "POST",
        url,
        content=content,
        headers=headers,
        timeout=httpx2.Timeout(seconds, connect=min(_CONNECT, seconds)),
        extensions={"trace": watch.see},
    )
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await _ask(client, request, watch, max_bytes)
    except Exception as error:  # noqa: BLE001 - whatever broke, how far it came is known here alone
        if watch.head is not None:
            return watch.head  # the status is complete and may be enough
        late = limit.expired()
        return HttpFailure(watch.left, f"no answer within {seconds:g} s" if late else _name(error))


def form_with_file(
    fields: Mapping[str, str], field: str, name: str, kind: str, content: bytes
) -> tuple[str, bytes]:
    """Return the type and the bytes of a form that carries a file."""
    border = hashlib.sha256(content + name.encode()).hexdigest()
    shown = name.translate({ord('"'): "%22", ord("\r"): "%0D", ord("\n"): "%0A"})
    parts = [
        f'--{border}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in fields.items()
    ]
    disposition = f'Content-Disposition: form-data; name="{field}"; filename="{shown}"'
    head = f"{''.join(parts)}--{border}\r\n{disposition}\r\nContent-Type: {kind}\r\n\r\n"
    body = head.encode() + content + f"\r\n--{border}--\r\n".encode()
    return f"multipart/form-data; boundary={border}", body


async def get_bytes(
    client: httpx2.AsyncClient,
    url: str,
    headers: Mapping[str, str],
    seconds: float,
    max_bytes: int,
) -> bytes | None:
    """Return what lies at an address of a provider; None if it cannot be had, or is larger."""
    try:
        async with asyncio.timeout(seconds), client.stream("GET", url, headers=headers) as answer:
            return (
                await read_body(answer, max_bytes) if answer.status_code == HTTPStatus.OK else None
            )
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, OSError):
        return None


class _Watch:
    """Observes how far an exchange has come."""

    def __init__(self) -> None:
        self.left = False
        self.head: HttpReply | None = None

    async def see(self, name: str, about: Mapping[str, object]) -> None:
        if name.endswith("send_request_headers.started"):
            # A proxy's CONNECT is not the message.
            method = getattr(about.get("request"), "method", b"POST")
            if method == b"POST":
                await first_byte.before_sending()
                self.left = True


async def _ask(
    client: httpx2.AsyncClient, request: httpx2.Request, watch: _Watch, max_bytes: int
) -> HttpReply:
    answer = await client.send(request, stream=True)
    asked = answer.headers.get("retry-after", "")
    watch.head = HttpReply(answer.status_code, asked, None)
    try:
        return HttpReply(answer.status_code, asked, await read_body(answer, max_bytes))
    finally:
        await answer.aclose()


async def read_body(answer: httpx2.Response, max_bytes: int) -> bytes | None:
    """Return the body of an answer; None if it is longer."""
    read = bytearray()
    async for piece in answer.aiter_raw():
        read += piece
        if len(read) > max_bytes:
            return None
    return bytes(read)


def _name(error: Exception) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).lower()


def unclear_result(reply: HttpReply | HttpFailure, who: str) -> SendRetry | Unknown | None:
    """Return the result of an exchange without a clear answer; None if there was one."""
    if isinstance(reply, HttpReply):
        if reply.status // 100 in (2, 4):
            return None
        return Unknown(f"{who} answered {reply.status}, which says neither yes nor no.")
    if reply.left:
        return Unknown(f"{who} was sent the message, and then the line broke ({reply.why}).")
    return SendRetry(f"{who} could not be reached ({reply.why}).")


def refusal(reply: HttpReply, who: str, wait: float | None) -> SendRetry | Refused | Locked:
    """Return what a 4xx without another reason means: definitely not sent."""
    match reply.status:
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return Locked(f"{who} does not take the access token ({reply.status}). Renew it.")
        case HTTPStatus.REQUEST_TIMEOUT | HTTPStatus.TOO_EARLY | HTTPStatus.TOO_MANY_REQUESTS:
            return SendRetry(f"{who} asks for patience ({reply.status}).", wait)
        case _ if reply.body is None:
            return SendRetry(
                f"{who} refused ({reply.status}), and broke off before it said why.", wait
            )
        case _:
            return Refused(f"{who} refused the message ({reply.status}) and gave no reason.")


def answer_with_id(
    reply: HttpReply | HttpFailure, who: str, now: datetime, ref: object
) -> Accepted | SendRetry | Refused | Locked | Unknown:
    """Return what an exchange means: only a 2xx that names the message, by `ref`, is a yes."""
    doubt = unclear_result(reply, who)
    if doubt is not None or isinstance(reply, HttpFailure):
        return doubt or Unknown(f"{who} did not answer.")
    if reply.status >= HTTPStatus.BAD_REQUEST:
        return refusal(reply, who, wait_of(reply, now))
    if isinstance(ref, str) and ref.strip():
        return Accepted(ref)
    return Unknown(f"{who} answered {reply.status} and named no message.")


def is_signed(body: bytes, signature: str, secrets: Sequence[str]) -> bool:
    """Whether these exact bytes were signed with one of the secrets, old or new, as GitHub does."""
    given, signed = signature.encode(errors="replace"), False
    for secret in filter(None, secrets):
        made = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        signed |= hmac.compare_digest(given, f"sha256={made}".encode())
    return signed


def unfit(body: str, most: int) -> str | None:
    """Return why a text cannot be sent, in a sentence."""
    if not body.strip():
        return "The text is empty; a message has at least one character."
    if len(body) > most:
        return f"The text has {len(body)} characters; a message takes {most}. Send it in parts."
    try:
        body.encode()
    except UnicodeEncodeError:
        return "The text has half a character in it. Take it out."
    return None


def fields_of(body: bytes | None) -> dict[str, object]:
    """Return the JSON object of an answer; empty if there is none."""
    try:
        found: object = json.loads(body or b"")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def wait_of(reply: HttpReply, now: datetime) -> float | None:
    """Return how many seconds the provider asks to wait, bounded; None if it does not say."""
    asked = reply.retry_after.strip()
    if not asked:
        return None
    if asked.isascii() and asked.isdecimal():
        return min(float(asked[:9]), MAX_WAIT_SECONDS)
    try:
        until = parsedate_to_datetime(asked)
        seconds = (until - now).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(seconds, 0.0), MAX_WAIT_SECONDS)


def clean(words: object, token: str) -> str:
    """Return a provider's text as one short line without control characters and the token."""
    line = " ".join(words[:1000].split()) if isinstance(words, str) else ""
    line = "".join(char for char in line if char.isprintable())
    # A piece of a token would reveal it, so it is removed too.
    for start in range(max(len(token) - _TELLING, 0) + 1 if token else 0):
        line = line.replace(token[start : start + _TELLING], "…")
    return line[:_MAX_ERROR_CHARACTERS].rstrip(". ")


def is_header_safe(token: str) -> bool:
    """Whether a token can be in a header without ending it."""
    return _HEADER_SAFE.fullmatch(token) is not None
