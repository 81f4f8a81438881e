"""When the owner was last active on the dashboard, to the minute."""

from datetime import datetime, timedelta
from typing import Final

from remit.store import meta, rows
from remit.store.database import Tx

_KEY: Final = "acted"
EVERY: Final = timedelta(minutes=1)  # otherwise each click would be a write


def note(tx: Tx, now: datetime) -> None:
    """Record that the owner is active now."""
    meta.put(tx, _KEY, str(rows.ms(now)))


def last(tx: Tx) -> datetime | None:
    found = meta.get(tx, _KEY)
    return rows.parse_time(int(found)) if found else None


def is_news(tx: Tx, now: datetime) -> bool:
    """Whether the activity is worth a write; a clock that went back counts as new."""
    before = last(tx)
    return before is None or not before <= now < before + EVERY
