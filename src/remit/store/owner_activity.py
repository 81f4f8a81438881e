"""When the owner was last active on the dashboard, to the minute."""

from datetime import datetime, timedelta
from typing import Final

from remit.store import meta, rows
from remit.store.database import Tx

_KEY: Final = "acted"
EVERY: Final = timedelta(minutes=1)  # else each click would be a write


def note(tx: Tx, now: datetime) -> None:
    """He did something now."""
    meta.put(tx, _KEY, str(rows.ms(now)))


def last(tx: Tx) -> datetime | None:
    found = meta.get(tx, _KEY)
    return rows.parse_time(int(found)) if found else None


def is_news(tx: Tx, now: datetime) -> bool:
    """Whether what he does now is worth a write; a clock that was set back counts as time."""
    before = last(tx)
    return before is None or not before <= now < before + EVERY
