"""Contact routes: list, add, change, remove, and permissions."""

import asyncio
import hashlib
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from remit.errors import BadInput, OutOfDate
from remit.intake import entries
from remit.intake.book import FILE, ContactAddress, ContactEntry
from remit.model.caller import Scope
from remit.model.codec import JsonMap, text_of
from remit.server.bodies import ChangedContact, EmptyBody, NewContact, NewPermission
from remit.server.call import Call, CallResult, Route


async def look(call: Call) -> CallResult:
    """Return every contact, with what applies on each channel."""
    told = await call.house.permits.listed()
    return CallResult(told, headers={"ETag": f'"{_tag(told)}"'})


async def add(call: Call) -> CallResult:
    """Add a contact; an existing one gets what is new."""
    body = call.read(NewContact)
    lines = {_text(way): ContactAddress(_text(address)) for way, address in body.channels.items()}
    role = None if body.role is None else _text(body.role)
    entry = ContactEntry(_text(body.name), tuple(map(_text, body.aliases)), role, lines)
    await asyncio.to_thread(entries.put, _book(call), entry)
    return await look(call)


async def change(call: Call) -> CallResult:
    """Change a contact: omitted fields stay, null removes."""
    body = call.read(ChangedContact)
    only_if = await _expected(call)
    new = partial(_changed, body)
    await asyncio.to_thread(entries.change, _book(call), call.path["name"], new, only_if=only_if)
    return await look(call)


async def drop(call: Call) -> CallResult:
    """Remove a contact; messages to them then ask the owner."""
    call.read(EmptyBody)
    only_if = await _expected(call)
    await asyncio.to_thread(entries.drop, _book(call), call.path["name"], only_if=only_if)
    return await look(call)


async def permit(call: Call) -> CallResult:
    """Set whether a person is written to on a channel."""
    said = call.read(NewPermission)
    return CallResult(await call.house.permits.permit(said.contact, said.channel, said.policy))


def _book(call: Call) -> Path:
    return call.house.settings.home / FILE


async def _expected(call: Call) -> str | None:
    """Return the file version that the caller saw; None for any."""
    if call.version is None:
        return None
    now = await asyncio.to_thread(entries.version, _book(call))
    if call.version != _tag(await call.house.permits.listed()):
        raise OutOfDate("The contact book has changed since you looked at it; look again.")
    return now


def _tag(told: JsonMap) -> str:
    return hashlib.sha256(text_of(told).encode()).hexdigest()[:32]


def _changed(body: ChangedContact, old: ContactEntry) -> ContactEntry:
    said = body.model_fields_set
    gone = [way for way, address in body.channels.items() if address is None]
    kept = entries.without(old, gone)
    lines = {way: _line(old, way, each) for way, each in body.channels.items() if each is not None}
    aliases = tuple(dict.fromkeys(map(_text, body.aliases or ())))
    role = None if body.role is None else _text(body.role)
    return replace(
        kept,
        name=_text(body.name) if body.name is not None else kept.name,
        aliases=aliases if "aliases" in said else kept.aliases,
        role=role if "role" in said else kept.role,
        lines={**kept.lines, **lines},
    )


def _line(old: ContactEntry, way: str, address: str) -> ContactAddress:
    """Keep the old address entry, with its inbound id, as long as the address is the same."""
    before, text = old.lines.get(way), _text(address)
    return before if before is not None and before.address == text else ContactAddress(text)


def _text(text: str) -> str:
    text = text.strip()
    if not text or not text.isprintable():
        raise BadInput(f"{text!r:.60} must be text on one line that can be read.", field="name")
    return text


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/contacts",
        does=look,
        says="Everyone in the contact book, and whether they are written to unasked",
        gives="Contacts",
        tagged=True,
    ),
    Route(
        method="POST",
        path="/api/contacts",
        does=add,
        says="Put someone into the contact book, or add to what it says of them",
        gives="Contacts",
        body=NewContact,
        scope=Scope.ADMIN,
    ),
    # Before those with a name in the path: the first match reports errors.
    Route(
        method="POST",
        path="/api/contacts/permissions",
        does=permit,
        says="Say once and for all whether someone is written to on a channel",
        gives="Permission",
        body=NewPermission,
        scope=Scope.ADMIN,
    ),
    Route(
        method="PATCH",
        path="/api/contacts/{name}",
        does=change,
        says="Change what the contact book says of someone; null takes something out",
        gives="Contacts",
        body=ChangedContact,
        tagged=True,
        scope=Scope.ADMIN,
    ),
    Route(
        method="DELETE",
        path="/api/contacts/{name}",
        does=drop,
        says="Take someone out of the contact book; what is meant for them then asks you",
        gives="Contacts",
        body=EmptyBody,
        scope=Scope.ADMIN,
        tagged=True,
    ),
)
