"""Single values stored by name: progress marks, switches, and when the owner was last active."""

from datetime import datetime, timedelta
from typing import Final

from remit.store import rows
from remit.store.database import Tx


def get(tx: Tx, key: str) -> str | None:
    row = tx.one("get_meta", {"key": key})
    return None if row is None else str(row["value"])


def put(tx: Tx, key: str, value: str) -> None:
    tx.run("set_meta", {"key": key, "value": value})


def delete(tx: Tx, key: str) -> bool:
    """Delete a value; False if there was none."""
    return tx.run("delete_meta", {"key": key}) == 1


def starting_with(tx: Tx, prefix: str) -> dict[str, str]:
    """Return all values whose keys have this prefix, by the rest of the key."""
    found = tx.all("list_meta", rows.prefix_range(prefix))
    return {str(row["key"]).removeprefix(prefix): str(row["value"]) for row in found}


_KEY: Final = "acted"
EVERY: Final = timedelta(minutes=1)  # otherwise each click would be a write


def note(tx: Tx, now: datetime) -> None:
    """Record that the owner is active now."""
    put(tx, _KEY, str(rows.ms(now)))


def last(tx: Tx) -> datetime | None:
    found = get(tx, _KEY)
    return rows.parse_time(int(found)) if found else None


def is_news(tx: Tx, now: datetime) -> bool:
    """Whether the activity is worth a write; a clock that went back counts as new."""
    before = last(tx)
    return before is None or not before <= now < before + EVERY
