"""Lists tokens and browser sessions; signs in with a one-time link or the owner's token, and out.

The session cookie is hidden from scripts and from other sites. It is set and read only under the
host name of the pages (`files.pages_host`), or under `public_url`. At 127.0.0.1, where any program
of this machine may ask, a correct token is answered with a link to that name. Codes and the token
are too long to guess; tries of the password are limited (`operations.callers`).
"""

import asyncio
import math
import threading
from typing import Annotated, Final
from urllib.parse import urlsplit

from msgspec import Meta

from remit.model.caller import Scope
from remit.model.codec import Json
from remit.operations import callers
from remit.operations.callers import SIGN_IN_LIFE, shape
from remit.operations.upkeep import sign_in_to_json
from remit.server.auth import DEVICE_COOKIE
from remit.server.bodies import RequestBody
from remit.server.call import Call, CallResult
from remit.server.routes import form, page, read
from remit.server.web import shell
from remit.store.secrets import Secrets, machine_ring


@read("/api/tokens", "Tokens", scope=Scope.ADMIN)
async def listed(call: Call) -> CallResult:
    """The tokens of programs, without their secrets."""
    rows: list[Json] = [shape(token) for token in await call.callers.tokens()]
    return CallResult({"tokens": rows})


@read("/api/sign-ins", "SignIns", scope=Scope.ADMIN)
async def browsers(call: Call) -> CallResult:
    """The browsers that are signed in."""
    rows: list[Json] = [sign_in_to_json(each, call.key) for each in await call.callers.sign_ins()]
    return CallResult({"signIns": rows})


_USED: Final = (
    "This link was used before or is older than 15 minutes. Run `remit open` for another."
)
_ELSEWHERE: Final = "Links for signing in work at another address. Run `remit open` for one."
_WRONG: Final = (
    "This is neither your password nor the token in Remit's directory (the file `token`)."
)
_TOO_OFTEN: Final = "Too many wrong tries. Wait {} seconds, or run `remit open` at the machine."
_LIFE: Final = int(SIGN_IN_LIFE.total_seconds())
_DEVICE_LIFE: Final = 400 * 24 * 3600  # as long as browsers keep a cookie
_ONE_AT_A_TIME: Final = threading.Lock()


class SignInToken(RequestBody, frozen=True):
    """What a person pastes."""

    token: Annotated[str, Meta(max_length=500)] = ""
    next: Annotated[str, Meta(max_length=2000)] = "/"


@page("/sign-in", "code", "next", public=True)
async def look(call: Call) -> CallResult:
    """Use up the code of the link; without one, ask for the token."""
    after, code = _local(call.text("next")), call.text("code")
    if code is None:
        return CallResult("", 303, after) if call.key.startswith("sig-") else _page(call, after)
    if not call.at_pages:
        return _page(call, after, _ELSEWHERE, 401)
    secret = await call.callers.sign_in_by_code(code)
    return _page(call, after, _USED, 401) if secret is None else _signed_in(call, secret, after)


@form("/sign-in", public=True)
async def enter(call: Call, given: SignInToken) -> CallResult:
    """Sign in with the token of this directory, or with the password."""
    after = _local(given.next)
    if call.callers.is_owners(given.token):
        if not call.at_pages:
            return _go_on(await call.callers.link(after))
        return _signed_in(call, await call.callers.new_sign_in(), after)
    wrong = await _check_password(call, given.token)
    if wrong:
        return _page(call, after, *wrong)
    return _signed_in(call, await call.callers.new_sign_in(), after)


async def _check_password(call: Call, given: str) -> tuple[str, int] | None:
    """Return why this is no password; None if it is the owner's."""
    if not call.at_pages or not await asyncio.to_thread(callers.is_set, call.app.settings.home):
        return _WRONG, 401
    limiter, who = call.callers.limiter, (call.source, call.device)
    if pause := await limiter.begin(*who):
        return _TOO_OFTEN.format(math.ceil(pause.total_seconds())), 429
    if not await asyncio.to_thread(_is_password, call, given):
        return _WRONG, 401
    await limiter.succeeded(*who)
    return None


def _is_password(call: Call, given: str) -> bool:
    home = call.app.settings.home
    found = Secrets(home, machine_ring(home)).get(callers.SECRET)
    with _ONE_AT_A_TIME:  # each takes 32 MB
        return callers.is_password(given, found)


@form("/sign-out", public=True)
async def leave(call: Call) -> CallResult:
    if call.key.startswith("sig-"):
        await call.callers.sign_out(call.key)
    return CallResult(
        "", 303, "/sign-in", headers={"Set-Cookie": _cookie(call, call.cookie, "", 0)}
    )


def _signed_in(call: Call, secret: str, after: str) -> CallResult:
    headers = {"Set-Cookie": _cookie(call, call.cookie, secret, _LIFE)}
    if call.is_public and not call.device:
        # A header has one value here, and names are compared without case.
        proof = call.callers.new_device()
        headers["set-cookie"] = _cookie(call, DEVICE_COOKIE, proof, _DEVICE_LIFE)
    if call.from_elsewhere:
        # After a link on another site a browser withholds the cookie until our own page asks.
        return _go_on(after, headers)
    return CallResult("", 303, after, headers=headers)


def _cookie(call: Call, name: str, value: str, seconds: int) -> str:
    secure = "; Secure" if call.is_public else ""
    return f"{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}"


def _go_on(address: str, headers: dict[str, str] | None = None) -> CallResult:
    """Return a page that redirects itself; a form may not be answered by another origin."""
    shown = shell.render("pages/signed-in.html", {"next": address})
    return CallResult(shown, media="text/html", headers=headers or {})


def _page(call: Call, after: str, wrong: str = "", status: int = 200) -> CallResult:
    values = {"next": after, "wrong": wrong, "is_public": call.is_public}
    return CallResult(shell.render("pages/sign-in.html", values), status, media="text/html")


def _local(address: str | None) -> str:
    """Return where to go next: always a path of ours."""
    found = address or "/"
    # Browsers read `//x` and `/\\x` as another host, and drop unprintable characters.
    parts = urlsplit(found) if found.isprintable() and "\\" not in found else None
    plain = parts is not None and not parts.scheme and not parts.netloc
    is_ours = plain and found.startswith("/") and not found.startswith("//")
    return found if is_ours and not found.startswith("/sign-") else "/"
