"""The state of inbound rules, hooks and folders, without opening any of them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from remit.channels.mail.section import EmailSettings
from remit.channels.registry import ChannelSecrets
from remit.errors import RemitError
from remit.model.codec import JsonMap
from remit.settings import Settings
from remit.settings.doors import START, FolderSettings, HookSettings, InboundRule
from remit.store import cues
from remit.store.cues import CueFate, StoredCue
from remit.store.read_only import glance
from remit.store.secrets import Secrets, machine_ring

_OPEN: Final = 0o022  # writable by others
_LATEST: Final = 500  # cues searched for the owner's last mail


class DoorState(Struct, frozen=True):
    """`verdict` is ok, warn or fail, as in the doctor."""

    name: str
    verdict: str
    said: str
    todo: str = ""


def door_states(settings: Settings, since: datetime) -> Iterator[DoorState]:
    """Yield each inbound way, with what came in since a moment."""
    if not (settings.hooks or settings.doors or settings.folders):
        return
    tally: dict[str, dict[CueFate, int]] = {}
    marks: dict[str, JsonMap] = {}
    latest: list[StoredCue] = []
    unkept: dict[str, int] = {}
    # A damaged or older file is reported elsewhere.
    with suppress(RemitError), glance(settings.database) as tx:
        tally, unkept = cues.tally(tx, since), cues.unkept(tx)
        marks = {name: cues.mark(tx, name) for name in settings.doors}
        latest = cues.latest(tx, _LATEST) if settings.doors else []
    keys = ChannelSecrets(Secrets(settings.home, machine_ring()), os.environ, settings.channels)
    for name, hook in settings.hooks.items():
        yield _hook(name, hook, keys, _came(f"hook:{name}", tally, unkept))
    for name, door in settings.doors.items():
        channel, came = settings.channels[name], _came(name, tally, unkept)
        if not isinstance(channel, EmailSettings):
            yield DoorState(name, "ok", f"{_who(door)}; {came}")
            continue
        doubt = _unbelieved([each for each in latest if each.door == name], channel.owner)
        yield doubt or _mailbox(name, door, marks.get(name, {}), came)
    for name, folder in settings.folders.items():
        yield _folder(name, folder, _came(f"folder:{name}", tally, unkept))


def _hook(name: str, hook: HookSettings, keys: ChannelSecrets, came: str) -> DoorState:
    try:
        missing = not keys.get(hook.secret)
    except RemitError as error:
        return DoorState(f"hook {name}", "fail", str(error))
    if missing:
        said = f"lacks {hook.secret}: every call is refused"
        return DoorState(f"hook {name}", "warn", said, f"remit hooks rotate {name}")
    return DoorState(f"hook {name}", "ok", f"/hooks/in/{name}; {came}")


def _who(door: InboundRule) -> str:
    return "contacts may start work" if door.contacts == START else "only you start work"


def _unbelieved(latest: Sequence[StoredCue], owner: str) -> DoorState | None:
    """Return the newest mail in the owner's name, if it was not authenticated."""
    mine = (each for each in latest if owner and each.sender == owner.casefold())
    newest = next(mine, None)
    if newest is None or newest.body.get("verified") is not False:
        return None
    said = f"a mail in your name was not believed: {newest.why}"
    return DoorState(newest.door, "warn", said, f"authserv_id stands in [doors.{newest.door}].")


def _mailbox(name: str, door: InboundRule, mark: JsonMap, came: str) -> DoorState:
    who = _who(door)
    if not door.authserv_id:
        said = "nobody is believed to be who he says, not even you: authserv_id is not set"
        todo = f"Name your mail server, as its Authentication-Results do, in [doors.{name}]."
        return DoorState(name, "warn", said, todo)
    if why := mark.get("why"):
        return DoorState(name, "warn", str(why), "Look at its address and password.")
    if not mark.get("mark"):
        return DoorState(name, "ok", f"{who}; not read yet; `remit up` does")
    return DoorState(name, "ok", f"{who}; {came}")


def _folder(name: str, folder: FolderSettings, came: str) -> DoorState:
    called, path = f"folder {name}", Path(folder.path)
    if not path.is_dir():
        return DoorState(called, "warn", f"{path} is no folder", "Make it; it is looked for again.")
    if folder.trusted and path.stat().st_mode & _OPEN:
        said = f"{path} is trusted, but others on this machine may write there"
        return DoorState(called, "warn", said, f"chmod go-w {path}, or trusted = false")
    return DoorState(called, "ok", f"{path}; {came}")


def _came(door: str, tally: dict[str, dict[CueFate, int]], unkept: dict[str, int]) -> str:
    found = tally.get(door, {})
    parts = [f"{count:,} {fate.value}" for fate, count in found.items()]
    said = f"in a day {', '.join(parts)}" if parts else "nothing came in a day"
    lost = unkept.get(door, 0)
    return f"{said}; {lost:,} more were only counted" if lost else said
