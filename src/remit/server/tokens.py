"""Lists tokens and browser sessions; signs in with a one-time link or the owner's token, and out.

The session cookie is hidden from scripts and from other sites. It is set and read only under the
host name of the pages (`files.pages_host`). At 127.0.0.1, where any program of this machine may
ask, a correct token is answered with a link to that name. Wrong codes and tokens are not counted:
both are too long to guess, and a limit would let any website lock the owner out.
"""

from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import Field

from remit.model.caller import Scope
from remit.model.codec import Json
from remit.operations.callers import SIGN_IN_LIFE, shape
from remit.operations.entry import sign_in_to_json
from remit.server.bodies import EmptyBody, RequestBody
from remit.server.call import Call, CallResult, QueryParameter, Route, read
from remit.server.web import shell


async def listed(call: Call) -> CallResult:
    told: list[Json] = [shape(token) for token in await call.callers.tokens()]
    return CallResult({"tokens": told})


async def browsers(call: Call) -> CallResult:
    told: list[Json] = [sign_in_to_json(each, call.key) for each in await call.callers.sign_ins()]
    return CallResult({"signIns": told})


ROUTES: Final = (
    read(
        "/api/tokens",
        listed,
        "The tokens of programs, without their secrets",
        "Tokens",
        scope=Scope.ADMIN,
    ),
    read(
        "/api/sign-ins", browsers, "The browsers that are signed in", "SignIns", scope=Scope.ADMIN
    ),
)


_USED: Final = (
    "This link was used before or is older than 15 minutes. Run `remit open` for another."
)
_ELSEWHERE: Final = "Links for signing in work at another address. Run `remit open` for one."
_WRONG: Final = "This is not the token in Remit's directory (the file `token`)."
_COOKIE: Final = "{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}"


class SignInToken(RequestBody):
    """What a person pastes."""

    token: Annotated[str, Field(max_length=500)] = ""
    next: Annotated[str, Field(max_length=2000)] = "/"


async def look(call: Call) -> CallResult:
    """Use up the code of the link; without one, ask for the token."""
    after, code = _local(call.text("next")), call.text("code")
    if code is None:
        return CallResult("", 303, after) if call.key.startswith("sig-") else _page(after)
    if not call.at_pages:
        return _page(after, _ELSEWHERE, 401)
    secret = await call.callers.sign_in_by_code(code)
    return _page(after, _USED, 401) if secret is None else _signed_in(call, secret, after)


async def enter(call: Call) -> CallResult:
    said = call.read(SignInToken)
    after = _local(said.next)
    if not call.callers.is_owners(said.token):
        return _page(after, _WRONG, 401)
    if not call.at_pages:
        return _go_on(await call.callers.link(after))
    secret = await call.callers.sign_in_by_token(said.token)
    return _page(after, _WRONG, 401) if secret is None else _signed_in(call, secret, after)


async def leave(call: Call) -> CallResult:
    call.read(EmptyBody)
    if call.key.startswith("sig-"):
        await call.callers.sign_out(call.key)
    gone = _COOKIE.format(call.callers.cookie, "", 0)
    return CallResult("", 303, "/sign-in", headers={"Set-Cookie": gone})


def _signed_in(call: Call, secret: str, after: str) -> CallResult:
    life = int(SIGN_IN_LIFE.total_seconds())
    kept = _COOKIE.format(call.callers.cookie, secret, life)
    if call.from_elsewhere:
        # After a link on another site a browser withholds the cookie until our own page asks.
        return _go_on(after, {"Set-Cookie": kept})
    return CallResult("", 303, after, headers={"Set-Cookie": kept})


def _go_on(address: str, headers: dict[str, str] | None = None) -> CallResult:
    """Return a page that redirects itself; a form may not be answered by another origin."""
    page = shell.render("pages/signed-in.html", {"next": address})
    return CallResult(page, media="text/html", headers=headers or {})


def _page(after: str, wrong: str = "", status: int = 200) -> CallResult:
    page = shell.render("pages/sign-in.html", {"next": after, "wrong": wrong})
    return CallResult(page, status, media="text/html")


def _local(address: str | None) -> str:
    """Return where to go next: always a path of ours."""
    found = address or "/"
    # Browsers read `//x` and `/\\x` as another host, and drop unprintable characters.
    told = urlsplit(found) if found.isprintable() and "\\" not in found else None
    plain = told is not None and not told.scheme and not told.netloc
    is_ours = plain and found.startswith("/") and not found.startswith("//")
    return found if is_ours and not found.startswith("/sign-") else "/"


SIGN_IN_ROUTES: Final = (
    Route(
        method="GET",
        path="/sign-in",
        does=look,
        says="Sign a browser in",
        gives="Page",
        query=(
            QueryParameter("code", "What the link carries.", {"type": "string"}),
            QueryParameter("next", "Where to go then.", {"type": "string"}),
        ),
        public=True,
        page=True,
    ),
    Route(
        method="POST",
        path="/sign-in",
        does=enter,
        says="Sign a browser in with the token",
        gives="Page",
        status=303,
        body=SignInToken,
        public=True,
        page=True,
    ),
    Route(
        method="POST",
        path="/sign-out",
        does=leave,
        says="Sign this browser out",
        gives="Page",
        status=303,
        body=EmptyBody,
        public=True,
        page=True,
    ),
)
