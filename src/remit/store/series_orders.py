"""The owner's actions on a series (pause, resume, end, other times) and on one slot of it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import Final

from msgspec.structs import replace

from remit.errors import Conflict, NotPossibleNow
from remit.model import rrule
from remit.model.codec import stamp
from remit.model.ids import SeriesId, TaskId
from remit.model.recurrence import ON_TIME, Repeats, Series, Slot, SlotFate
from remit.model.status import TERMINAL, Status
from remit.model.task import Edit, Task
from remit.store import messages, moves, rows, series, slots, tasks
from remit.store.database import Cell, Params, Row, Tx

PAUSED: Final = "the series was paused"
UNWANTED: Final = "you did not want it"
ENDED: Final = "you ended it"
CHANGED: Final = "you changed when it repeats"
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


def unskip(tx: Tx, series_id: SeriesId, made: Task, now: datetime) -> Series:
    """Restore a skipped slot; `made` replaces the occurrence that was ended for it, if any.

    One that had been moved takes place at the time that it was moved to.
    """
    found, slot = series.find(tx, series_id), made.slot
    assert slot is not None  # noqa: S101 - an occurrence has one
    if slot <= now or found.ended_at is not None:
        raise Conflict(f"Series {series_id} cannot have the slot {stamp(slot)} any more.")
    planned = _occurrence(tx, series_id, slot) is not None
    ended = _ended_for(tx, series_id, slot)
    if not _give_back(tx, series_id, slot) and not planned:
        _slot(found, slot, now)  # raises for a time that is no slot
    if not planned and (ended or slot <= found.last):
        was = ended[0].scheduled_for if ended else None
        at = was if was and was > now else made.scheduled_for
        slots.plan(tx, replace(made, scheduled_for=at), now)
    return series.find(tx, series_id)


def _ended_for(tx: Tx, series_id: SeriesId, slot: datetime) -> list[Task]:
    """Return the occurrences of a slot that ended, newest first."""
    return [each for each in occurrences(tx, series_id, _LAST) if each.slot == slot and each.ended]


def _give_back(tx: Tx, series_id: SeriesId, slot: datetime) -> bool:
    """Forget that a slot was skipped; the occurrence that was ended for it no longer has it."""
    for each in _ended_for(tx, series_id, slot):
        tx.run("clear_task_slot", {"id": each.id})
    return bool(tx.run("delete_skip", {"series": series_id, "slot": rows.ms(slot)}))


def move(
    tx: Tx,
    series_id: SeriesId,
    slot: datetime | None,
    to: datetime,
    now: datetime,
    made: Task | None = None,
) -> Task:
    """Run one occurrence at another time; its slot in the series stays.

    `made` is the occurrence of a slot that has none yet.
    """
    if to <= now:
        raise NotPossibleNow(f"Say a time to come, not {stamp(to)}.", field="to")
    found = series.find(tx, series_id)
    if found.ended_at is not None:
        raise _not_possible(found, "be moved")
    task = _occurrence(tx, series_id, slot)
    if task is not None:
        return messages.edit(tx, task.id, Edit(scheduled_for=to), now)
    if made is None or made.slot is None:
        raise Conflict(f"Series {found.id} has no run to come that could be moved.")
    _give_back(tx, series_id, _slot(found, made.slot, now))
    return slots.plan(tx, made, now)


def repeat(
    tx: Tx, series_id: SeriesId, repeats: Repeats, made: Task | None, now: datetime
) -> Series:
    """Let a series run at other times; `made` replaces the occurrences that have not begun.

    A paused series gets none: it continues with the next slot.
    """
    found = series.find(tx, series_id)
    if found.ended_at is not None:
        raise _not_possible(found, "be changed")
    for task in _unbegun(tx, series_id):
        slots.pass_over(tx, task.id, task.status, CHANGED, now)
        tx.run("clear_task_slot", {"id": task.id})
    last = now if made is None or made.slot is None else made.slot
    changed: Params = {
        "id": series_id,
        "rule": repeats.rule,
        "zone": repeats.zone,
        "first_at": rows.ms(repeats.first),
        "last_at": rows.ms(last),
    }
    tx.run("repeat_series", changed)
    if made is not None:
        slots.plan(tx, made, now)
    return series.find(tx, series_id)


def coming(tx: Tx, found: Series, now: datetime, count: int) -> list[Slot]:
    """Return the next slots: first those with an occurrence, then by the rule."""
    there = [
        Slot(found.id, task.slot, task_id=task.id, planned=task.scheduled_for)
        for task in _unbegun(tx, found.id)
        if task.slot is not None
    ]
    if found.ended_at is not None:
        return there[:count]
    there += skipped_ahead(tx, found, now)
    free = (at for at in rrule.slots(found.repeats, max(found.last, now)) if at not in found.taken)
    ahead = [
        Slot(found.id, at, SlotFate.SKIPPED, UNWANTED) if at in found.skips else Slot(found.id, at)
        for at in islice(free, max(0, count - len(there)))
    ]
    return sorted([*there, *ahead], key=lambda slot: slot.planned or slot.at)[:count]


def next_run(tx: Tx, found: Series, now: datetime) -> Slot | None:
    """Return the next slot that is not skipped, if there is one."""
    skips = len(found.skips) + len(skipped_ahead(tx, found, now))
    ahead = coming(tx, found, now, skips + 1)
    return next((slot for slot in ahead if slot.fate is not SlotFate.SKIPPED), None)


def skipped_ahead(tx: Tx, found: Series, now: datetime) -> list[Slot]:
    """Return the skipped slots to come whose occurrence was ended for that."""
    gone = tx.all("list_coming_skips", {"series": found.id, "after": rows.ms(now)})
    times = (rows.parse_time(row["from_at"]) for row in gone)
    had_task = (at for at in times if at <= found.last or at in found.taken)
    return [Slot(found.id, at, SlotFate.SKIPPED, UNWANTED) for at in had_task]


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
    slot_text = stamp(slot) if slot else "none that is left"
    sentence = f"Series {found.id} has no slot to come at {slot_text}."
    raise NotPossibleNow(sentence, field="slot")


def _skip(tx: Tx, task: Task, why: str, now: datetime) -> None:
    assert task.slot is not None  # noqa: S101 - an occurrence that waits has one
    assert task.series_id is not None  # noqa: S101 - found by it
    slots.pass_over(tx, TaskId(task.id), task.status, why, now)
    skipped = slots.SkippedSlots(task.slot, task.slot, 1, why)
    slots.write_skip(tx, task.series_id, skipped, now)


def _not_possible(found: Series, what: str) -> Conflict:
    stands = "has ended" if found.ended_at else "is paused" if found.paused_at else "is going on"
    return Conflict(f"Series {found.id} {stands}; it cannot {what}.")


MOST: Final = 1_000
CANCELLED: Final = "it was cancelled before it began"
_LEDGER_FAR: Final = 20_000
_INSTANT: Final = timedelta(milliseconds=1)


def slots_of_series(
    tx: Tx, series_id: SeriesId, since: datetime, until: datetime, limit: int = MOST
) -> list[Slot]:
    """Return the slots of a series between two moments, oldest first; None as fate: waiting."""
    span: dict[str, Cell] = {"series": series_id, "since": rows.ms(since), "until": rows.ms(until)}
    found: dict[datetime, Slot] = {}
    skips = tx.all("list_ledger_skips", span)
    known = series.get(tx, series_id) if any(row["slots"] != 1 for row in skips) else None
    for row in sorted(skips, key=lambda each: -rows.number(each["slots"])):
        # A record of a single slot comes last and overrides the others.
        for at in _passed_slots(row, known.repeats if known else None, since, until, limit):
            found[at] = Slot(series_id, at, rows.word(SlotFate, row["fate"]), str(row["why"]))
    for row in tx.all("list_ledger_tasks", {**span, "limit": limit}):
        at = rows.parse_time(row["slot_at"])
        found[at] = _of_task(series_id, at, row, found.get(at))
    return [found[at] for at in sorted(found)][:limit]


def latest(tx: Tx, series_id: SeriesId, now: datetime, count: int) -> list[Slot]:
    """Return the latest due slots, oldest first."""
    until: dict[str, Cell] = {"series": series_id, "until": rows.ms(now) + 1, "limit": count}
    made = tx.all("list_latest_slots", until)
    since = (
        rows.parse_time(made[-1]["slot_at"])
        if len(made) == count
        else datetime.min.replace(tzinfo=UTC)
    )
    return slots_of_series(tx, series_id, since, now + _INSTANT, _LEDGER_FAR)[-count:]


def _passed_slots(
    row: Row, repeats: Repeats | None, since: datetime, until: datetime, limit: int
) -> Iterator[datetime]:
    first, last = rows.parse_time(row["from_at"]), rows.parse_time(row["upto_at"])
    if row["slots"] == 1 or repeats is None:
        return (at for at in dict.fromkeys((first, last)) if since <= at < until)
    after = max(first, since) - _INSTANT
    upto = min(last, until - _INSTANT)
    return islice(takewhile(lambda at: at <= upto, rrule.slots(repeats, after)), limit)


def _of_task(series_id: SeriesId, at: datetime, row: Row, passed: Slot | None) -> Slot:
    started = rows.moment(row["started_at"])
    fate, why = None, None
    if started is not None:
        made = rows.parse_time(row["created_at"])
        fate = SlotFate.CAUGHT_UP if made - at > ON_TIME else SlotFate.RAN
    elif passed is not None:
        fate, why = passed.fate, passed.why
    elif rows.word(Status, row["status"]) in TERMINAL:
        fate, why = SlotFate.SKIPPED, CANCELLED
    slot = Slot(
        series_id,
        at,
        fate,
        why,
        TaskId(str(row["id"])),
        rows.moment(row["scheduled_for"]),
        started,
    )
    if fate is SlotFate.RAN and slot.late is not None and slot.late > ON_TIME:
        return Slot(series_id, at, SlotFate.LATE, why, slot.task_id, slot.planned, started)
    return slot
