"""`remit doors`: how work comes in from others, what came in, and what became of it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

from remit import settings as app_settings
from remit.channels.mail import EmailSettings
from remit.channels.registry import ChannelSecrets
from remit.cli import clock, codes, out, remit_client, words
from remit.cli.commands import CommandGroup
from remit.cli.out import (
    AsJson,
    DoctorFinding,
    Piece,
    StyledText,
    fail,
    flag,
    number_flag,
    ok,
    warn,
)
from remit.errors import RemitError
from remit.model.codec import JsonMap, pick_fields
from remit.operations.settings_arguments import StartCue
from remit.settings import Settings
from remit.settings.doors import START, FolderSettings, HookSettings, InboundRule
from remit.store import cues
from remit.store.cues import CueFate, StoredCue
from remit.store.read_only import open_read_only
from remit.store.secrets import secrets_of

_OPEN: Final = 0o022  # writable by others
_LATEST: Final = 500  # cues searched for the owner's last mail


def door_states(settings: Settings, since: datetime) -> Iterator[DoctorFinding]:
    """Yield each inbound way, with what came in since a moment."""
    if not (settings.hooks or settings.doors or settings.folders):
        return
    tally: dict[str, dict[CueFate, int]] = {}
    marks: dict[str, JsonMap] = {}
    latest: list[StoredCue] = []
    unkept: dict[str, int] = {}
    # A damaged or older file is reported elsewhere.
    with suppress(RemitError), open_read_only(settings.database) as tx:
        tally, unkept = cues.tally(tx, since), cues.unkept(tx)
        marks = {name: cues.mark(tx, name) for name in settings.doors}
        latest = cues.latest(tx, _LATEST) if settings.doors else []
    keys = ChannelSecrets(secrets_of(settings.home), os.environ, settings.channels)
    for name, hook in settings.hooks.items():
        yield _hook(name, hook, keys, _tally_text(f"hook:{name}", tally, unkept))
    for name, door in settings.doors.items():
        channel, tally_text = settings.channels[name], _tally_text(name, tally, unkept)
        if not isinstance(channel, EmailSettings):
            yield ok(name, f"{_who_may_start(door)}; {tally_text}")
            continue
        doubt = _newest_unauthenticated_mail(
            [each for each in latest if each.door == name], channel.owner
        )
        yield doubt or _mailbox(name, door, marks.get(name, {}), tally_text)
    for name, folder in settings.folders.items():
        yield _folder(name, folder, _tally_text(f"folder:{name}", tally, unkept))


def _hook(name: str, hook: HookSettings, keys: ChannelSecrets, tally_text: str) -> DoctorFinding:
    try:
        missing = not keys.get(hook.secret)
    except RemitError as error:
        return fail(f"hook {name}", str(error))
    if missing:
        text = f"lacks {hook.secret}: every call is refused"
        return warn(f"hook {name}", text, f"remit hooks rotate {name}")
    return ok(f"hook {name}", f"/hooks/in/{name}; {tally_text}")


def _who_may_start(door: InboundRule) -> str:
    return "contacts may start work" if door.contacts == START else "only you start work"


def _newest_unauthenticated_mail(latest: Sequence[StoredCue], owner: str) -> DoctorFinding | None:
    """Return the newest mail in the owner's name, if it was not authenticated."""
    mine = (each for each in latest if owner and each.sender == owner.casefold())
    newest = next(mine, None)
    if newest is None or newest.body.get("verified") is not False:
        return None
    text = f"a mail in your name was not believed: {newest.why}"
    return warn(newest.door, text, f"authserv_id stands in [doors.{newest.door}].")


def _mailbox(name: str, door: InboundRule, mark: JsonMap, tally_text: str) -> DoctorFinding:
    who = _who_may_start(door)
    if not door.authserv_id:
        text = "nobody is believed to be who he says, not even you: authserv_id is not set"
        todo = f"Name your mail server, as its Authentication-Results do, in [doors.{name}]."
        return warn(name, text, todo)
    if why := mark.get("why"):
        return warn(name, str(why), "Look at its address and password.")
    if not mark.get("mark"):
        return ok(name, f"{who}; not read yet; `remit up` does")
    return ok(name, f"{who}; {tally_text}")


def _folder(name: str, folder: FolderSettings, tally_text: str) -> DoctorFinding:
    called, path = f"folder {name}", Path(folder.path)
    if not path.is_dir():
        return warn(called, f"{path} is no folder", "Make it; it is looked for again.")
    if folder.trusted and path.stat().st_mode & _OPEN:
        text = f"{path} is trusted, but others on this machine may write there"
        return warn(called, text, f"chmod go-w {path}, or trusted = false")
    return ok(called, f"{path}; {tally_text}")


def _tally_text(door: str, tally: dict[str, dict[CueFate, int]], unkept: dict[str, int]) -> str:
    found = tally.get(door, {})
    parts = [f"{count:,} {fate.value}" for fate, count in found.items()]
    text = f"in a day {', '.join(parts)}" if parts else "nothing came in a day"
    lost = unkept.get(door, 0)
    return f"{text}; {lost:,} more were only counted" if lost else text


_DAY: Final = timedelta(days=1)
_MOST: Final = 500
_LIMIT: Final = number_flag("How many, the newest first.", "--limit", "-n", most=_MOST)
_FATES: Final = {
    CueFate.WAITING: "yellow",
    CueFate.STARTED: "green",
    CueFate.TALKED: "green",
    CueFate.IGNORED: "dim",
    CueFate.OVER: "yellow",
}

app = CommandGroup("doors")


@app.default
@app.command("ls")
def ls(*, json: AsJson = False) -> int:
    """List the doors in your settings, their state, and how much came in within a day."""
    settings, now = app_settings.load(), clock.now()
    found = list(door_states(settings, now - _DAY))
    if json:
        names = ("door", "verdict", "said", "todo")
        out.emit({"doors": [dict(zip(names, each, strict=True)) for each in found]})
        return codes.DONE
    if not found:
        out.say("There is none: `remit hooks add NAME`, or [doors] and [folders] in settings.toml.")
    for each in found:
        out.line(each.mark, f"{each.part}: {each.said}")
        if each.todo:
            out.line(" " * 5, StyledText(each.todo, "dim"))
    return codes.DONE


@app.command()
def came(*, limit: Annotated[int, _LIMIT] = 20, json: AsJson = False) -> int:
    """List what came in and what it became; what started nothing can be started by its name."""
    with open_read_only(app_settings.load().database) as tx:
        found = cues.latest(tx, limit)
    content: JsonMap = {"cues": [_to_json(each) for each in found]}
    return out.listing(json, content, [_row(each) for each in found], empty="Nothing came in yet.")


@app.command()
def start(
    name: Annotated[str, flag("The short name that `remit doors came` shows.")],
    /,
    *,
    json: AsJson = False,
) -> int:
    """Start work on something that came in and was only kept; still a stranger's words."""
    found = remit_client.ask(StartCue(name))
    more = f": {found['taskId']}." if found["taskId"] else f". {found['why']}"
    return out.print_result(json, found, f"It is {found['fate']}{more}")


def _row(each: StoredCue) -> list[Piece]:
    became = StyledText(each.fate.value, _FATES[each.fate])
    more = each.task_id or each.why
    when = words.relative(each.heard_at, clock.now())
    return [
        each.name,
        StyledText(when, "dim"),
        each.door,
        became,
        out.cut(_summary(each), 50),
        more,
    ]


def _summary(each: StoredCue) -> str:
    text = next((each.body[key] for key in _NAMED if each.body.get(key)), "")
    return f"{each.sender}: {text}" if each.sender else str(text)


def _to_json(each: StoredCue) -> JsonMap:
    head = {"cue": each.name, **pick_fields(each, "door sender heardAt fate why taskId")}
    return {**head, "what": _summary(each)}


_NAMED: Final = ("subject", "title", "name", "text")
