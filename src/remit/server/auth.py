"""The request guard: this machine, this site, and a known caller.

Loopback is no boundary. Programs call 127.0.0.1 with a token; browsers load the pages under their
own host name with a cookie that counts only there. Any page the owner visits can send requests
here, and a name that resolves to 127.0.0.1 makes them look like ours. So the Host must be ours (DNS
rebinding), a write must not come from another site (CSRF, forged sockets), and the caller must be
known. A browser sends its cookie for any page, so a write with a cookie must also carry our Origin.
"""

from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import quote, urlsplit

from msgspec import Struct
from starlette.responses import RedirectResponse, Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remit.model.caller import NOBODY
from remit.operations.callers import CallerRegistry, KnownCaller
from remit.server import problem
from remit.server.problem import Problem
from remit.server.routes import Route

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
FEED: Final = "/feed/"  # what phones subscribe to: any host name, with the secret in its address
HOOKS: Final = "/hooks/"  # what providers call: any host name, without a token, with a signature
STATIC: Final = "/static/"  # needed by every page, including sign-in
PUBLIC_COOKIE: Final = "__Host-remit"  # a browser takes it only by TLS, and for this host alone
DEVICE_COOKIE: Final = "__Host-remit-device"
_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
_HTTP_PORT: Final = 80
_STARTS: Final = ("http.response.start", "websocket.http.response.start")
_HEADERS: Final = {
    b"cache-control": b"no-store",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
}
_PAGE_HEADERS: Final = _HEADERS | {
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self';"
        b" img-src 'self' data:; connect-src 'self'; manifest-src 'self'; form-action 'self';"
        b" base-uri 'none'; frame-ancestors 'none'"
    ),
    # With `no-referrer` a browser would hide the origin of a form from us, too.
    b"referrer-policy": b"same-origin",
}


class RequestGuard:
    """Guards every route, including unknown ones."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        callers: CallerRegistry,
        port: int,
        routes: Iterable[Route],
        public_url: str = "",
    ) -> None:
        self._app = app
        self._callers = callers
        routes = tuple(routes)
        self._public = frozenset(route.path for route in routes if route.public)
        self._pages = [compile_path(route.path)[0] for route in routes if route.page]
        loopback = _HostNames.on_loopback(_NAMES, port)
        pages = str(urlsplit(callers.pages_url).hostname)
        self._pages_at = loopback if pages in _NAMES else _HostNames.on_loopback([pages], port)
        self._public_at = _HostNames.of_url(public_url)
        self._hosts = (loopback, self._pages_at, self._public_at)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def safely(message: Message) -> None:
            if message["type"] in _STARTS:
                message["headers"] = _kept_safe(list(message.get("headers", ())))
            await send(message)

        answer: ASGIApp
        try:
            answer = await self._refusal(scope) or self._app
        except Exception as error:  # noqa: BLE001 - the store may be away; the caller gets a problem
            answer = problem.response(problem.problem_of_error(error))
        await answer(scope, receive, safely)

    async def _refusal(self, scope: Scope) -> Response | None:
        scope["callers"], scope["caller"], scope["key"] = self._callers, NOBODY, ""
        host = _only(scope, b"host").lower()
        scope["is_public"] = host in self._public_at.names
        scope["at_pages"] = scope["is_public"] or host in self._pages_at.names
        scope["cookie"] = PUBLIC_COOKIE if scope["is_public"] else self._callers.cookie
        scope["device"] = _cookie(scope, DEVICE_COOKIE) if scope["is_public"] else ""
        path: str = scope["path"]
        # A signature over every byte proves more than a host name, and each call there is checked
        # for one. Under other host names only these answer.
        if path.startswith((HOOKS, FEED)):
            return None
        if elsewhere := self._elsewhere(scope):
            return problem.response(elsewhere)
        known = None if path.startswith(STATIC) else await self._find_caller(scope)
        if known is not None:
            scope["caller"], scope["key"], scope["until"] = known.caller, known.key, known.until
            forged = known.cookie and _is_unsafe(scope) and not _header_values(scope, b"origin")
            return problem.response(_cross_site()) if forged else None
        return None if path in self._public or path.startswith(STATIC) else self._stranger(scope)

    def _elsewhere(self, scope: Scope) -> Problem | None:
        """Return a problem if the host name or the site is not ours."""
        host = _only(scope, b"host").lower()
        found = next((each for each in self._hosts if host in each.names), None)
        # Our own TLS listener is for others: it knows only the name they use.
        by_tls = scope.get("scheme") in ("https", "wss")
        if found is None or (by_tls and not scope["is_public"]):
            sentence = "This is Remit; it answers to no other name. See public_url under [server]."
            return Problem("misdirected", sentence)
        return _cross_site() if _is_unsafe(scope) and not _same_site(scope, found) else None

    async def _find_caller(self, scope: Scope) -> KnownCaller | None:
        """Return the caller; a given token alone decides, and a wrong one is refused."""
        if given := _header_values(scope, b"authorization"):
            scheme, _, token = given[0].partition(" ")
            fits = len(given) == 1 and scheme.lower() == "bearer"
            return await self._callers.by_token(token.strip().encode("latin-1")) if fits else None
        cookie = _cookie(scope, scope["cookie"]) if scope["at_pages"] else ""
        return await self._callers.by_cookie(cookie.encode("latin-1")) if cookie else None

    def _stranger(self, scope: Scope) -> Response:
        """Send people to sign in; tell programs what is missing."""
        path: str = scope["path"]
        wants = f"/sign-in?next={quote(_target(scope), safe='/')}"
        is_page = scope.get("method") in ("GET", "HEAD") and any(
            each.match(path) for each in self._pages
        )
        headers = {"WWW-Authenticate": "Bearer"}
        if is_page and not _header_values(scope, b"hx-request"):
            return RedirectResponse(wants, 303)
        if is_page:
            headers["HX-Redirect"] = "/sign-in"  # a part of a page cannot show another page
        sentence = "Give the token that lies in Remit's directory: `Authorization: Bearer …`."
        return problem.response(Problem("unauthorized", sentence, headers=headers))


def _with_port(names: Iterable[str], port: int) -> frozenset[str]:
    """Return the names as a Host header may give them."""
    named = {f"{name}:{port}" for name in names}
    return frozenset(named | set(names) if port == _HTTP_PORT else named)


class _HostNames(Struct, frozen=True):
    """The names of one place in a Host header, and its origins."""

    names: frozenset[str]
    origins: frozenset[str]

    @classmethod
    def on_loopback(cls, names: Iterable[str], port: int) -> "_HostNames":
        found = _with_port(names, port)
        return cls(found, frozenset(f"http://{name}" for name in found))

    @classmethod
    def of_url(cls, url: str) -> "_HostNames":
        """The place of `public_url`; browsers leave the usual port out."""
        host = url.removeprefix("https://").removesuffix(":443")
        return cls(frozenset({host}), frozenset({f"https://{host}"})) if host else _NOWHERE


_NOWHERE: Final = _HostNames(frozenset(), frozenset())


def _same_site(scope: Scope, place: _HostNames) -> bool:
    """Whether it comes from our site: programs send neither header, browsers cannot forge them."""
    origin_fits = all(origin in place.origins for origin in _header_values(scope, b"origin"))
    # `same-site` would allow every other port of this machine.
    sites = _header_values(scope, b"sec-fetch-site")
    return origin_fits and all(site in ("same-origin", "none") for site in sites)


def _is_unsafe(scope: Scope) -> bool:
    """Whether it may change something; a socket has no method and may do anything."""
    return scope.get("method") not in SAFE


def _cross_site() -> Problem:
    return Problem("cross-site", "Another site asked for this; only Remit's own pages may.")


def _kept_safe(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Add security headers; an answer's own headers stay."""
    values_by_name = {name.lower(): value for name, value in headers}
    is_page = values_by_name.get(b"content-type", b"").startswith(b"text/html")
    wanted = _PAGE_HEADERS if is_page else _HEADERS
    return [
        *headers,
        *((name, value) for name, value in wanted.items() if name not in values_by_name),
    ]


def _target(scope: Scope) -> str:
    query = scope["query_string"].decode("latin-1")
    return f"{scope['path']}?{query}" if query else str(scope["path"])


def _cookie(scope: Scope, ours: str) -> str:
    """Return our cookie, if it came once; parsed by hand, as other programs set cookies too."""
    pairs = [
        part.partition("=") for line in _header_values(scope, b"cookie") for part in line.split(";")
    ]
    found = [value.strip() for name, _, value in pairs if name.strip() == ours]
    return found[0] if len(found) == 1 else ""


def _header_values(scope: Scope, name: bytes) -> Sequence[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _only(scope: Scope, name: bytes) -> str:
    """Return the header if it came once; otherwise empty."""
    found = _header_values(scope, name)
    return found[0] if len(found) == 1 else ""
