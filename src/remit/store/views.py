"""Filters that the owner gave a name to."""

from datetime import datetime
from typing import Final

from msgspec import Struct

from remit.errors import Conflict, NotFound
from remit.store import rows
from remit.store.database import Tx

MOST: Final = 100


class SavedView(Struct, frozen=True):
    name: str
    filter: str  # as it is typed
    created_at: datetime


def put(tx: Tx, name: str, line: str, now: datetime) -> None:
    """Keep a filter under a name; what was kept under it before is replaced."""
    others = tx.all("count_views", {"name": name})[0]["n"]
    if rows.number(others) >= MOST:
        raise Conflict(f"There are {MOST} views; delete one before you keep another.")
    tx.run("insert_view", {"name": name, "filter": line, "now": rows.ms(now)})


def every(tx: Tx) -> list[SavedView]:
    """All of them, by name."""
    return [
        SavedView(str(row["name"]), str(row["filter"]), rows.at(row["created_at"]))
        for row in tx.all("list_views")
    ]


def drop(tx: Tx, name: str) -> None:
    if not tx.run("delete_view", {"name": name}):
        raise NotFound("view", repr(name)[:80])
