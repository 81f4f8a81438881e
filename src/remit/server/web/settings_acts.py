"""Form handlers of the settings page: contacts, permissions, tokens, channel tests."""

from typing import Annotated, Final, cast
from urllib.parse import urlencode

from msgspec.structs import replace
from pydantic import BeforeValidator, Field

from remit.channels.oauth.providers import CALLBACK
from remit.contacts.book import FILE
from remit.errors import BadInput, Conflict, Transient
from remit.model.caller import Scope
from remit.model.notice import Notice
from remit.model.reply import Policy
from remit.operations import contacts, entry, upkeep
from remit.operations.operation import Operation
from remit.operations.settings_arguments import (
    BeginSignIn,
    ChangedContact,
    ChannelTest,
    FinishSignIn,
    NewPermission,
    NewToken,
    RemoveContact,
    SetPassword,
    TriedWay,
)
from remit.operations.sign_ins import BEGIN, FINISH
from remit.operations.table import perform
from remit.server.bodies import EmptyBody, RequestBody, as_list, model_of
from remit.server.call import Call, CallResult, Does, QueryParameter, Route, form, page
from remit.server.web import notices_section, settings, shell

_NAME: Final = 200
_GONE: Final = "The password is removed; nobody signs in with one."


class RemoveContactForm(RequestBody):
    """A contact to remove; with a channel, only that address."""

    name: Annotated[str, Field(max_length=_NAME)]
    channel: Annotated[str, Field(max_length=_NAME)] = ""


class TokenForm(RequestBody):
    """A token form."""

    name: Annotated[str, Field(max_length=_NAME)] = ""
    scopes: Annotated[tuple[Scope, ...], BeforeValidator(as_list), Field(max_length=10)] = ()
    agent: bool = False
    days: Annotated[int, Field(ge=1, le=3660)] | None = None


async def test(call: Call) -> CallResult:
    """Send a marked message the way every message goes."""
    made = (await perform(call, call.arguments(ChannelTest))).content
    return shell.elsewhere(f"/settings/channels?test={made['id']}#way-{call.path['name']}")


async def drop_contact(call: Call) -> CallResult:
    said = call.read(RemoveContactForm)
    less = ChangedContact(contact=said.name, channels={said.channel: None})
    await perform(call, less if said.channel else RemoveContact(said.name))
    return shell.elsewhere("/settings/contacts")


async def permit(call: Call) -> CallResult:
    """Whether someone is written to on a channel without a question."""
    said = call.arguments(NewPermission)
    try:
        told = (await perform(call, said)).content
    except BadInput as bad:
        return await settings.section(call, "contacts", {"wrong": str(bad)}, 422)
    if told["holds"] != said.policy:
        kept = f"{said.policy} is kept, but {told['holds']} counts, for {FILE} says so."
        return await settings.section(call, "contacts", {"said": f"{told['name']}: {kept}"})
    return shell.elsewhere("/settings/contacts")


async def forget(call: Call) -> CallResult:
    """Take a standing permission back: from now on it asks."""
    said = replace(call.arguments(NewPermission), policy=Policy.ASK)
    try:
        await perform(call, said)
    except BadInput as bad:
        return await settings.section(call, "policies", {"wrong": str(bad)}, 422)
    return shell.elsewhere("/settings/policies")


async def make_token(call: Call) -> CallResult:
    """Create a token; its secret is only on this page."""
    said = call.read(TokenForm)
    wanted = NewToken(said.name.strip(), list(said.scopes), said.agent, said.days)
    try:
        made = await perform(call, wanted)
    except (BadInput, Conflict) as bad:
        more = {"wrong": str(bad), "form": said.model_dump()}
        return await settings.section(call, "tokens", more, 422)
    told = {"secret": made.content["secret"], "made": made.value}
    return await settings.section(call, "tokens", told, 201)


async def set_password(call: Call) -> CallResult:
    """Set or take back the password; the page says so."""
    try:
        told = (await perform(call, call.arguments(SetPassword))).content
    except BadInput as bad:
        return await settings.section(call, "tokens", {"wrong": str(bad)}, 422)
    said = "The password is set. Other browsers must sign in again." if told["set"] else _GONE
    return await settings.section(call, "tokens", {"said": said})


def _then(operation: Operation, place: str) -> Does:
    """Do it, and show that part of the settings again."""

    async def act(call: Call) -> CallResult:
        await operation.perform(call, call.arguments(operation.arguments))
        return shell.elsewhere(f"/settings/{place}")

    return act


_PERMISSION: Final = model_of(NewPermission)
_ON, _REVOKE, _SIGN_OUT = upkeep.SWITCH_CHANNEL_ON, entry.REVOKE_TOKEN, entry.END_SIGN_IN
ROUTES: Final = (
    form(
        "/settings/channels/{name}/test", test, "Try a channel out", EmptyBody, upkeep.TEST_CHANNEL
    ),
    form(
        "/settings/channels/{name}/on",
        _then(_ON, "channels"),
        "Use a channel again",
        EmptyBody,
        _ON,
    ),
    form(
        "/settings/contacts/drop",
        drop_contact,
        "Take someone out of the book",
        RemoveContactForm,
        contacts.REMOVE,
    ),
    form(
        "/settings/contacts/policy",
        permit,
        "Whether someone is written to",
        _PERMISSION,
        contacts.PERMIT,
    ),
    form(
        "/settings/policies/forget", forget, "Take a permission back", _PERMISSION, contacts.PERMIT
    ),
    form(
        "/settings/password",
        set_password,
        "Set the password",
        model_of(SetPassword),
        entry.SET_PASSWORD,
    ),
    form("/settings/tokens", make_token, "Make a token", TokenForm, entry.MAKE_TOKEN),
    form(
        "/settings/tokens/{id}/revoke",
        _then(_REVOKE, "tokens"),
        "Revoke a token",
        EmptyBody,
        _REVOKE,
    ),
    form(
        "/settings/sign-ins/{id}/end",
        _then(_SIGN_OUT, "tokens"),
        "Sign a browser out",
        EmptyBody,
        _SIGN_OUT,
    ),
)


_PLACE: Final = "/settings/connect"
_LONGEST: Final = 4096
_PASSED_ON: Final = ("code", "state", "error", "iss")
# Providers add these to a redirect; they are not read.
_IGNORED: Final = (
    "error_description", "error_uri", "error_subcode", "scope", "authuser", "hd", "prompt",
    "session_state", "client_info",
)  # fmt: skip


class FinishForm(RequestBody):
    """What a provider sent back, from the page that showed it."""

    state: Annotated[str, Field(max_length=_LONGEST)] = ""
    code: Annotated[str, Field(max_length=_LONGEST)] = ""
    error: Annotated[str, Field(max_length=_LONGEST)] = ""
    iss: Annotated[str, Field(max_length=_LONGEST)] = ""


async def begin(call: Call) -> CallResult:
    """Show the link to the provider."""
    try:
        made = (await perform(call, call.arguments(BeginSignIn))).content
    except BadInput as bad:
        return await settings.section(call, "channels", {"wrong": str(bad)}, 422)
    return await settings.section(call, "channels", {"leaves": made})


async def come_back(call: Call) -> CallResult:
    """Lead a browser to where its sign-in counts; the provider's site is then behind it."""
    found = {name: word for name in _PASSED_ON if (word := call.text(name))}
    if not call.at_pages:
        return CallResult("", 303, f"{call.callers.pages_url}{CALLBACK}?{urlencode(found)}")
    # After a redirect from another site a browser withholds the cookie until our own page asks.
    html = shell.render("pages/signed-in.html", {"next": f"{_PLACE}?{urlencode(found)}"})
    return CallResult(html, media="text/html")


async def ask(call: Call) -> CallResult:
    """Show the button that finishes the sign-in."""
    found = {name: call.text(name) or "" for name in _PASSED_ON}
    return await settings.section(call, "channels", {"finishes": found})


async def finish(call: Call) -> CallResult:
    said = call.read(FinishForm)
    try:
        done = await perform(call, FinishSignIn(said.state, said.code, said.error, said.iss))
    except (BadInput, Transient) as bad:
        return await settings.section(call, "channels", {"wrong": str(bad)}, 422)
    return shell.elsewhere(f"/settings/channels#way-{done.content['channel']}")


def _parameters(*names: str) -> tuple[QueryParameter, ...]:
    return tuple(
        QueryParameter(each, "As the provider sent it.", {"type": "string"}) for each in names
    )


SIGN_INS_ROUTES: Final = (
    Route(
        method="GET",
        path=CALLBACK,
        does=come_back,
        says="Where a provider sends the browser back to",
        gives="Page",
        query=_parameters(*_PASSED_ON, *_IGNORED),
        public=True,
        page=True,
    ),
    page(
        _PLACE,
        ask,
        "Finish a sign-in",
        *_parameters(*_PASSED_ON),
        scope=Scope.ADMIN,
    ),
    form("/settings/channels/{name}/connect", begin, "Sign in for a channel", EmptyBody, BEGIN),
    form(_PLACE, finish, "Finish a sign-in", FinishForm, FINISH),
)


async def try_out(call: Call) -> CallResult:
    """Tell over one way that this is a test, and say how that went."""
    try:
        sent = await perform(call, call.arguments(TriedWay))
    except BadInput as bad:
        return await settings.section(call, "notices", {"wrong": str(bad)}, 422)
    notice = cast("Notice", sent.value)
    told = notices_section.test_result_sentence(notice, notices_section.ways(call))
    return await settings.section(call, "notices", {"said": told})


NOTICES_ACTS_ROUTES: Final = (
    form(
        "/settings/notices/test", try_out, "Try a way out", model_of(TriedWay), upkeep.TEST_NOTICE
    ),
)
