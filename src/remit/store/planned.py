"""The calendar: what is planned between two moments, and what was."""

from datetime import datetime
from typing import Final

from remit.model.status import TERMINAL
from remit.model.task import Task
from remit.store import rows, tasks
from remit.store.database import Row, Tx

MOST: Final = 2_000


def between(tx: Tx, since: datetime, until: datetime, limit: int = MOST) -> list[Task]:
    """Everything with a time: what is open by when it is planned, what has ended by when it did."""
    span = {"since": rows.ms(since), "until": rows.ms(until), "limit": limit}
    found = tx.all("list_planned_tasks", span)
    for status in TERMINAL:
        found += tx.all("list_ended_tasks", {"status": status, **span})
    found.sort(key=_when)
    return tasks.all_with_deliveries(tx, found[:limit])


def _when(row: Row) -> tuple[int, int]:
    return rows.number(row["completed_at"] or row["scheduled_for"]), rows.number(row["no"])
