"""Channels that are off until the owner switches them on again; a restart changes nothing.

A row of `meta` for each that is off. Both ways of the switch are in the journal.
"""

from datetime import datetime
from typing import Final

from remit.model.event import Entry, Kind
from remit.model.status import Actor
from remit.store import events
from remit.store.database import Tx

_OFF: Final = "off:"
_LAST: Final = "\U0010ffff"


def turn_off(tx: Tx, channel: str, why: str, now: datetime) -> None:
    """Switch a channel off, and keep why; one that is off stays as it is."""
    if why_off(tx, channel) is None:
        tx.run("set_meta", {"key": _OFF + channel, "value": why})
        entry = Entry(Kind.CHANNEL_OFF, Actor.COURIER, {"channel": channel, "why": why})
        events.append(tx, None, 0, entry, now)


def turn_on(tx: Tx, channel: str, now: datetime) -> bool:
    """Switch a channel on; False if it was on."""
    found = tx.run("delete_meta", {"key": _OFF + channel}) == 1
    if found:
        events.append(tx, None, 0, Entry(Kind.CHANNEL_ON, Actor.OWNER, {"channel": channel}), now)
    return found


def why_off(tx: Tx, channel: str) -> str | None:
    """Why a channel is off; None if it is on."""
    row = tx.one("get_meta", {"key": _OFF + channel})
    return str(row["value"]) if row is not None else None


def every(tx: Tx) -> dict[str, str]:
    """All that are off, and why."""
    listed = tx.all("list_meta", {"begin": _OFF, "end": _OFF + _LAST})
    return {str(row["key"]).removeprefix(_OFF): str(row["value"]) for row in listed}
