"""Slots of a series: the next occurrence is planned, skipped ones are recorded."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.model.codec import Json, from_json, stamp
from remit.model.ids import Ids, SeriesId, TaskId
from remit.model.recurrence import Overlap, Series, SlotFate
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor, Status
from remit.model.task import Source, Task
from remit.store import after_restore, events, meta, moves, reviews, rows, tasks
from remit.store.database import Cell, Row, Tx

NOT_BEGUN: Final = "it had not begun when the next one was due"
ASLEEP: Final = "Remit was not running, or the machine slept"
BEFORE_RESTORE: Final = "it may have run before a backup was restored"
AT_WORK: Final = "the one before it was still open"
_OVERLAP: Final = "overlap"  # key in `meta`: the default for series without their own rule


class SkippedSlots(Struct, frozen=True):
    """Consecutive slots without an occurrence."""

    first: datetime
    last: datetime
    slots: int
    why: str = ASLEEP
    fate: SlotFate = SlotFate.SKIPPED


class SeriesAdvance(Struct, frozen=True):
    """How a series advances: up to which slot, and what is planned."""

    latest: datetime  # the newest due slot
    made: tuple[Task, ...]  # the occurrences to plan, in order
    skipped: SkippedSlots | None = None
    over: bool = False  # its rule has no further time
    before: datetime | None = None  # unbegun occurrences before this are too old; None: `latest`
    keeps: int = 0  # this many of them stay
    missed: bool = False  # they are too old because Remit was not running
    overlap: Overlap = Overlap.QUEUE_ONE
    held: datetime | None = None  # overdue ones do not begin before this
    asks: bool = False  # of the slots due before a restore one is planned, and asked about


def advance(tx: Tx, series: Series, step: SeriesAdvance, now: datetime) -> bool:
    """Plan what comes next and skip what is too old; False if another process was first."""
    last = step.made[-1].slot if step.made else series.last
    assert last is not None  # noqa: S101 - an occurrence has a slot
    moved = tx.run(
        "advance_series",
        {
            "id": series.id,
            "was": rows.ms(series.last),
            "last_at": rows.ms(last),
            "due_at": None if step.over else rows.ms(last),
            "now": rows.ms(now),
        },
    )
    if not moved:
        return False
    for task in step.made:
        plan(tx, task, now)
    passed = _pass_over_old(tx, series.id, step, now)
    if step.asks:
        _ask(tx, step, passed)
    _meet(tx, series.id, step, now)
    if step.held is not None:
        place: dict[str, Cell] = {
            "series": series.id,
            "slot": rows.ms(step.latest),
            "due_at": rows.ms(step.held),
        }
        tx.run("delay_slots", place)
    if step.skipped is not None:
        _write_down(tx, series, step.skipped, step.made, now)
    return True


def occurrence(
    each: Series, slot: datetime, ids: Ids, now: datetime, planned: datetime | None = None
) -> Task:
    """Make the task for one slot from the template."""
    wanted = from_json(Task, each.template)
    return replace(
        wanted,
        id=ids.task(),
        source=Source(wanted.source.kind, f"{each.id}@{stamp(slot)}"),
        created_at=now,
        last_updated=now,
        delivery=tuple(replace(delivery, id=ids.delivery()) for delivery in wanted.delivery),
        slot=slot,
        scheduled_for=planned or slot,
    )


def again(task: Task, now: datetime) -> Task:
    """Return an occurrence for a slot whose first one has ended, under a new ref."""
    return replace(task, source=Source(task.source.kind, f"{task.source.ref}#{stamp(now)}"))


def plan(tx: Tx, task: Task, now: datetime) -> Task:
    """Store an occurrence; if an earlier one gave this slot up, as another one."""
    made = tasks.admit(tx, task)
    return tasks.admit(tx, again(task, now)) if made.slot is None else made


def keep_rule(tx: Tx, overlap: Overlap) -> None:
    """Store the settings' overlap rule, so that a claim can read it."""
    if meta.get(tx, _OVERLAP) != overlap:
        meta.put(tx, _OVERLAP, overlap.value)


def may_begin(tx: Tx, row: Row, now: datetime) -> bool:
    """Whether an occurrence may begin; one that overlaps another is skipped if the rule says so."""
    slot, series_id = row["slot_at"], row["series_id"]
    if slot is None or row["started_at"] is not None or series_id is None:
        return True
    if tx.one("find_overlapped", {"series": series_id, "slot": slot}) is None:
        return True
    task_id, left = TaskId(str(row["id"])), _single_skip(rows.parse_time(slot), AT_WORK)
    _leave_out(tx, SeriesId(str(series_id)), task_id, str(row["status"]), left, now)
    return False


def latest_tasks(tx: Tx, series_id: SeriesId, limit: int) -> list[Task]:
    """Return the tasks of a series, newest first."""
    found = tx.all("list_latest_tasks", {"series": series_id, "limit": limit})
    return tasks.all_with_deliveries(tx, found)


def stopping(tx: Tx, series_id: SeriesId) -> list[Task]:
    """Return the running occurrences that shall end."""
    return [rows.task(row) for row in tx.all("list_stopping_slots", {"series": series_id})]


def list_skipped(tx: Tx, series_id: SeriesId, limit: int = 100) -> list[SkippedSlots]:
    """Return the skipped slots, newest first."""
    found = tx.all("list_skips", {"series": series_id, "limit": limit})
    return [
        rows.value(
            SkippedSlots,
            row,
            first=rows.parse_time(row["from_at"]),
            last=rows.parse_time(row["upto_at"]),
        )
        for row in found
    ]


def skipped_summary(reason: str) -> str:
    """Return the result of an occurrence that never began."""
    return f"Skipped: {reason}."


def pass_over(
    tx: Tx, task_id: TaskId, was: str, reason: str, now: datetime, fate: SlotFate | None = None
) -> None:
    """End an occurrence that never began, so that missed ones do not run in a burst.

    With a `fate` nobody decided it, and the owner may want to know.
    """
    why = skipped_summary(reason)
    reviews.close_all(tx, task_id, Actor.META, now)
    ended = rows.found(tx.one("skip_task", {"id": task_id, "why": why, "now": rows.ms(now)}))
    data: dict[str, Json] = {"was": was, "to": Status.CANCELLED, "note": why}
    data |= {"fate": fate.value} if fate else {}
    entry = NewEvent(EventKind.TASK_MOVED, Actor.META, data)
    events.append(tx, task_id, rows.number(ended["events"]), entry, now)
    task = rows.task(tasks.find_row(tx, task_id))
    tasks.tell_parent(tx, task, Status.CANCELLED, why, now)


def write_skip(tx: Tx, series_id: SeriesId, skipped: SkippedSlots, now: datetime) -> None:
    """Record that slots got no occurrence, and why."""
    tx.run(
        "insert_skip",
        {
            "series": series_id,
            "from_at": rows.ms(skipped.first),
            "upto_at": rows.ms(skipped.last),
            "slots": skipped.slots,
            "why": skipped.why,
            "fate": skipped.fate.value,
            "now": rows.ms(now),
        },
    )


def _pass_over_old(
    tx: Tx, series_id: SeriesId, step: SeriesAdvance, now: datetime
) -> list[datetime]:
    """Skip unbegun occurrences that are too old, and record why. Return their slots."""
    before = step.before or step.latest
    wanted = _slot_params(series_id, rows.ms(before), now, restored=step.asks)
    why, fate = (ASLEEP, SlotFate.MISSED) if step.missed else (NOT_BEGUN, SlotFate.SKIPPED)
    why = BEFORE_RESTORE if step.asks else why
    passed: list[datetime] = []
    for row in _unbegun(tx, wanted)[step.keeps :]:
        task_id, left = (
            TaskId(str(row["task"])),
            _single_skip(rows.parse_time(row["slot_at"]), why, fate),
        )
        _leave_out(tx, series_id, task_id, str(row["status"]), left, now)
        passed.append(left.first)
    return passed


def _ask(tx: Tx, step: SeriesAdvance, passed: Sequence[datetime]) -> None:
    """Ask one question for all slots that may have run before a restore."""
    missed = step.skipped
    firsts = [*passed, *([missed.first] if missed else [])]
    for task in step.made:
        assert task.slot is not None  # noqa: S101 - an occurrence has a slot
        count = 1 + len(passed) + (missed.slots if missed else 0)
        after_restore.hold(
            tx, task, others=after_restore.RestoredSlots(min([*firsts, task.slot]), count)
        )


def _slot_params(
    series_id: SeriesId, slot: int, now: datetime, *, restored: bool = False
) -> dict[str, Cell]:
    return {"series": series_id, "slot": slot, "now": rows.ms(now), "restored": restored}


def _meet(tx: Tx, series_id: SeriesId, step: SeriesAdvance, now: datetime) -> None:
    """Handle overlapping runs of one series: skip the newer one, or end the older."""
    if step.overlap not in (Overlap.SKIP, Overlap.CANCEL_OTHER):
        return
    skips, slot = step.overlap is Overlap.SKIP, rows.ms(step.latest)
    found = tx.all("list_open_slots", {"series": series_id, "slot": slot, "unbegun": skips})
    if not skips:
        for row in found:
            if row["wish"] in (None, "pause"):
                moves.cancel(tx, TaskId(str(row["id"])), now)
    elif found:
        for row in _unbegun(tx, _slot_params(series_id, slot + 1, now))[:1]:
            if row["slot_at"] == slot:
                task_id, left = TaskId(str(row["task"])), _single_skip(step.latest, AT_WORK)
                _leave_out(tx, series_id, task_id, str(row["status"]), left, now)


def _unbegun(tx: Tx, wanted: Mapping[str, Cell]) -> list[Row]:
    """Return the unstarted occurrences, latest slot first."""
    found = tx.all("list_unstarted_slots", wanted)
    return sorted(found, key=lambda row: rows.number(row["slot_at"]), reverse=True)


def _leave_out(
    tx: Tx, series_id: SeriesId, task_id: TaskId, was: str, skipped: SkippedSlots, now: datetime
) -> None:
    """End an occurrence before it began, and record its slot."""
    pass_over(tx, task_id, was, skipped.why, now, skipped.fate)
    write_skip(tx, series_id, skipped, now)


def _single_skip(at: datetime, why: str, fate: SlotFate = SlotFate.SKIPPED) -> SkippedSlots:
    return SkippedSlots(at, at, 1, why, fate)


def _write_down(
    tx: Tx, series: Series, skipped: SkippedSlots, made: Sequence[Task], now: datetime
) -> None:
    """Record skips in the series, and in the log of the occurrence that replaces them."""
    write_skip(tx, series.id, skipped, now)
    details: dict[str, Json] = {
        "what": "slots skipped",
        "slots": skipped.slots,
        "from": stamp(skipped.first),
        "upto": stamp(skipped.last),
        "why": skipped.why,
    }
    if not made:
        details |= {"what": "skipped", "series": series.id, "title": series.title}
        events.append(tx, None, 0, NewEvent(EventKind.CALENDAR_NOTED, Actor.META, details), now)
        return
    events.tell_task(tx, made[0].id, NewEvent(EventKind.TASK_UPDATED, Actor.META, details), now)
