"""`remit calendar`: which calendars start work, their state, and how a phone connects."""

import asyncio
from typing import Annotated, Final

from cyclopts import App

from remit import settings as house_settings
from remit.calendar import client, own_server
from remit.calendar.client import CalDavClient
from remit.calendar.own_server import HOST, USER
from remit.cli import codes, out, remit_client, words
from remit.cli.out import AsJson, StyledText, flag
from remit.cli.secrets import value_of
from remit.errors import BadInput, NotFound
from remit.model.codec import Json, JsonMap, to_json
from remit.operations.settings_arguments import SyncCalendars
from remit.server import files
from remit.settings import CalendarServer, Settings, edit
from remit.settings.doors import OWN
from remit.store import calendars
from remit.store.calendars import StoredCalendar
from remit.store.read_only import glance
from remit.wiring.calendar import FEED, PASSWORD, ensured, kept_in, place_of

_UNSEEN: Final = "not seen yet; `remit calendar sync` looks"

app = App(name="calendar")

Name = Annotated[str, flag("The calendar's name; or ACCOUNT/NAME, if two are called so.")]
Rotate = Annotated[bool, flag("Make a new one; what the old one opened stays shut.", "--rotate")]


@app.default
@app.command(name="ls")
def ls(*, json: AsJson = False) -> int:
    """The calendars that were found, which of them start work, and what is wrong."""
    settings = house_settings.load()
    with glance(settings.database) as tx:
        found, refused = calendars.list_calendars(tx), calendars.refused(tx)
    if json:
        listed: list[Json] = [_told(each) for each in found]
        bad: list[Json] = [
            {"uid": each.uid, "path": each.path, "why": each.why} for each in refused
        ]
        out.emit({"calendars": listed, "refused": bad})
        return codes.DONE
    if found:
        out.table([_row(each) for each in found])
    for account in _accounts(settings):
        if account not in {each.account for each in found}:
            out.say(f"{account}: {_UNSEEN}.")
    for resource in refused:
        out.say(StyledText(f"{resource.uid or resource.path}: {resource.why}", "yellow"))
    return codes.DONE


@app.command
def add(
    name: Annotated[str, flag("What you call the account: small letters and digits.")],
    url: Annotated[str, flag("Where the server is, such as https://dav.example.org/.")],
    /,
    *,
    user: Annotated[str, flag("Who you are there; the password is asked for.", "--user")] = "",
    trusted: Annotated[bool, flag("Nobody but you writes there.", "--trusted")] = False,
    json: AsJson = False,
) -> int:
    """Add an account on any CalDAV server, and show the calendars it has."""
    settings = house_settings.load()
    if name in settings.calendars:
        raise BadInput(
            f"There is an account {name} already; mend it in settings.toml.", field="name"
        )
    secret = f"{name}_calendar" if user else ""
    table: JsonMap = {"url": url, "user": user, "password": secret, "trusted": trusted}
    account = {f"calendars.{name}": {key: value for key, value in table.items() if value}}
    remit_client.furnish(settings)
    path = settings.home / "settings.toml"
    edit.with_values(path.read_text(encoding="utf-8"), account, path)  # before a password is asked
    if user:
        kept_in(settings).put(secret, value_of(f"Password of {user}"))
    edit.set_values(path, account)
    found = sorted(asyncio.run(_found(house_settings.load(), name)), key=lambda each: each.name)
    return _show_found(name, found, as_json=json)


@app.command
def mark(name: Name, /, *, json: AsJson = False) -> int:
    """Let a calendar start work, from the next look on."""
    return _mark(name, marked=True, as_json=json)


@app.command
def unmark(name: Name, /, *, json: AsJson = False) -> int:
    """Let a calendar start nothing more; what has not begun is cancelled."""
    return _mark(name, marked=False, as_json=json)


@app.command
def sync(*, json: AsJson = False) -> int:
    """Look at every calendar now. The own one is there only while Remit is up."""
    with remit_client.opened(house_settings.load()) as way:
        answered = int(str(way.ask(SyncCalendars())["noted"]))
    if json:
        out.emit({"answered": answered})
    else:
        out.say(f"{words.count(answered, 'account')} answered. `remit calendar` shows them.")
    return codes.DONE


@app.command
def password(*, rotate: Rotate = False, json: AsJson = False) -> int:
    """What opens the own calendar, on the standard output."""
    return _secret("password", PASSWORD, rotate=rotate, as_json=json)


@app.command
def url(*, json: AsJson = False) -> int:
    """Where the own calendar is, for a phone or a calendar program."""
    settings = house_settings.load()
    if not settings.calendar.own:
        raise BadInput("The own calendar is off: `own = true` under [calendar] switches it on.")
    where = f"http://{HOST}:{settings.calendar.port}/"
    if json:
        out.emit({"url": where, "user": USER})
        return codes.DONE
    out.line(where)
    out.say(f"The user is {USER}; `remit calendar password` says what opens it.")
    return codes.DONE


@app.command
def feed(*, rotate: Rotate = False, json: AsJson = False) -> int:
    """The secret address of what is planned, to subscribe to."""
    settings = house_settings.load()
    secret = ensured(kept_in(settings), FEED, anew=rotate)
    root = files.listens(settings.home) or f"http://{HOST}:{settings.server.port}"
    where = f"{root}/feed/{secret}.ics"
    if json:
        out.emit({"url": where})
        return codes.DONE
    out.line(where)
    out.say("Whoever has this address can read what is planned; --rotate makes another.")
    return codes.DONE


def _accounts(settings: Settings) -> list[str]:
    return [*([OWN] if settings.calendar.own else []), *settings.calendars]


def _mark(name: str, *, marked: bool, as_json: bool) -> int:
    settings = house_settings.load()
    each = _called(settings, name)
    own_server.put(settings.home, each.account, each.name, marked=marked)
    what = "starts work" if marked else "starts nothing any more"
    if as_json:
        told: JsonMap = {"account": each.account, "name": each.name, "marked": marked}
        out.emit(told)
    else:
        out.say(f"{each.account}/{each.name} {what}, from the next look on.")
    return codes.DONE


def _called(settings: Settings, said: str) -> StoredCalendar:
    """Return the one calendar with this name."""
    account, _, name = said.rpartition("/")
    with glance(settings.database) as tx:
        known = calendars.list_calendars(tx)
    found = [
        each
        for each in known
        if name in (each.name, each.path.rstrip("/").rpartition("/")[2])
        and account in ("", each.account)
    ]
    if len(found) > 1:
        named = ", ".join(f"{each.account}/{each.name}" for each in found)
        raise BadInput(f"{said!r:.60} may be {named}; say which.", field="name")
    if not found:
        there = ", ".join(f"{each.account}/{each.name}" for each in known) or _UNSEEN
        raise NotFound("calendar", f"{said!r:.60}; there are: {there}")
    return found[0]


def _secret(word: str, name: str, *, rotate: bool, as_json: bool) -> int:
    value = ensured(kept_in(house_settings.load()), name, anew=rotate)
    if as_json:
        out.emit({word: value})
        return codes.DONE
    out.line(value)
    if rotate:
        out.say("It counts from the next start on.")
    return codes.DONE


async def _found(settings: Settings, name: str) -> list[client.RemoteCalendar]:
    server: CalendarServer = settings.calendars[name]
    dav = CalDavClient(place_of(name, server, kept_in(settings)))
    try:
        return await dav.calendars()
    finally:
        await dav.close()


def _show_found(name: str, found: list[client.RemoteCalendar], *, as_json: bool) -> int:
    if as_json:
        out.emit({"account": name, "found": list[Json](each.name for each in found)})
        return codes.DONE
    for each in found:
        out.line(each.name)
    out.say(
        f"{name} has {words.count(len(found), 'calendar')}, and none of them starts work yet. "
        "`remit calendar sync` looks at them, and `remit calendar mark NAME` lets one start work."
    )
    return codes.DONE


def _row(each: StoredCalendar) -> tuple[str, str, StyledText, str]:
    state = StyledText("marked", "green") if each.marked else StyledText("not marked", "dim")
    if each.why:
        return each.account, each.name, StyledText("trouble", "yellow"), each.why
    counted = f"{each.resources:,} in it" if each.marked else ""
    refused = f", {each.refused:,} cannot be read" if each.refused else ""
    return each.account, each.name, state, counted + refused


def _told(each: StoredCalendar) -> JsonMap:
    return {
        "account": each.account,
        "name": each.name,
        "path": each.path,
        "marked": each.marked,
        "trusted": each.trusted,
        "lookedAt": to_json(each.looked),
        "resources": each.resources,
        "refused": each.refused,
        "why": each.why,
    }
