"""`remit calendar`: which calendars start work, and their state."""

from typing import Final

from remit import settings as app_settings
from remit.cli import codes, out
from remit.cli.commands import CommandGroup
from remit.cli.out import AsJson, StyledText
from remit.model.codec import JsonMap, pick_fields, to_json
from remit.settings import Settings
from remit.settings.doors import OWN
from remit.store import calendars
from remit.store.calendars import StoredCalendar
from remit.store.read_only import open_read_only

UNSEEN: Final = "not seen yet; `remit calendar sync` looks"
_CHANGES: Final = ("add", "mark", "unmark", "sync", "password", "url", "feed")

app = CommandGroup("calendar")


@app.default
@app.command("ls")
def ls(*, json: AsJson = False) -> int:
    """List the calendars found, which of them start work, and what is wrong."""
    settings = app_settings.load()
    with open_read_only(settings.database) as tx:
        found, refused = calendars.list_calendars(tx), calendars.list_refused(tx)
    content: JsonMap = {
        "calendars": [_to_json(each) for each in found],
        "refused": [{"uid": each.uid, "path": each.path, "why": each.why} for each in refused],
    }
    out.listing(json, content, [_row(each) for each in found])
    for account in () if json else accounts(settings):
        if account not in {each.account for each in found}:
            out.say(f"{account}: {UNSEEN}.")
    for resource in () if json else refused:
        out.hint(f"{resource.uid or resource.path}: {resource.why}", "yellow")
    return codes.DONE


app.commands |= {name: f"calendar_accounts:{name}" for name in _CHANGES}
app.commands["connect"] = "sign_in:connect_calendar"


def accounts(settings: Settings) -> list[str]:
    """Return the calendar accounts, the own one first."""
    return [*([OWN] if settings.calendar.own else []), *settings.calendars]


def _row(each: StoredCalendar) -> tuple[str, str, StyledText, str]:
    state = StyledText("marked", "green") if each.marked else StyledText("not marked", "dim")
    if each.why:
        return each.account, each.name, StyledText("trouble", "yellow"), each.why
    counted = f"{each.resources:,} in it" if each.marked else ""
    refused = f", {each.refused:,} cannot be read" if each.refused else ""
    return each.account, each.name, state, counted + refused


def _to_json(each: StoredCalendar) -> JsonMap:
    head = pick_fields(each, "account name path marked trusted")
    return head | {"lookedAt": to_json(each.looked)} | pick_fields(each, "resources refused why")
