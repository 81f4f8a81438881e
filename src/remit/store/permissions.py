"""The owner's permissions to write to people, and channels that are switched off.

A channel stays off until the owner switches it on, also after a restart. The switch is a row of
`meta`, and each change is in the journal.
"""

from datetime import datetime
from typing import Final

from remit.model.codec import Json, moment, stamp
from remit.model.delivery import Delivery
from remit.model.permit import Permission
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor
from remit.store import events, meta, rows
from remit.store.database import Tx, quick

_OFF: Final = "off:"
_SWITCHED_ON: Final = "on:"  # when the owner did it last


def put(tx: Tx, permission: Permission, now: datetime) -> None:
    """Store one permission for a person on a channel, replacing the earlier one.

    It is journalled, because it lets messages out.
    """
    details: dict[str, Json] = {
        "contact": permission.contact,
        "channel": permission.channel,
        "address": permission.address,
        "policy": permission.policy.value,
    }
    kept = {name: str(value) for name, value in details.items()}
    tx.run("put_permission", {**kept, "now": rows.ms(now)})
    events.append(tx, None, 0, NewEvent(EventKind.PERMISSION_GIVEN, Actor.OWNER, details), now)


@quick
def list_permissions(tx: Tx) -> list[Permission]:
    """Return all permissions, by name."""
    return [rows.value(Permission, row) for row in tx.all("list_permissions")]


@quick
def list_for_channel(tx: Tx, channel: str) -> list[Permission]:
    """Return all permissions for one channel."""
    found = tx.all("list_channel_permissions", {"channel": channel})
    return [rows.value(Permission, row) for row in found]


@quick
def sent_since(tx: Tx, delivery: Delivery, since: datetime) -> int:
    """Return how many other messages went to the same place since a moment."""
    place = {"channel": delivery.channel, "address": delivery.address, "id": delivery.id}
    row = rows.found(tx.one("count_sent", place | {"since": rows.ms(since)}))
    return rows.number(row["sent"])


def turn_off(tx: Tx, channel: str, why: str, now: datetime) -> None:
    """Switch a channel off and store why; one that is off stays as it is."""
    if why_off(tx, channel) is None:
        meta.put(tx, _OFF + channel, why)
        entry = NewEvent(EventKind.CHANNEL_OFF, Actor.COURIER, {"channel": channel, "why": why})
        events.append(tx, None, 0, entry, now)


def turn_on(tx: Tx, channel: str, now: datetime) -> bool:
    """Switch a channel on; False if it was on."""
    found = meta.delete(tx, _OFF + channel)
    if found:
        meta.put(tx, _SWITCHED_ON + channel, stamp(now))
        events.append(
            tx, None, 0, NewEvent(EventKind.CHANNEL_ON, Actor.OWNER, {"channel": channel}), now
        )
    return found


def why_off(tx: Tx, channel: str) -> str | None:
    """Why a channel is off; None if it is on."""
    return meta.get(tx, _OFF + channel)


def was_switched_on(tx: Tx, channel: str, since: datetime) -> bool:
    """Whether a channel is on, and the owner switched it on at or after a moment."""
    at = meta.get(tx, _SWITCHED_ON + channel)
    return at is not None and why_off(tx, channel) is None and moment(at) >= since


def channels_off(tx: Tx) -> dict[str, str]:
    """Every channel that is off, and why."""
    return meta.starting_with(tx, _OFF)
