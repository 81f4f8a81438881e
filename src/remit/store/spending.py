"""Spending on model requests: reserved before, settled after.

A reservation counts as spent, so parallel tasks cannot exceed a limit together, and an interrupted
request stays counted because its vendor may charge for it.

Also the state of limits on how often something is sent or tried: one process keeps it in memory,
several that share a database keep it there, so that a limit holds for all of them together.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from remit.model.ids import SeriesId, TaskId
from remit.model.reply import Usage
from remit.model.task import Task
from remit.store import rows
from remit.store.database import Database, Params, Row, Tx


class LimitScope(StrEnum):
    """Whose requests a limit counts."""

    RUN = "run"  # one task, all its rounds
    SERIES = "series"
    DAY = "day"  # all tasks together


class SpendingUnit(StrEnum):
    TOKENS = "tokens"
    REQUESTS = "requests"
    CENTS = "cents"

    def amount(self, usage: Usage) -> int:
        match self:
            case SpendingUnit.TOKENS:
                return usage.tokens
            case SpendingUnit.REQUESTS:
                return usage.requests
            case SpendingUnit.CENTS:  # pragma: no branch - there is no other
                return usage.cents


class SpendingLimit(Struct, frozen=True):
    """A limit since a moment; each approval of the owner adds `step`."""

    scope: LimitScope
    unit: SpendingUnit
    most: int
    step: int
    since: datetime | None = None

    @property
    def about(self) -> str:
        """The subject of the review that asks to raise it."""
        return f"budget:{self.scope}"


class OverLimit(Struct, frozen=True):
    """A request that was not reserved because it would exceed a limit, including approvals."""

    limit: SpendingLimit
    used: int
    most: int


def reserve(
    tx: Tx,
    key: str,
    task: Task | None,
    wanted: Usage,
    limits: Sequence[SpendingLimit],
    now: datetime,
) -> OverLimit | None:
    """Reserve what a request may cost, if no limit forbids it; a request may have no task."""
    over = next((over for limit in limits if (over := _over(tx, task, wanted, limit))), None)
    if over is None:
        _write(tx, key, task, wanted, now)
    return over


def settle(tx: Tx, key: str, used: Usage) -> bool:
    """Replace a reservation by the actual cost; False if that was done before."""
    return tx.run("settle_spending", {"key": key, **_amounts(used)}) == 1


def of_task(tx: Tx, task_id: TaskId, since: int = 0) -> Usage:
    """Return everything a task has used and reserved."""
    return _usage(tx.one("sum_task_spending", {"task": task_id, "since": since}))


def told_apart(tx: Tx, task_id: TaskId) -> Usage:
    """Return the same with input, output and cached tokens."""
    ways = rows.found(tx.one("sum_task_tokens", {"task": task_id}))
    return replace(of_task(tx, task_id), **ways)


def of_series(tx: Tx, series_id: SeriesId | None, since: int) -> Usage:
    """Return the same for all tasks of a series; nothing for a task without one."""
    return _usage(tx.one("sum_series_spending", {"series": series_id, "since": since}))


def of_all(tx: Tx, since: int) -> Usage:
    return _usage(tx.one("sum_spending", {"since": since}))


def usage_between(tx: Tx, since: datetime, until: datetime) -> Usage:
    """Return everything used and reserved in a time span."""
    span = {"since": rows.ms(since), "until": rows.ms(until)}
    return _usage(tx.one("sum_spending_between", span))


def _over(tx: Tx, task: Task | None, wanted: Usage, limit: SpendingLimit) -> OverLimit | None:
    unit, since = limit.unit, rows.ms(limit.since) if limit.since else 0
    used, want = unit.amount(_usage_of_scope(tx, task, limit.scope, since)), unit.amount(wanted)
    if used + want <= limit.most:
        return None
    if task is None:
        return OverLimit(limit, used, limit.most)
    asked: Params = {"task": task.id, "about": limit.about, "since": since}
    row = tx.one("count_limit_raises", asked)
    more = limit.step * rows.number(row["raises"] if row else 0)
    # An approval belongs to this task: others cannot use it up.
    own = unit.amount(of_task(tx, task.id, since))
    if used + want <= limit.most + more or own + want <= more:
        return None
    return OverLimit(limit, used, limit.most + more)


def _usage_of_scope(tx: Tx, task: Task | None, scope: LimitScope, since: int) -> Usage:
    if scope is LimitScope.DAY or task is None:
        return of_all(tx, since)
    if scope is LimitScope.SERIES:
        return of_series(tx, task.series_id, since)
    return of_task(tx, task.id, since)


def _write(tx: Tx, key: str, task: Task | None, wanted: Usage, now: datetime) -> None:
    whose: Params = {
        "key": key,
        "task": task.id if task else "",
        "series": task.series_id if task else None,
        "now": rows.ms(now),
        **_amounts(wanted),
    }
    tx.run("reserve_spending", whose)


def _amounts(usage: Usage) -> dict[str, int]:
    return {unit.value: unit.amount(usage) for unit in SpendingUnit}


def _usage(row: Row | None) -> Usage:
    return rows.value(Usage, rows.found(row))


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
