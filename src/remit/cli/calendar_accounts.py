"""`remit calendar add`, `mark`, `sync` and so on: accounts, and how a phone connects."""

import asyncio
from typing import Annotated

from remit import settings as app_settings
from remit.calendar import client, own_server
from remit.calendar.client import CalDavClient
from remit.calendar.own_server import HOST, USER
from remit.cli import out, remit_client, words
from remit.cli.out import AsJson, flag
from remit.cli.tokens import value_of
from remit.errors import BadInput, NotFound
from remit.model.codec import JsonMap
from remit.operations.settings_arguments import SyncCalendars
from remit.server import files
from remit.settings import Settings, sections
from remit.store import calendars
from remit.store.calendars import StoredCalendar
from remit.store.read_only import open_read_only
from remit.store.secrets import secrets_of
from remit.wiring.app_context import WallClock, keys_of
from remit.wiring.calendar import FEED, PASSWORD, ensure_secret, place_of

Name = Annotated[str, flag("The calendar's name; ACCOUNT/NAME if two have that name.")]
Rotate = Annotated[bool, flag("Make a new one; the old one stops working.", "--rotate")]


def add(  # noqa: PLR0913 - each is a flag
    name: Annotated[str, flag("A name for the account: small letters and digits.")],
    url: Annotated[
        str, flag("The server's address, such as https://dav.example.org/; not for google.")
    ] = "",
    /,
    *,
    user: Annotated[
        str, flag("Your user name there; you are asked for the password.", "--user")
    ] = "",
    trusted: Annotated[bool, flag("Only you can write to this calendar.", "--trusted")] = False,
    client_id: Annotated[str, flag("The client id of your app at Google.", "--client-id")] = "",
    oauth_url: Annotated[str, flag("Another address for signing in.", "--oauth-url")] = "",
    json: AsJson = False,
) -> int:
    """Add an account on any CalDAV server, or `google`, and show the calendars it has."""
    settings = app_settings.load()
    if name in settings.calendars:
        raise BadInput(
            f"There is an account {name} already; mend it in settings.toml.", field="name"
        )
    if not url or client_id:
        from remit.cli import sign_in  # noqa: PLC0415 - only for Google

        sign_in.add_calendar(name, client_id, user, url, trusted=trusted, oauth_url=oauth_url)
        return _show(name, as_json=json)
    secret = f"{name}_calendar" if user else ""
    table: JsonMap = {"url": url, "user": user, "password": secret, "trusted": trusted}
    account = {f"calendars.{name}": {key: value for key, value in table.items() if value}}
    remit_client.furnish(settings)
    path = settings.home / "settings.toml"
    sections.with_values(
        path.read_text(encoding="utf-8"), account, path
    )  # before a password is asked
    if user:
        secrets_of(settings.home).put(secret, value_of(f"Password of {user}"))
    sections.set_values(path, account)
    return _show(name, as_json=json)


def mark(name: Name, /, *, json: AsJson = False) -> int:
    """Let a calendar start work, from the next look on."""
    return _mark(name, True, json)


def unmark(name: Name, /, *, json: AsJson = False) -> int:
    """Let a calendar start nothing more; what has not begun is cancelled."""
    return _mark(name, False, json)


def sync(*, json: AsJson = False) -> int:
    """Look at every calendar now. The own one is there only while Remit is up."""
    answered = int(str(remit_client.ask(SyncCalendars())["noted"]))
    text = f"{words.count(answered, 'account')} answered. `remit calendar` shows them."
    return out.print_result(json, {"answered": answered}, text)


def password(*, rotate: Rotate = False, json: AsJson = False) -> int:
    """What opens the own calendar, on the standard output."""
    value = ensure_secret(secrets_of(app_settings.load().home), PASSWORD, anew=rotate)
    renewed = ["It counts from the next start on."] if rotate else []
    return out.print_result(json, {"password": value}, *renewed, data=value)


def url(*, json: AsJson = False) -> int:
    """Where the own calendar is, for a phone or a calendar program."""
    settings = app_settings.load()
    if not settings.calendar.own:
        raise BadInput("The own calendar is off: `own = true` under [calendar] switches it on.")
    where = f"http://{HOST}:{settings.calendar.port}/"
    opens = f"The user is {USER}; `remit calendar password` says what opens it."
    return out.print_result(json, {"url": where, "user": USER}, opens, data=where)


def feed(*, rotate: Rotate = False, json: AsJson = False) -> int:
    """The secret address of what is planned, to subscribe to."""
    settings = app_settings.load()
    secret = ensure_secret(secrets_of(settings.home), FEED, anew=rotate)
    root = files.listens(settings.home) or f"http://{HOST}:{settings.server.port}"
    where = f"{root}/feed/{secret}.ics"
    warning = "Whoever has this address can read what is planned; --rotate makes another."
    return out.print_result(json, {"url": where}, warning, data=where)


def _mark(name: str, marked: bool, as_json: bool) -> int:
    settings = app_settings.load()
    each = _find(settings, name)
    own_server.put(settings.home, each.account, each.name, marked=marked)
    what = "starts work" if marked else "starts nothing any more"
    content: JsonMap = {"account": each.account, "name": each.name, "marked": marked}
    return out.print_result(
        as_json, content, f"{each.account}/{each.name} {what}, from the next look on."
    )


def _find(settings: Settings, text: str) -> StoredCalendar:
    """Return the one calendar with this name."""
    account, _, name = text.rpartition("/")
    with open_read_only(settings.database) as tx:
        known = calendars.list_calendars(tx)
    found = [
        each
        for each in known
        if name in (each.name, each.path.rstrip("/").rpartition("/")[2])
        and account in ("", each.account)
    ]
    if len(found) > 1:
        named = ", ".join(f"{each.account}/{each.name}" for each in found)
        raise BadInput(f"{text!r:.60} may be {named}; say which.", field="name")
    if not found:
        there = ", ".join(f"{each.account}/{each.name}" for each in known)
        hint = f"there are: {there}" if there else "`remit calendar sync` looks for them"
        raise NotFound("calendar", f"{text!r:.60}; {hint}")
    return found[0]


async def _calendars(settings: Settings, name: str) -> list[client.RemoteCalendar]:
    server, keys = settings.calendars[name], keys_of(settings)
    dav = CalDavClient(place_of(name, server, secrets_of(settings.home), keys, WallClock()))
    try:
        return await dav.calendars()
    finally:
        await dav.close()


def _show(name: str, *, as_json: bool) -> int:
    found = sorted(each.name for each in asyncio.run(_calendars(app_settings.load(), name)))
    sentence = (
        f"{name} has {words.count(len(found), 'calendar')}, and none of them starts work yet. "
        "`remit calendar sync` looks at them, and `remit calendar mark NAME` lets one start work."
    )
    content: JsonMap = {"account": name, "found": [*found]}
    return out.print_result(as_json, content, sentence, data="\n".join(found))
