"""Push subscriptions of browsers.

A subscription belongs to a browser session. An ended or expired session gets nothing; the SQL
statements ensure that, not their callers.
"""

from datetime import datetime
from typing import Final

from msgspec import Struct

from remit.errors import Conflict
from remit.store import rows
from remit.store.database import Row, Tx

MOST: Final = 20
MOST_FAILURES: Final = 10  # in a row; then it is given up


class PushSubscription(Struct, frozen=True, kw_only=True):
    """The subscription of a browser. Whoever has the endpoint and both keys can push to it."""

    id: str
    endpoint: str
    p256dh: str
    auth: str
    sign_in: str
    created_at: datetime
    last_ok: datetime | None = None
    failures: int = 0

    def __repr__(self) -> str:
        return f"Subscription(id={self.id!r})"  # without its secrets


def put(tx: Tx, new: PushSubscription) -> None:
    """Store a subscription; an endpoint belongs to the latest sign-in."""
    tx.run("delete_expired_subscriptions", {"now": rows.ms(new.created_at)})
    others = tx.all("count_subscriptions", {"id": new.id})[0]["n"]
    if rows.number(others) >= MOST:
        raise Conflict(f"{MOST} browsers are told already; sign one of them out first.")
    tx.run("put_subscription", rows.columns(new, now=rows.ms(new.created_at)))


def list_subscriptions(tx: Tx, now: datetime) -> list[PushSubscription]:
    """Return the subscriptions with a valid sign-in."""
    return [_read(row) for row in tx.all("list_subscriptions", {"now": rows.ms(now)})]


def find(tx: Tx, ident: str, now: datetime) -> PushSubscription | None:
    """Return one subscription with a valid sign-in."""
    row = tx.one("get_subscription", {"id": ident, "now": rows.ms(now)})
    return None if row is None else _read(row)


def of_sign_in(tx: Tx, sign_in: str) -> list[PushSubscription]:
    return [_read(row) for row in tx.all("list_sign_in_subscriptions", {"sign_in": sign_in})]


def drop(tx: Tx, ident: str) -> None:
    tx.run("delete_subscription", {"id": ident})


def drop_of(tx: Tx, sign_in: str) -> None:
    """Delete all subscriptions of one browser."""
    tx.run("delete_sign_in_subscriptions", {"sign_in": sign_in})


def praise(tx: Tx, ident: str, now: datetime) -> None:
    """Record a successful push."""
    tx.run("record_push_success", {"id": ident, "now": rows.ms(now)})


def blame(tx: Tx, ident: str) -> None:
    """Record a failed push; after too many in a row the subscription is deleted."""
    tx.run("record_push_failure", {"id": ident})
    tx.run("delete_failing_subscription", {"id": ident, "most": MOST_FAILURES})


def _read(row: Row) -> PushSubscription:
    return rows.value(PushSubscription, row, sign_in=row["sign_in_id"])
