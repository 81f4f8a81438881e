"""Form handlers of the settings page: contacts, permissions, tokens, channel tests."""

import asyncio
from functools import partial
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from remit.errors import BadInput, Conflict, NotFound
from remit.intake import entries
from remit.intake.book import FILE, ContactAddress, ContactEntry
from remit.model.caller import Scope
from remit.model.reply import Policy
from remit.model.task import Priority
from remit.server.bodies import EmptyBody, NewPermission, RequestBody
from remit.server.call import Call, CallResult, Does, Route
from remit.server.web import settings, shell
from remit.triggers import command

_NAME: Final = 200


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


class ContactForm(RequestBody):
    """A new contact, or more about an existing one."""

    name: Annotated[str, Field(max_length=_NAME)] = ""
    aliases: Annotated[str, Field(max_length=1000)] = ""  # with commas between them
    role: Annotated[str, Field(max_length=_NAME)] = ""
    channel: Annotated[str, Field(max_length=_NAME)] = ""
    address: Annotated[str, Field(max_length=500)] = ""


class RemoveContactForm(RequestBody):
    """A contact to remove; with a channel, only that address."""

    name: Annotated[str, Field(max_length=_NAME)]
    channel: Annotated[str, Field(max_length=_NAME)] = ""


class TokenForm(RequestBody):
    """A token form."""

    name: Annotated[str, Field(max_length=_NAME)] = ""
    scopes: Annotated[tuple[Scope, ...], BeforeValidator(_listed), Field(max_length=10)] = ()
    agent: bool = False
    days: Annotated[int, Field(ge=1, le=3660)] | None = None


async def test(call: Call) -> CallResult:
    """Send a marked message through the normal path."""
    call.read(EmptyBody)
    name, house = call.path["name"], call.house
    if name not in house.settings.channels:
        raise NotFound("channel", name[:60])
    mark, agent = house.ids.ulid()[-4:].lower(), house.settings.agent
    cue = command.cue(
        f"Test the channel {name}",
        ref=call.ref,
        channel=name,
        content=f"Test message {mark} from {agent} on {name}. Nothing needs doing.",
        priority=Priority.HIGH,
    )
    task = await house.intake.admit(cue)
    return shell.elsewhere(f"/settings/channels?test={task.id}#way-{name}")


async def switch_on(call: Call) -> CallResult:
    call.read(EmptyBody)
    await call.house.permits.switch_on(call.path["name"])
    return shell.elsewhere("/settings/channels")


async def add_contact(call: Call) -> CallResult:
    """Add a contact; an existing one gets what is new."""
    said = call.read(ContactForm)
    try:
        entry = _entry(said)
        await asyncio.to_thread(entries.put, call.house.settings.home / FILE, entry)
    except BadInput as bad:
        more = {"wrong": str(bad), "form": said.model_dump()}
        return await settings.section(call, "contacts", more, 422)
    return shell.elsewhere("/settings/contacts")


async def drop_contact(call: Call) -> CallResult:
    said, path = call.read(RemoveContactForm), call.house.settings.home / FILE
    if said.channel:
        less = partial(entries.without, ways=(said.channel,))
        await asyncio.to_thread(entries.change, path, said.name, less)
    else:
        await asyncio.to_thread(entries.drop, path, said.name)
    return shell.elsewhere("/settings/contacts")


async def permit(call: Call) -> CallResult:
    """Set whether a person is written to on a channel without asking."""
    said = call.read(NewPermission)
    try:
        told = await call.house.permits.permit(said.contact, said.channel, said.policy)
    except BadInput as bad:
        return await settings.section(call, "contacts", {"wrong": str(bad)}, 422)
    if told["holds"] != said.policy:
        kept = f"{said.policy} is kept, but {told['holds']} counts, for {FILE} says so."
        return await settings.section(call, "contacts", {"said": f"{told['name']}: {kept}"})
    return shell.elsewhere("/settings/contacts")


async def forget(call: Call) -> CallResult:
    """Remove a standing permission: from now on the owner is asked."""
    said = call.read(NewPermission)
    try:
        await call.house.permits.permit(said.contact, said.channel, Policy.ASK)
    except BadInput as bad:
        return await settings.section(call, "policies", {"wrong": str(bad)}, 422)
    return shell.elsewhere("/settings/policies")


async def make_token(call: Call) -> CallResult:
    """Create a token; its secret is only on this page."""
    said = call.read(TokenForm)
    try:
        token, secret = await call.callers.make(
            call.caller, said.name.strip(), frozenset(said.scopes), agent=said.agent, days=said.days
        )
    except (BadInput, Conflict) as bad:
        more = {"wrong": str(bad), "form": said.model_dump()}
        return await settings.section(call, "tokens", more, 422)
    return await settings.section(call, "tokens", {"secret": secret, "made": token}, 201)


async def revoke_token(call: Call) -> CallResult:
    call.read(EmptyBody)
    await call.callers.revoke(call.path["id"])
    return shell.elsewhere("/settings/tokens")


async def sign_out(call: Call) -> CallResult:
    """Sign a browser out; its pages and sockets end at once."""
    call.read(EmptyBody)
    await call.callers.sign_out(call.path["id"])
    return shell.elsewhere("/settings/tokens")


def _entry(said: ContactForm) -> ContactEntry:
    name = said.name.strip()
    if not name or not name.isprintable():
        raise BadInput("Give the whole name, on one line.", field="name")
    address = said.address.strip()
    if bool(said.channel) != bool(address):
        missing = "address" if said.channel else "channel"
        raise BadInput(f"Give an {missing}." if missing == "address" else "Choose a channel.")
    if not address.isprintable():
        raise BadInput("An address is on one line.", field="address")
    aliases = tuple(word for each in said.aliases.split(",") if (word := each.strip()))
    lines = {said.channel: ContactAddress(address)} if address else {}
    return ContactEntry(name, aliases, said.role.strip() or None, lines)


def _post(
    path: str, does: Does, says: str, body: type[RequestBody] = EmptyBody, *, kept: bool = True
) -> Route:
    return Route(
        method="POST",
        path=path,
        does=does,
        says=says,
        gives="Page",
        page=True,
        body=body,
        scope=Scope.ADMIN,
        kept=kept,
    )


ROUTES: Final = (
    _post("/settings/channels/{name}/test", test, "Try a channel out"),
    _post("/settings/channels/{name}/on", switch_on, "Use a channel again"),
    _post("/settings/contacts", add_contact, "Put someone into the book", ContactForm),
    _post(
        "/settings/contacts/drop", drop_contact, "Take someone out of the book", RemoveContactForm
    ),
    _post("/settings/contacts/policy", permit, "Whether someone is written to", NewPermission),
    _post("/settings/policies/forget", forget, "Take a permission back", NewPermission),
    _post("/settings/tokens", make_token, "Make a token", TokenForm, kept=False),
    _post("/settings/tokens/{id}/revoke", revoke_token, "Revoke a token"),
    _post("/settings/sign-ins/{id}/end", sign_out, "Sign a browser out"),
)
