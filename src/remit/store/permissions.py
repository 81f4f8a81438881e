"""What the owner said once and for all about writing to somebody."""

from datetime import datetime

from remit.model.codec import Json
from remit.model.delivery import Delivery
from remit.model.event import Entry, Kind
from remit.model.permit import Permission
from remit.model.reply import Policy
from remit.model.status import Actor
from remit.store import events, rows
from remit.store.database import Row, Tx


def put(tx: Tx, permission: Permission, now: datetime) -> None:
    """Keep one word about a person on a channel; what was said before does not count any more.

    It belongs to no task, but it lets messages out: the journal tells of it.
    """
    said: dict[str, Json] = {
        "contact": permission.contact,
        "channel": permission.channel,
        "address": permission.address,
        "policy": permission.policy.value,
    }
    kept = {name: str(value) for name, value in said.items()}
    tx.run("put_permission", {**kept, "now": rows.ms(now)})
    events.append(tx, None, 0, Entry(Kind.PERMISSION_GIVEN, Actor.OWNER, said), now)


def every(tx: Tx) -> list[Permission]:
    """All that was said, by name."""
    return [_permission(row) for row in tx.all("list_permissions")]


def on(tx: Tx, channel: str) -> list[Permission]:
    """All that was said about one channel."""
    return [_permission(row) for row in tx.all("list_permissions_on", {"channel": channel})]


def sent_since(tx: Tx, delivery: Delivery, since: datetime) -> int:
    """How many other messages were let go where this one goes."""
    place = {"channel": delivery.channel, "address": delivery.address, "id": delivery.id}
    row = tx.one("count_sent", place | {"since": rows.ms(since)})
    assert row is not None  # noqa: S101 - a count is always one row
    return rows.number(row["sent"])


def _permission(row: Row) -> Permission:
    return Permission(
        contact=str(row["contact"]),
        channel=str(row["channel"]),
        address=str(row["address"]),
        policy=rows.word(Policy, row["policy"]),
        given_at=rows.at(row["given_at"]),
    )
