"""Limits on how often something is sent or tried: their state, in memory or in the database.

One process keeps it in memory. Several that share a database keep it there, so that a limit holds
for all of them together. The limit itself is a pure function of its state.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final, TypeVar, cast

import msgspec

from remit.store import rows
from remit.store.database import Database, Tx

S = TypeVar("S")
T = TypeVar("T")

_MOST_IN_MEMORY: Final = 10_000


class Rates:
    """States by name; one is forgotten when the time that it was last kept until is over."""

    def __init__(self, db: Database | None = None) -> None:
        self._db = db if getattr(db, "shared", False) else None
        self._states: dict[str, tuple[object, datetime]] = {}

    async def change(
        self,
        name: str,
        empty: S,
        work: Callable[[S], tuple[S, T]],
        now: datetime,
        until: datetime,
    ) -> T:
        """Replace a state by what `work` makes of it, and return its answer."""
        if self._db is not None:
            return await self._db.write(_change, name, empty, work, now, until)
        kept, _ = self._states.pop(name, (empty, until))
        state, answer = work(cast("S", kept))
        self._states[name] = state, until
        while len(self._states) > _MOST_IN_MEMORY or next(iter(self._states.values()))[1] < now:
            self._states.pop(next(iter(self._states)))
        return answer


def _change(
    tx: Tx,
    name: str,
    empty: S,
    work: Callable[[S], tuple[S, T]],
    now: datetime,
    until: datetime,
) -> T:
    tx.ask("DELETE FROM rates WHERE until < ? AND name <> ?", (rows.ms(now), name))
    # It also locks the row: who changes the same state waits.
    (row,) = tx.ask(
        "INSERT INTO rates (name, state, until) VALUES (?, '', ?)"
        " ON CONFLICT (name) DO UPDATE SET until = excluded.until RETURNING state",
        (name, rows.ms(until)),
    )
    kept = str(row["state"])
    state, answer = work(msgspec.json.decode(kept, type=type(empty)) if kept else empty)
    stored = msgspec.json.encode(state).decode()
    tx.ask("UPDATE rates SET state = ? WHERE name = ?", (stored, name))
    return answer
