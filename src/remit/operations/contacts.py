"""Operations on people: the contact book, and who may be written to without asking."""

import asyncio
import hashlib
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from remit.contacts import edit
from remit.contacts.book import FILE, ContactAddress, ContactEntry
from remit.errors import BadInput, NotFound, OutOfDate
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap, pick_fields
from remit.model.permit import Permission
from remit.model.reply import Policy
from remit.operations import settings_arguments as args
from remit.operations.operation import Answer, OperationRequest, etag_of, operation
from remit.operations.texts import readable_line
from remit.ports import AddressedChannel, implements
from remit.settings import Settings
from remit.store import permissions

_changes_book: Final = partial(operation, Scope.ADMIN, "Contacts", "The contact book is changed.")
_EXAMPLES: Final = (
    ("mail", "anna@example.org"),
    ("whatsapp", "+66 81 234 5678"),
    ("telegram", "123456789@telegram"),
)


async def look(request: OperationRequest) -> Answer:
    """Return everyone in the book, with the policy for each address."""
    content = await request.app.permits.listed()
    return Answer(content, etag=etag_of(content))


@_changes_book()
async def add_contact(request: OperationRequest, arguments: args.NewContact) -> Answer:
    """Put someone into the contact book, or add to what it says of them."""
    lines = {
        readable_line(way): ContactAddress(readable_line(address))
        for way, address in arguments.channels.items()
    }
    role = None if arguments.role is None else readable_line(arguments.role)
    for way, line in lines.items():
        _check_address(request, way, line.address)
    entry = ContactEntry(
        readable_line(arguments.name), tuple(map(readable_line, arguments.aliases)), role, lines
    )
    await asyncio.to_thread(edit.put, _book(request), entry)
    return await look(request)


@_changes_book(tagged=True)
async def change_contact(request: OperationRequest, arguments: args.ChangedContact) -> Answer:
    """Change what the contact book says of someone; null takes something out."""
    for way, address in arguments.channels.items():
        if address is not None:
            _check_address(request, way, readable_line(address))
    only_if, new = await _check_version(request), partial(_change_entry, arguments)
    await asyncio.to_thread(edit.change, _book(request), arguments.contact, new, only_if=only_if)
    return await look(request)


@_changes_book(tagged=True)
async def remove_contact(request: OperationRequest, arguments: args.RemoveContact) -> Answer:
    """Take someone out of the contact book; what is meant for them then asks you."""
    only_if = await _check_version(request)
    await asyncio.to_thread(edit.drop, _book(request), arguments.name, only_if=only_if)
    return await look(request)


@operation(Scope.ADMIN, "Permission", "The permission holds from now on.")
async def permit_contact(request: OperationRequest, arguments: args.NewPermission) -> Answer:
    """Say once and for all whether someone is written to on a channel."""
    return Answer(
        await request.app.permits.permit(arguments.contact, arguments.channel, arguments.policy)
    )


async def list_rules(request: OperationRequest) -> Answer:
    """Return all standing rules; asking is the default and no rule."""
    rules: list[Json] = [_rule(each) for each in await _stored_rules(request)]
    return Answer({"rules": rules})


@operation(Scope.ADMIN, "Rules", "The permission holds from now on.")
async def add_rule(request: OperationRequest, arguments: args.NewRule) -> Answer:
    """Say once and for all whether someone is written to on a channel."""
    await request.app.permits.permit(arguments.contact, arguments.channel, arguments.policy)
    return await list_rules(request)


@operation(Scope.ADMIN, "Rules", "From now on you are asked.")
async def remove_rule(request: OperationRequest, arguments: args.RemoveRule) -> Answer:
    """Take a word back; from then on you are asked."""
    found = [each for each in await _stored_rules(request) if _rule_id(each) == arguments.id]
    if not found:
        raise NotFound("rule", arguments.id[:60])
    asks = Permission(found[0].contact, found[0].channel, found[0].address, Policy.ASK)
    await request.app.db.write(permissions.put, asks, request.app.clock.now())
    return await list_rules(request)


def _book(request: OperationRequest) -> Path:
    return request.app.settings.home / FILE


async def _check_version(request: OperationRequest) -> str | None:
    """Return the version of the file that the caller saw; None if any will do."""
    if request.version is None:
        return None
    now = await asyncio.to_thread(edit.version, _book(request))
    if request.version != etag_of(await request.app.permits.listed()):
        raise OutOfDate("The contact book has changed since you looked at it; look again.")
    return now


def _change_entry(arguments: args.ChangedContact, old: ContactEntry) -> ContactEntry:
    gone = [way for way, address in arguments.channels.items() if address is None]
    kept = edit.remove_from_entry(old, gone)
    lines = {
        way: _new_address(old, way, each)
        for way, each in arguments.channels.items()
        if each is not None
    }
    aliases, role = arguments.aliases, arguments.role
    if aliases is not UNSET:
        kept = replace(kept, aliases=tuple(dict.fromkeys(map(readable_line, aliases or ()))))
    if role is not UNSET:
        kept = replace(kept, role=None if role is None else readable_line(role))
    name = readable_line(arguments.name) if arguments.name is not None else kept.name
    return replace(kept, name=name, lines={**kept.lines, **lines})


def _new_address(old: ContactEntry, way: str, address: str) -> ContactAddress:
    """Return the new address; the id of incoming messages stays if the address is the same."""
    before, text = old.lines.get(way), readable_line(address)
    return before if before is not None and before.address == text else ContactAddress(text)


def _check_address(request: OperationRequest, way: str, address: str) -> None:
    """Refuse what the channel could not send to."""
    channel, settings = request.app.outfit.channels.get(way), request.app.settings
    if channel is None:
        check_address(settings, way, address)
    elif implements(channel, AddressedChannel) and not channel.takes(address):
        raise _no_address(settings, way, address)


def check_address(settings: Settings, way: str, address: str) -> None:
    """Refuse what no channel of this kind could send to, whether or not it is set up."""
    if not _is_address(_kind(settings, way), address):
        raise _no_address(settings, way, address)


def _is_address(kind: str, address: str) -> bool:
    from remit.channels.mail import letter_head  # noqa: PLC0415 - rarely needed, slow to import
    from remit.channels.telegram.bot_api import chat_of  # noqa: PLC0415 - as above

    if kind == "email":
        try:
            letter_head.address(address)
        except BadInput:
            return False
    if kind == "whatsapp":
        return any(map(str.isdigit, address))
    return kind != "telegram" or chat_of(address) is not None


def _kind(settings: Settings, way: str) -> str:
    known = settings.channels.get(way)
    return (known.service if known else way).lower()


def _no_address(settings: Settings, way: str, address: str) -> BadInput:
    kind = _kind(settings, way)
    example = next((f" Write it like {each}." for name, each in _EXAMPLES if name in kind), "")
    return BadInput(f"{address!r:.60} is no address for {way}.{example}", field="address")


async def _stored_rules(request: OperationRequest) -> list[Permission]:
    found = await request.app.db.read(permissions.list_permissions)
    return [each for each in found if each.policy is not Policy.ASK]


def _rule(permission: Permission) -> JsonMap:
    head = {"id": _rule_id(permission), "kind": "permission"}
    return head | pick_fields(permission, "contact channel address policy givenAt")


def _rule_id(permission: Permission) -> str:
    whose = f"{permission.contact}\x1f{permission.channel}"
    return "rule-" + hashlib.sha256(whose.encode()).hexdigest()[:26]
