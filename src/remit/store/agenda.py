"""Planned starts from calendars, with the name of their calendar."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.model.ids import TaskId
from remit.store import calendars, occurrences, rows, tasks
from remit.store.database import Tx
from remit.store.occurrences import OccurrenceState, StoredOccurrence

_FAR: Final = timedelta(days=400)  # farther ahead no start is known


class PlannedStart(Struct, frozen=True):
    """One start of an event; `at` is its task's planned time, if it has a task."""

    uid: str
    at: datetime
    title: str
    calendar: str
    repeats: bool
    task_id: TaskId | None = None


def list_between(tx: Tx, since: datetime, until: datetime) -> list[PlannedStart]:
    """Return everything that starts, or has started, between two moments."""
    return _name_calendars(tx, occurrences.coming(tx, since, until))


def to_come(tx: Tx, now: datetime, limit: int) -> list[PlannedStart]:
    """Return what has not begun, soonest first."""
    found = occurrences.coming(tx, now, now + _FAR, limit)
    return _waiting(tx, _name_calendars(tx, found))


def next_of_each(tx: Tx, now: datetime, limit: int) -> list[PlannedStart]:
    """Return the next start of each event that has not begun, soonest first."""
    return _waiting(tx, _name_calendars(tx, occurrences.next_of_each(tx, now, limit)))


def _name_calendars(tx: Tx, found: Iterable[StoredOccurrence]) -> list[PlannedStart]:
    names = {(each.account, each.path): each.name for each in calendars.list_calendars(tx)}
    return [
        PlannedStart(
            each.uid,
            each.start,
            each.title,
            names.get((each.account, each.calendar)) or each.account,
            repeats=bool(each.key),
            task_id=each.task_id if each.state is OccurrenceState.GIVEN else None,
        )
        for each in found
    ]


def _waiting(tx: Tx, found: Iterable[PlannedStart]) -> list[PlannedStart]:
    waiting = (_planned_start(tx, each) for each in found)
    return sorted((each for each in waiting if each is not None), key=lambda each: each.at)


def _planned_start(tx: Tx, each: PlannedStart) -> PlannedStart | None:
    """Return it as its task stands: the owner may have changed it; None if it has begun."""
    if each.task_id is None:
        return each
    row = tasks.find_row(tx, each.task_id)
    if row["started_at"] is not None or row["completed_at"] is not None:
        return None
    at = rows.moment(row["scheduled_for"]) or each.at
    return PlannedStart(each.uid, at, str(row["title"]), each.calendar, each.repeats, each.task_id)
