"""The owner's actions on a series (pause, resume, end) and on one slot of it."""

from datetime import datetime
from itertools import islice, takewhile
from typing import Final

from remit.errors import BadInput, Conflict
from remit.model import rrule
from remit.model.codec import stamp
from remit.model.ids import SeriesId, TaskId
from remit.model.series import Series, Slot, SlotFate
from remit.model.task import Edit, Task
from remit.store import edits, moves, rows, series, slots, tasks
from remit.store.database import Tx

PAUSED: Final = "the series was paused"
UNWANTED: Final = "you did not want it"
ENDED: Final = "you ended it"
_LAST: Final = 20  # occurrences searched for one that was skipped
_FAR: Final = 1_000  # slots ahead that can be named


def pause(tx: Tx, series_id: SeriesId, now: datetime) -> Series:
    """Plan nothing more, and pause what waits for its time."""
    found = series.find(tx, series_id)
    if not tx.run("pause_series", {"id": series_id, "now": rows.ms(now)}):
        raise _not_possible(found, "be paused")
    for task in _unbegun(tx, series_id):
        if task.resume_to is None:
            moves.pause(tx, task.id, now)
    return series.find(tx, series_id)


def resume(tx: Tx, series_id: SeriesId, now: datetime) -> Series:
    """Continue with the next slot; those in between are recorded as skipped."""
    found = series.find(tx, series_id)
    if found.paused_at is None or found.ended_at is not None:
        raise _not_possible(found, "go on")
    missed = list(takewhile(lambda slot: slot <= now, rrule.slots(found.repeats, found.last)))
    last = missed[-1] if missed else found.last
    tx.run("resume_series", {"id": series_id, "last_at": rows.ms(last)})
    if missed:
        slots.write_skip(
            tx, series_id, slots.SkippedSlots(missed[0], last, len(missed), PAUSED), now
        )
    for task in _unbegun(tx, series_id):
        if task.slot is not None and task.slot <= now:
            _skip(tx, task, PAUSED, now)
        elif task.resume_to is not None:
            moves.resume(tx, task.id, now)
    return series.find(tx, series_id)


def end(tx: Tx, series_id: SeriesId, now: datetime) -> Series:
    """Plan nothing more, and cancel what waits for its time."""
    found = series.find(tx, series_id)
    if not series.end(tx, series_id, ENDED, now):
        raise _not_possible(found, "end")
    for task in _unbegun(tx, series_id):
        moves.cancel(tx, task.id, now)
    return series.find(tx, series_id)


def skip(tx: Tx, series_id: SeriesId, slot: datetime | None, now: datetime) -> Series:
    """Leave one slot out: the next one, if none is named."""
    found = series.find(tx, series_id)
    if found.ended_at is not None:
        raise _not_possible(found, "be skipped")
    task = _occurrence(tx, series_id, slot)
    if task is not None:
        _skip(tx, task, UNWANTED, now)
    else:
        at = _slot(found, slot, now)
        slots.write_skip(tx, series_id, slots.SkippedSlots(at, at, 1, UNWANTED), now)
    return series.find(tx, series_id)


def unskip(tx: Tx, series_id: SeriesId, slot: datetime, now: datetime) -> Task | None:
    """Restore a skipped slot; return its occurrence, if one was ended for it.

    Without one, the caller must plan it again.
    """
    found = series.find(tx, series_id)
    if slot <= now or found.ended_at is not None:
        raise Conflict(f"Series {series_id} cannot have the slot {stamp(slot)} any more.")
    tx.run("delete_skip", {"series": series_id, "slot": rows.ms(slot)})
    if slot > found.last:
        return None
    return next((each for each in occurrences(tx, series_id, _LAST) if each.slot == slot), None)


def move(tx: Tx, series_id: SeriesId, slot: datetime | None, to: datetime, now: datetime) -> Task:
    """Run one occurrence at another time; its slot in the series stays."""
    found = series.find(tx, series_id)
    task = _occurrence(tx, series_id, slot)
    if task is None:
        sentence = f"Series {found.id} has no occurrence yet for that slot; the next one has."
        raise Conflict(sentence)
    if to <= now:
        raise BadInput(f"Say a time to come, not {stamp(to)}.", field="to")
    return edits.edit(tx, task.id, Edit(scheduled_for=to), now)


def coming(tx: Tx, found: Series, now: datetime, count: int) -> list[Slot]:
    """Return the next slots: first those with an occurrence, then by the rule."""
    there = [
        Slot(found.id, task.slot, task_id=task.id, planned=task.scheduled_for)
        for task in _unbegun(tx, found.id)
        if task.slot is not None
    ]
    if found.ended_at is not None:
        return there[:count]
    after = max(found.last, now)
    ahead = [
        Slot(found.id, at, SlotFate.SKIPPED, UNWANTED) if at in found.skips else Slot(found.id, at)
        for at in islice(rrule.slots(found.repeats, after), max(0, count - len(there)))
    ]
    return [*there, *ahead][:count]


def occurrences(tx: Tx, series_id: SeriesId, limit: int) -> list[Task]:
    """Return the tasks of a series, newest first."""
    found = tx.all("list_occurrences", {"series": series_id, "limit": limit})
    return tasks.all_with_deliveries(tx, found)


def _unbegun(tx: Tx, series_id: SeriesId) -> list[Task]:
    found = tx.all("list_unstarted_occurrences", {"series": series_id})
    return tasks.all_with_deliveries(tx, found)


def _occurrence(tx: Tx, series_id: SeriesId, slot: datetime | None) -> Task | None:
    """Return the occurrence that waits for this slot; without a slot, the next."""
    there = _unbegun(tx, series_id)
    fitting = [task for task in there if slot is None or slot == task.slot]
    return fitting[0] if fitting else None


def _slot(found: Series, slot: datetime | None, now: datetime) -> datetime:
    """Return a future slot that has no occurrence yet."""
    ahead = islice(rrule.slots(found.repeats, max(found.last, now)), _FAR)
    for at in ahead:
        if at in found.skips and slot is None:
            continue
        if slot in (None, at):
            return at
    said = stamp(slot) if slot else "none that is left"
    sentence = f"Series {found.id} has no slot to come at {said}."
    raise BadInput(sentence, field="slot")


def _skip(tx: Tx, task: Task, why: str, now: datetime) -> None:
    assert task.slot is not None  # noqa: S101 - an occurrence that waits has one
    assert task.series_id is not None  # noqa: S101 - found by it
    slots.pass_over(tx, TaskId(task.id), task.status, why, now)
    skipped = slots.SkippedSlots(task.slot, task.slot, 1, why)
    slots.write_skip(tx, task.series_id, skipped, now)


def _not_possible(found: Series, what: str) -> Conflict:
    stands = "has ended" if found.ended_at else "is paused" if found.paused_at else "is going on"
    return Conflict(f"Series {found.id} {stands}; it cannot {what}.")
