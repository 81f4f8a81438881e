"""Form handlers of the settings page: contacts, permissions, tokens, channel tests."""

from typing import Annotated, Final, cast

from msgspec import Meta, to_builtins
from msgspec.structs import replace

from remit.contacts.book import FILE
from remit.errors import BadInput, Conflict
from remit.model.caller import Scope
from remit.model.conversation import Notice
from remit.model.reply import Policy
from remit.operations import contacts, entry, upkeep
from remit.operations.operation import Operation
from remit.operations.settings_arguments import (
    ChangedContact,
    ChannelTest,
    NewPermission,
    NewToken,
    RemoveContact,
    SetPassword,
    TriedWay,
)
from remit.operations.table import perform
from remit.server.bodies import EmptyBody, RequestBody
from remit.server.call import Call, CallResult, Does, form
from remit.server.web import settings, shell

_NAME: Final = 200
_GONE: Final = "The password is removed; nobody signs in with one."


class RemoveContactForm(RequestBody, frozen=True):
    """A contact to remove; with a channel, only that address."""

    name: Annotated[str, Meta(max_length=_NAME)]
    channel: Annotated[str, Meta(max_length=_NAME)] = ""


class TokenForm(RequestBody, frozen=True):
    """A token form."""

    name: Annotated[str, Meta(max_length=_NAME)] = ""
    scopes: Annotated[tuple[Scope, ...], Meta(max_length=10)] = ()
    agent: bool = False
    days: Annotated[int, Meta(ge=1, le=3660)] | None = None


async def test(call: Call) -> CallResult:
    """Send a marked message the way every message goes."""
    made = (await perform(call, call.arguments(ChannelTest))).content
    return shell.elsewhere(f"/settings/channels?test={made['id']}#way-{call.path['name']}")


async def drop_contact(call: Call) -> CallResult:
    given = call.read(RemoveContactForm)
    less = ChangedContact(contact=given.name, channels={given.channel: None})
    await perform(call, less if given.channel else RemoveContact(given.name))
    return shell.elsewhere("/settings/contacts")


async def permit(call: Call) -> CallResult:
    """Whether someone is written to on a channel without a question."""
    permission = call.arguments(NewPermission)
    try:
        content = (await perform(call, permission)).content
    except BadInput as bad:
        return await settings.section(call, "contacts", {"wrong": str(bad)}, 422)
    if content["holds"] != permission.policy:
        kept = f"{permission.policy} is kept, but {content['holds']} counts, for {FILE} says so."
        return await settings.section(call, "contacts", {"said": f"{content['name']}: {kept}"})
    return shell.elsewhere("/settings/contacts")


async def forget(call: Call) -> CallResult:
    """Take a standing permission back: from now on it asks."""
    permission = replace(call.arguments(NewPermission), policy=Policy.ASK)
    try:
        await perform(call, permission)
    except BadInput as bad:
        return await settings.section(call, "policies", {"wrong": str(bad)}, 422)
    return shell.elsewhere("/settings/policies")


async def make_token(call: Call) -> CallResult:
    """Create a token; its secret is only on this page."""
    given = call.read(TokenForm)
    wanted = NewToken(given.name.strip(), list(given.scopes), given.agent, given.days)
    try:
        made = await perform(call, wanted)
    except (BadInput, Conflict) as bad:
        more = {"wrong": str(bad), "form": to_builtins(given)}
        return await settings.section(call, "tokens", more, 422)
    content = {"secret": made.content["secret"], "made": made.value}
    return await settings.section(call, "tokens", content, 201)


async def set_password(call: Call) -> CallResult:
    """Set or take back the password; the page says so."""
    try:
        content = (await perform(call, call.arguments(SetPassword))).content
    except BadInput as bad:
        return await settings.section(call, "tokens", {"wrong": str(bad)}, 422)
    sentence = (
        "The password is set. Other browsers must sign in again." if content["set"] else _GONE
    )
    return await settings.section(call, "tokens", {"said": sentence})


def _then(operation: Operation, place: str) -> Does:
    """Do it, and show that part of the settings again."""

    async def act(call: Call) -> CallResult:
        await operation.perform(call, call.arguments(operation.arguments))
        return shell.elsewhere(f"/settings/{place}")

    return act


_PERMISSION: Final = NewPermission
_ON, _REVOKE, _SIGN_OUT = upkeep.switch_channel_on, entry.revoke_token, entry.end_sign_in


async def try_out(call: Call) -> CallResult:
    """Tell over one way that this is a test, and say how that went."""
    try:
        sent = await perform(call, call.arguments(TriedWay))
    except BadInput as bad:
        return await settings.section(call, "notices", {"wrong": str(bad)}, 422)
    notice = cast("Notice", sent.value)
    sentence = settings.test_result_sentence(notice, settings.notice_ways(call))
    return await settings.section(call, "notices", {"said": sentence})


ROUTES: Final = (
    form("/settings/channels/{name}/test", test, EmptyBody, upkeep.test_channel),
    form("/settings/channels/{name}/on", _then(_ON, "channels"), EmptyBody, _ON),
    form("/settings/contacts/drop", drop_contact, RemoveContactForm, contacts.remove_contact),
    form("/settings/contacts/policy", permit, _PERMISSION, contacts.permit_contact),
    form("/settings/policies/forget", forget, _PERMISSION, contacts.permit_contact),
    form("/settings/password", set_password, SetPassword, entry.set_password),
    form("/settings/tokens", make_token, TokenForm, entry.make_token),
    form("/settings/tokens/{id}/revoke", _then(_REVOKE, "tokens"), EmptyBody, _REVOKE),
    form("/settings/sign-ins/{id}/end", _then(_SIGN_OUT, "tokens"), EmptyBody, _SIGN_OUT),
    form("/settings/notices/test", try_out, TriedWay, upkeep.test_notice),
)
