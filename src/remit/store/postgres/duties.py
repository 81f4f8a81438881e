"""Duties: work that one process does at a time, and a database that refuses who lost it."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

from remit.errors import StoreTrouble
from remit.model.ids import WorkerId
from remit.model.run import Event
from remit.store import rows
from remit.store.database import Database, OnCommit, Row, Tx, single

P = ParamSpec("P")
T = TypeVar("T")

_HELD: Final = "SELECT 1 FROM duties WHERE name = ? AND number = ?"


class DutyLost(StoreTrouble):
    """Another process does this work now; nothing was written."""


def take_over(tx: Tx, name: str, worker: WorkerId, now: datetime) -> int:
    """Give a duty to a worker; return the number that fences off all who had it before."""
    del now
    (row,) = tx.ask(
        "INSERT INTO duties (name, number, worker) VALUES (?, 1, ?) ON CONFLICT (name) DO UPDATE"
        " SET number = duties.number + 1, worker = excluded.worker RETURNING number",
        (name, worker),
    )
    return rows.number(row["number"])


def hold(tx: Tx, name: str, number: int) -> None:
    """Refuse a write of who lost the duty; who would take it over waits until this is committed."""
    _require(tx.ask(f"{_HELD} FOR SHARE", (name, number)), name)


@single
def check(tx: Tx, name: str, number: int) -> None:
    """Raise if another process has taken the duty over."""
    _require(tx.ask(_HELD, (name, number)), name)


def _require(found: Sequence[Row], name: str) -> None:
    if not found:
        raise DutyLost(f"The duty {name!r} was taken over by another worker; nothing was written.")


class FencedDatabase:
    """A database for the loops of one duty: all of its writes check the duty's number."""

    shared: Final = True

    def __init__(self, db: Database, name: str, number: int) -> None:
        self._db = db
        self._name = name
        self._number = number
        self._tell: list[OnCommit] | None = []
        db.on_commit(self._pass_on)

    def write(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> Awaitable[T]:
        @wraps(work)
        def fenced(tx: Tx, /, *args: P.args, **kwargs: P.kwargs) -> T:
            hold(tx, self._name, self._number)
            return work(tx, *args, **kwargs)

        return self._db.write(fenced, *args, **kwargs)

    def read(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> Awaitable[T]:
        return self._db.read(work, *args, **kwargs)

    def turn(self) -> Awaitable[None]:
        return self._db.turn()

    def on_commit(self, tell: OnCommit) -> None:
        if self._tell is not None:
            self._tell.append(tell)

    async def close(self) -> None:
        """Stop passing on what happens; the database itself stays open."""
        self._tell = None

    def _pass_on(self, happened: Sequence[Event]) -> None:
        for tell in self._tell or ():
            tell(happened)
