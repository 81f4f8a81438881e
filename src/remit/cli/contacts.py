"""`remit contacts`: list and change contacts, and whether Remit asks before writing to them.

Contacts are changed in their file, one entry at a time. Permissions are in the store; between the
file and the store the stricter one counts.
"""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, TypeAlias, cast

from remit import settings as app_settings
from remit.cli import codes, out, remit_client
from remit.cli.commands import CommandGroup
from remit.cli.lookup import contacts_of
from remit.cli.out import AsJson, Piece, StyledText, flag
from remit.contacts import edit, permits
from remit.contacts.book import FILE, ContactAddress, ContactEntry
from remit.errors import BadInput, NotFound
from remit.model.codec import Json, JsonMap
from remit.model.reply import Policy
from remit.operations.contacts import check_address
from remit.operations.settings_arguments import NewPermission
from remit.operations.texts import readable_line
from remit.settings import Settings
from remit.store import permissions
from remit.store.read_only import open_read_only

_Name: TypeAlias = Annotated[str, flag("The contact's name or alias.")]
_Channel: TypeAlias = Annotated[str, flag("The channel.")]
_COLOURS: Mapping[str, str] = {"allow": "green", "ask": "yellow", "deny": "red"}

app = CommandGroup("contacts")


@app.default
@app.command("list")
def everyone(*, json: AsJson = False) -> int:
    """List all contacts, and who is written to without asking you."""
    content = _contacts_json(app_settings.load())
    rows: list[list[Piece]] = []
    for person in _maps(content["contacts"]):
        ways = _maps(person["channels"]) or [{}]
        rows += [_row(person, way, first=n == 0) for n, way in enumerate(ways)]
    for other in _maps(content["others"]):
        names = (other["contact"], other["channel"], other["address"])
        rows.append([*map(str, names), _policy_text(other)])
    empty = f'Nobody is in {FILE}; `remit contacts add "Anna Weber" --channel …` adds someone.'
    return out.listing(json, content, rows, ("NAME", "CHANNEL", "ADDRESS", "UNASKED?"), empty)


@app.command()
def show(name: _Name, /, *, json: AsJson = False) -> int:
    """Show everything about one contact."""
    settings = app_settings.load()
    whole = contacts_of(settings).name_for(name)
    found = [each for each in _maps(_contacts_json(settings)["contacts"]) if each["name"] == whole]
    if not found:
        raise NotFound("contact", name)
    if json:
        out.emit(found[0])
        return codes.DONE
    person = found[0]
    out.line(StyledText(str(person["name"]), "bold"), f"  {person['role'] or ''}")
    for alias in cast("list[str]", person["aliases"]):
        out.line(f"  also {alias}")
    for way in _maps(person["channels"]):
        known = f"  (known by {way['id']})" if way["id"] else ""
        here = "" if way["here"] else "  not set up here"
        out.line(f"  {way['channel']}  {way['address']}{known}  ", _policy_text(way), here)
    if quiet := cast("list[str]", person["quiet"]):
        out.line(f"  gets nothing: {', '.join(quiet)}")
    for permission in _maps(person["permissions"]):
        given = (
            f"  you said {permission['policy']} on {permission['channel']}, {permission['givenAt']}"
        )
        out.line(StyledText(given, "dim"))
    return codes.DONE


@app.command()
def add(
    name: Annotated[str, flag("The full name.")],
    /,
    *,
    channel: Annotated[tuple[str, ...], flag("An address: whatsapp=+4915…; repeatable.")] = (),
    id_: Annotated[
        tuple[str, ...], flag("The sender id of their messages, if it is not the address.", "--id")
    ] = (),
    alias: Annotated[tuple[str, ...], flag("Another name you use for them; repeatable.")] = (),
    role: Annotated[str | None, flag("Their role; owner is you.")] = None,
    json: AsJson = False,
) -> int:
    """Add a contact, or add an address, alias or role to one."""
    settings = app_settings.load()
    remit_client.furnish(settings)
    addresses, ids = _pairs(channel, "--channel"), _pairs(id_, "--id")
    for known in sorted(ids.keys() - addresses.keys()):
        raise BadInput(f"--id names {known}, and --channel gives no address on it.", field="id")
    for each, address in addresses.items():
        check_address(settings, each, address)
    lines = {each: ContactAddress(address, ids.get(each)) for each, address in addresses.items()}
    kept = edit.put(
        settings.home / FILE, ContactEntry(readable_line(name), tuple(alias), role, lines)
    )
    return out.done_with(kept.name, f"{kept.name} is in {FILE}.", json)


@app.command()
def remove(
    name: _Name,
    /,
    *,
    channel: Annotated[tuple[str, ...], flag("Remove only this address.")] = (),
    alias: Annotated[tuple[str, ...], flag("Remove only this alias.")] = (),
    json: AsJson = False,
) -> int:
    """Remove a contact; messages for them ask you from then on."""
    settings = app_settings.load()
    if channel or alias:
        less = partial(edit.remove_from_entry, ways=channel, aliases=alias)
        kept = edit.change(settings.home / FILE, name, less)
        return out.done_with(kept.name, f"{kept.name} is in {FILE} without it.", json)
    gone = edit.drop(settings.home / FILE, name)
    return out.done_with(gone.name, f"{gone.name} is not in {FILE} any more.", json)


def _permits(name: str, policy: Policy, text: str) -> None:
    """Register a command that sets whether a contact is written to; `text` is its help."""

    def act(name: _Name, channel: _Channel, /, *, json: AsJson = False) -> int:
        answer = remit_client.ask(NewPermission(name, channel, policy))
        return out.print_result(json, answer, permits.sentence(answer))

    act.__doc__ = text
    app.command(name)(act)


_permits(
    "allow", Policy.ALLOW, "Write to them there without asking, while the address stays the same."
)
_permits("ask", Policy.ASK, "Ask before each message; this undoes allow and deny.")
_permits("deny", Policy.DENY, "Never write to them there; such messages are refused.")


def _contacts_json(settings: Settings) -> JsonMap:
    with open_read_only(settings.database) as tx:
        return permits.list_contacts(contacts_of(settings), permissions.list_permissions(tx))


def _pairs(given: tuple[str, ...], name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in given:
        key, sign, value = each.partition("=")
        if not sign or not key.strip() or not value.strip():
            raise BadInput(
                f"{name} is {each!r:.60}; it must look like email=anna@example.org.", field=name
            )
        found[key.strip()] = readable_line(value)
    return found


def _row(person: JsonMap, way: JsonMap, *, first: bool) -> list[Piece]:
    name = f"{person['name']}{' (you)' if person['role'] == 'owner' else ''}" if first else ""
    if not way:
        return [name, StyledText("none", "dim"), "", ""]
    return [name, str(way["channel"]), str(way["address"]), _policy_text(way)]


def _policy_text(way: JsonMap) -> StyledText:
    policy = str(way.get("policy") or "ask")
    return StyledText(policy, _COLOURS[policy])


def _maps(content: Json) -> list[JsonMap]:
    return cast("list[JsonMap]", content)
