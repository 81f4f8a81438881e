"""Who may come in: this machine, this site, whoever holds the token.

Loopback is no boundary. Any page the owner visits can send requests here, and a name that resolves
to 127.0.0.1 makes them look like our own. So the Host must be ours (against DNS rebinding), an
unsafe request must not come from another site (against forged forms), and the token must be right.
"""

import hmac
from collections.abc import Sequence
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remit.server import problem
from remit.server.problem import Problem

OWNER: Final = "owner"  # the only caller there is, so far
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
HOOKS: Final = "/hooks/"  # what providers call: by any name, without a token, with a signature
_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
_HTTP_PORT: Final = 80
_HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)


class Guard:
    """Stands before every route, those that are not there included."""

    def __init__(self, app: ASGIApp, *, token: str, port: int, public: frozenset[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._public = public
        named = {f"{name}:{port}" for name in _NAMES}
        self._hosts = named | set(_NAMES) if port == _HTTP_PORT else named
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        refusal = self._refusal(scope)
        answer = self._app if refusal is None else problem.response(refusal)
        await answer(scope, receive, safely)

    def _refusal(self, scope: Scope) -> Problem | None:
        # A signature over every byte proves more than a name or a site does, and each call there
        # is held against one. Under any other name nothing but these answers.
        if scope["path"].startswith(HOOKS):
            return None
        if _only(scope, b"host").lower() not in self._hosts:
            sentence = "This is Remit, on loopback; it answers to no other name."
            return Problem("misdirected", sentence)
        # A socket has no method; it can do whatever its messages say.
        if scope.get("method") not in SAFE and not self._same_site(scope):
            sentence = "Another site asked for this; only Remit's own pages may."
            return Problem("cross-site", sentence)
        if scope["path"] not in self._public and not self._has_token(scope):
            sentence = "Give the token that lies in Remit's directory: `Authorization: Bearer …`."
            return Problem("unauthorized", sentence, headers={"WWW-Authenticate": "Bearer"})
        return None

    def _same_site(self, scope: Scope) -> bool:
        """Programs send neither header; browsers send what no page can forge."""
        origin_fits = all(origin in self._origins for origin in _all(scope, b"origin"))
        # `same-site` would let in every other port of this machine.
        sites = _all(scope, b"sec-fetch-site")
        return origin_fits and all(site in ("same-origin", "none") for site in sites)

    def _has_token(self, scope: Scope) -> bool:
        scheme, _, given = _only(scope, b"authorization").partition(" ")
        fits = hmac.compare_digest(given.strip().encode("latin-1"), self._token)
        return fits and scheme.lower() == "bearer"


def _all(scope: Scope, name: bytes) -> Sequence[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _only(scope: Scope, name: bytes) -> str:
    """The header if it came once; twice is as good as not at all."""
    found = _all(scope, name)
    return found[0] if len(found) == 1 else ""
