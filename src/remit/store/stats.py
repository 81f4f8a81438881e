"""Statistics for the pages: tasks by status, what ended when, cost, what comes next."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.model.reply import Usage
from remit.model.status import TERMINAL, Status
from remit.model.task import Task
from remit.store import inbox, rows, spending, tasks
from remit.store.database import Tx
from remit.store.inbox import InboxCounts

MOST: Final = 10_000  # statuses are counted up to this
HOURS: Final = 24
DAYS: Final = 7
NEXT: Final = 5
_HOUR: Final = timedelta(hours=1)


class HourlyOutcomes(Struct, frozen=True):
    """How many tasks ended in the hour that begins at `at`."""

    at: datetime
    completed: int
    failed: int
    cancelled: int


class DailyUsage(Struct, frozen=True):
    """The usage of the day that begins at `at`."""

    at: datetime
    used: Usage


class Stats(Struct, frozen=True):
    needs: InboxCounts
    counts: Mapping[str, int]  # by status, each up to a number
    hours: tuple[HourlyOutcomes, ...]  # the last one is the current hour
    days: tuple[DailyUsage, ...]  # the last one is today
    next: tuple[Task, ...]

    @property
    def today(self) -> Usage:
        return self.days[-1].used


def look(
    tx: Tx, now: datetime, midnight: Callable[[datetime], datetime], *, count: bool = True
) -> Stats:
    """Return all numbers at one moment; `midnight` returns when a moment's day began.

    Without `count` the counts are skipped.
    """
    return Stats(
        needs=inbox.needs(tx, now),
        counts=tasks.counts(tx, MOST) if count else {},
        hours=_hours(tx, now),
        days=_days(tx, now, midnight),
        next=next_tasks(tx, now, NEXT),
    )


def next_tasks(tx: Tx, now: datetime, limit: int) -> tuple[Task, ...]:
    """Return planned tasks that have not begun, soonest first."""
    found = tx.all("list_next_tasks", {"now": rows.ms(now), "limit": limit})
    return tuple(tasks.all_with_deliveries(tx, found))


def _hours(tx: Tx, now: datetime) -> tuple[HourlyOutcomes, ...]:
    first = now.replace(minute=0, second=0, microsecond=0) - (HOURS - 1) * _HOUR
    span = {"since": rows.ms(first), "until": rows.ms(first + HOURS * _HOUR)}
    ended: dict[Status, dict[int, int]] = {}
    for status in TERMINAL:
        found = tx.all("count_ended", {"status": status, **span})
        ended[status] = {rows.number(row["hour"]): rows.number(row["n"]) for row in found}
    return tuple(
        HourlyOutcomes(
            first + hour * _HOUR,
            ended[Status.COMPLETED].get(hour, 0),
            ended[Status.FAILED].get(hour, 0),
            ended[Status.CANCELLED].get(hour, 0),
        )
        for hour in range(HOURS)
    )


def _days(
    tx: Tx, now: datetime, midnight: Callable[[datetime], datetime]
) -> tuple[DailyUsage, ...]:
    begins = [midnight(now)]
    for _ in range(DAYS - 1):
        # The hour before midnight belongs to the day before, however long that day was.
        begins.insert(0, midnight(begins[0] - _HOUR))
    ends = [*begins[1:], now + _HOUR]
    return tuple(
        DailyUsage(since, spending.between(tx, since, until))
        for since, until in zip(begins, ends, strict=True)
    )
