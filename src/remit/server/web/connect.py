"""Connect a channel or calendars on a page: sign in at the provider, or pair a chat by a code."""

from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import urlencode

from msgspec import Meta, to_builtins

from remit.channels import pairing
from remit.channels.oauth import CALLBACK, KINDS, provider_of
from remit.errors import BadInput, Conflict, NotFound, NotPossibleNow, RemitError, Transient
from remit.model.caller import Scope
from remit.operations import sections, upkeep
from remit.operations.settings_arguments import (
    AddAccount,
    BeginCalendarSignIn,
    BeginSignIn,
    FinishSignIn,
    PairChannel,
)
from remit.operations.table import perform
from remit.server.bodies import RequestBody
from remit.server.call import Call, CallResult
from remit.server.page_language import say
from remit.server.routes import form, page
from remit.server.web import shell

_PLACE: Final = "/settings/connect"
_ACCOUNT: Final = "/settings/account"
_PASSED_ON: Final = ("code", "state", "error", "iss")
# Providers add these to a redirect; they are not read.
_IGNORED: Final = (
    "error_description", "error_uri", "error_subcode", "scope", "authuser", "hd", "prompt",
    "session_state", "client_info",
)  # fmt: skip
_TITLES: Final = {"gmail": "Gmail", "outlook": "Outlook", "google": "Google Calendar"}
OFFERED: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    table: tuple((kind, _TITLES[kind]) for kind, each in KINDS.items() if each == table)
    for table in ("channels", "calendars")
}
_AT_HOME: Final = (
    "A provider sends your browser back to the machine that Remit runs on. "
    "Sign in there: `remit open` opens these pages."
)
_NOT_YET: Final = "Remit is taking up the new settings. Try again in a moment."


class AccountForm(RequestBody, frozen=True):
    """A new account that the owner signs in for."""

    kind: Annotated[str, Meta(max_length=60)]
    name: Annotated[str, Meta(max_length=60)] = ""
    user: Annotated[str, Meta(max_length=320)] = ""
    client_id: Annotated[str, Meta(max_length=500)] = ""
    client_secret: Annotated[str, Meta(max_length=500)] = ""
    url: Annotated[str, Meta(max_length=500)] = ""


class PairForm(RequestBody, frozen=True):
    """Whose chat it is; empty: the owner's."""

    to: Annotated[str, Meta(max_length=200)] = ""


# Sign in ------------------------------------------------------------------------------------------


@page(_ACCOUNT, "kind", scope=Scope.ADMIN)
async def look(call: Call) -> CallResult:
    """Ask for what a new account needs."""
    kind = call.text("kind") or ""
    return await _page(call, {"form": AccountForm(kind=kind, name=kind)})


async def _shown_again(
    call: Call, sent: AccountForm | BeginSignIn, wrong: BadInput | Conflict
) -> CallResult:
    """Say what is wrong, for a new account beside its form."""
    form = {"form": sent} if isinstance(sent, AccountForm) else {}
    return await _page(call, {**form, "wrong": str(wrong), "back": _section_of(sent)}, 422)


def _section_of(sent: AccountForm | BeginSignIn) -> str:
    if isinstance(sent, AccountForm):
        return KINDS.get(sent.kind, "channels")
    return "calendars" if isinstance(sent, BeginCalendarSignIn) else "channels"


async def _begin(call: Call, sent: AccountForm | BeginSignIn) -> CallResult:
    """Show the link to the provider."""
    if call.is_public:
        raise BadInput(_AT_HOME)
    wanted = AddAccount(**to_builtins(sent)) if isinstance(sent, AccountForm) else sent
    made = (await perform(call, wanted)).content
    return await _page(call, {"leaves": made, "back": _section_of(sent)})


@form(_ACCOUNT, sections.add_account, refused=_shown_again)
async def add(call: Call, given: AccountForm) -> CallResult:
    """Show the link to the provider of a new account; what is wrong is said beside the form."""
    return await _begin(call, given)


@form("/settings/channels/{name}/connect", sections.begin_sign_in, refused=_shown_again)
async def begin(call: Call, arguments: BeginSignIn) -> CallResult:
    """Show the link to the provider of a channel."""
    return await _begin(call, arguments)


@form("/settings/calendars/{name}/connect", sections.begin_calendar_sign_in, refused=_shown_again)
async def begin_calendar(call: Call, arguments: BeginCalendarSignIn) -> CallResult:
    return await _begin(call, arguments)


@page(CALLBACK, *_PASSED_ON, *_IGNORED, public=True)
async def provider_redirect(call: Call) -> CallResult:
    """Lead a browser to where its sign-in counts; the provider's site is then behind it."""
    found = {name: word for name in _PASSED_ON if (word := call.text(name))}
    if not call.at_pages:
        return CallResult("", 303, f"{call.callers.pages_url}{CALLBACK}?{urlencode(found)}")
    # After a redirect from another site a browser withholds the cookie until our own page asks.
    html = shell.render("pages/signed-in.html", {"next": f"{_PLACE}?{urlencode(found)}"})
    return CallResult(html, media="text/html")


@page(_PLACE, *_PASSED_ON, scope=Scope.ADMIN)
async def ask(call: Call) -> CallResult:
    """Show the button that finishes the sign-in."""
    return await _page(call, {"finishes": {name: call.text(name) or "" for name in _PASSED_ON}})


@form(_PLACE, sections.finish_sign_in)
async def finish(call: Call, sent: FinishSignIn) -> CallResult:
    try:
        done = await perform(call, sent)
    except (BadInput, Transient) as bad:
        return await _page(call, {"wrong": str(bad)}, 422)
    table, _, name = str(done.content["section"]).partition(".")
    return shell.redirect(f"/settings/{table}#way-{name}")


# Pair ---------------------------------------------------------------------------------------------


@form("/settings/channels/{name}/pair", upkeep.pair_channel)
async def pair(call: Call, given: PairForm) -> CallResult:
    """Show a code that connects a chat; it is shown once, and its state is followed."""
    name = call.path["name"]
    check_in_use(call, name)
    try:
        made = (await perform(call, PairChannel(name, given.to.strip() or None))).content
    except (BadInput, NotFound) as bad:
        return await _page(call, {"wrong": str(bad), "pairs": _pairs(call, name)}, 422)
    digest = pairing.digest_of(str(made["code"]))
    around = {"pairing": made, "pairs": _pairs(call, name), **await _state(call, name, digest)}
    return await _page(call, around)


@page("/settings/channels/{name}/pairing", "of", scope=Scope.ADMIN)
async def look_pairing(call: Call) -> CallResult:
    """Return what became of a code so far."""
    found = await _state(call, call.path["name"], call.text("of") or "")
    return shell.part("parts/pairing.html", found)


async def _state(call: Call, name: str, digest: str) -> dict[str, object]:
    now = call.app.clock.now()
    state = await call.app.db.read(pairing.state_of, name, digest, now)
    return {"channel": name, "digest": digest, "state": state.value}


def _pairs(call: Call, name: str) -> Mapping[str, object]:
    return {"name": name, "people": people(call)}


def check_in_use(call: Call, channel: str) -> None:
    """Refuse what needs a channel that is only in the file yet."""
    if channel not in call.app.outfit.channels:
        raise NotPossibleNow(_NOT_YET)


def people(call: Call) -> list[str]:
    """Return the contacts; none if their file cannot be read, which their own page says."""
    try:
        return call.app.permits.names()
    except RemitError:
        return []


async def _page(call: Call, more: Mapping[str, object], status: int = 200) -> CallResult:
    values: dict[str, object] = {
        "form": None, "leaves": None, "finishes": None, "pairing": None, "pairs": None,
        "wrong": None, "back": "channels", "title": say("Connect"), **more,
    }  # fmt: skip
    given = values["form"]
    if isinstance(given, AccountForm):
        provider = provider_of(given.kind)
        values |= {"provider": provider.called, "needs_secret": provider.needs_secret}
        values |= {"title": _TITLES[given.kind], "back": KINDS[given.kind]}
    return await shell.page(call, "pages/connect.html", values, status)
