"""Occurrences of calendar events: updated with their event, each given to a task once.

An occurrence is planned, then given to a task or dropped with a reason. Its identity is uid and
key, so a rename or another server does not start it again. A begun task is never touched; the
others follow their event.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from remit.model.codec import Json, JsonMap, stamp
from remit.model.contract import ClauseOutcome
from remit.model.ids import SeriesId, SessionId, TaskId
from remit.model.recurrence import SlotFate
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor, Status
from remit.model.task import Taint, Task
from remit.store import calendars, events, rows, slots, tasks
from remit.store.calendars import StoredResource
from remit.store.database import Params, Row, Tx
from remit.store.queue import QUEUE

REMOVED: Final = "it was taken out of the calendar"
CANCELLED: Final = "it is cancelled or done in the calendar"
PASSED: Final = "its time had passed when it was written into the calendar"
FOLLOWED: Final = "its event changed in the calendar"
REWORDED: Final = "its event was rewritten in the calendar"
ANEW: Final = "another start of the same event has this very time"
UNREAD: Final = "its event cannot be read any more"
_BACK: Final = frozenset({REMOVED, CANCELLED, UNREAD})  # these can be revived
_FATES: Final = {
    slots.ASLEEP: SlotFate.MISSED,
    slots.NOT_BEGUN: SlotFate.SKIPPED,
}  # nobody decided these


# Whether an event's words send something, by its title, text and start.
Speaks: TypeAlias = Callable[[str, str, datetime], bool]


def says_nothing(title: str, text: str, start: datetime) -> bool:  # noqa: ARG001 - the port's words
    """The default when nobody reads the events' words."""
    return False


class OccurrenceState(StrEnum):
    PLANNED = "planned"
    GIVEN = "given"
    DROPPED = "dropped"


class StoredOccurrence(Struct, frozen=True, kw_only=True):
    """One start of an event. `tries` rises when it is restored after it was removed."""

    uid: str
    key: str
    start: datetime
    title: str
    text: str
    taint: Taint = Taint.PUBLIC
    account: str = ""
    calendar: str = ""
    state: OccurrenceState = OccurrenceState.PLANNED
    tries: int = 0
    task_id: TaskId | None = None
    why: str | None = None
    ahead: bool = False  # a later start of the same event already has a task


class ReadResource(Struct, frozen=True):
    """A resource with its starts between two moments; `idle` are those that do not count.

    A start before `fresh` was written after its time.
    """

    resource: StoredResource
    starts: tuple[StoredOccurrence, ...]
    idle: frozenset[str]
    since: datetime
    fresh: datetime


def follow_all(
    tx: Tx, reads: Iterable[ReadResource], now: datetime, speaks: Speaks = says_nothing
) -> None:
    """Apply several resources in one transaction, with one commit."""
    for read in reads:
        follow(tx, read, now, speaks)


def follow(tx: Tx, read: ReadResource, now: datetime, speaks: Speaks = says_nothing) -> None:
    """Store a resource and update its planned starts."""
    calendars.put(tx, read.resource, now)
    counts = calendars.counting(tx, read.resource.uid)
    assert counts is not None  # noqa: S101 - put in by this very transaction
    if (counts.account, counts.calendar, counts.path) != _place(read.resource):
        return  # another copy of the same event counts
    known = {each.key: each for each in of_event(tx, read.resource.uid)}
    if read.resource.why is not None and not read.starts:
        # At the old times nobody wants it any more, and the new ones nobody knows.
        for each in known.values():
            drop(tx, each, UNREAD, now)
        return
    for start in read.starts:
        _follow_one(tx, known.get(start.key), start, read, now, speaks)
    there = {start.key for start in read.starts}
    for each in known.values():
        if each.key not in there and each.start >= read.since:
            drop(tx, each, REMOVED, now)


def forget(tx: Tx, resource: StoredResource, now: datetime) -> StoredResource | None:
    """Remove a resource. Return another one with its uid that counts from now on, if any."""
    calendars.delete(tx, resource)
    heir = calendars.counting(tx, resource.uid)
    if heir is None:
        for each in of_event(tx, resource.uid):
            drop(tx, each, REMOVED, now)
    return heir


def of_event(tx: Tx, uid: str) -> list[StoredOccurrence]:
    return [_occurrence(row) for row in tx.all("list_event_occurrences", {"uid": uid})]


def waiting(tx: Tx, now: datetime, until: datetime, limit: int) -> list[StoredOccurrence]:
    """Return planned starts without a task up to a moment, earliest first."""
    asked: Params = {"now": rows.ms(now), "until": rows.ms(until), "limit": limit}
    found = tx.all("list_waiting_occurrences", asked)
    return [_occurrence(row) for row in found]


def coming(tx: Tx, since: datetime, until: datetime, limit: int = 2_000) -> list[StoredOccurrence]:
    """Return what starts, or has started, between two moments."""
    asked: Params = {"since": rows.ms(since), "until": rows.ms(until), "limit": limit}
    return [_occurrence(row) for row in tx.all("list_coming_occurrences", asked)]


def next_of_each(tx: Tx, now: datetime, limit: int) -> list[StoredOccurrence]:
    """Return the next start of each event that has not begun, soonest first."""
    found = tx.all("list_next_starts", {"now": rows.ms(now), "limit": limit})
    return [_occurrence(row) for row in found]


def overdue(tx: Tx, before: datetime) -> list[tuple[StoredOccurrence, datetime]]:
    """Return starts whose task should have begun before a moment, with that time."""
    found = tx.all("list_overdue_starts", {"before": rows.ms(before)})
    return [(_occurrence(row), rows.parse_time(row["scheduled_for"])) for row in found]


def due_later(tx: Tx, each: StoredOccurrence, now: datetime) -> list[datetime]:
    """Return the starts of the same event between this one and now that are not dropped."""
    return [
        other.start
        for other in of_event(tx, each.uid)
        if each.start < other.start <= now and other.state is not OccurrenceState.DROPPED
    ]


def soonest(tx: Tx, now: datetime) -> datetime | None:
    """Return when the next start without a task is."""
    row = tx.one("next_occurrence", {"now": rows.ms(now)})
    return rows.moment(row["at"]) if row else None


def belonging(tx: Tx, uid: str, series: SeriesId, session: SessionId) -> tuple[SeriesId, SessionId]:
    """Return the series and session of an event; the given ones if it has none yet."""
    tx.run("insert_event_series", {"uid": uid, "series": series, "session": session})
    row = rows.found(tx.one("get_event_series", {"uid": uid}))
    return SeriesId(str(row["series_id"])), SessionId(str(row["session_id"]))


def is_taken(tx: Tx, each: StoredOccurrence, series: SeriesId, slot: datetime, ref: str) -> bool:
    """Whether another start of the same event has its slot, or its exact time."""
    row = tx.one("find_slot", {"series": series, "slot": rows.ms(slot)})
    if row is not None and row["source_ref"] != ref:
        return True
    others = (other for other in of_event(tx, each.uid) if other.key != each.key)
    return any(
        other.state is OccurrenceState.GIVEN and other.start == each.start for other in others
    )


def give(
    tx: Tx, each: StoredOccurrence, task_id: TaskId, now: datetime, *, keeps: bool = False
) -> None:
    """Give a start its task. Older ones not begun when it is due end, unless `keeps`."""
    tx.run("give_occurrence", {"uid": each.uid, "key": each.key, "task": task_id})
    if each.start <= now and not keeps:
        pass_over(tx, each, now)


def pass_over(tx: Tx, each: StoredOccurrence, now: datetime) -> None:
    """End earlier starts that have not begun, so that they do not run in a burst."""
    asked: Params = {"uid": each.uid, "start": rows.ms(each.start)}
    for row in tx.all("list_earlier_given_occurrences", asked):
        drop(tx, _occurrence(row), slots.NOT_BEGUN, now)


def drop(tx: Tx, each: StoredOccurrence, why: str, now: datetime) -> None:
    """Drop a start with a reason; a begun or ended one stays."""
    if each.state is OccurrenceState.DROPPED:
        return
    if each.task_id is not None:
        task = tasks.find_row(tx, each.task_id)
        if not _unbegun(task):
            return
        fate = _FATES.get(why)
        slots.pass_over(tx, each.task_id, str(task["status"]), why, now, fate)
    tx.run("drop_occurrence", {"uid": each.uid, "key": each.key, "why": why})


def skip(tx: Tx, each: StoredOccurrence, why: str, now: datetime) -> None:
    """Skip a due start without a task, and journal it."""
    drop(tx, each, why, now)
    details: dict[str, Json] = {"uid": each.uid, "slot": stamp(each.start), "title": each.title}
    details |= {"task": each.task_id} if each.task_id else {}
    calendars.tell(tx, each.account, {"what": "skipped", **details}, why, now)


def plan_again(tx: Tx, row: Row) -> None:
    """Plan a future start again that was dropped while the clock was wrong."""
    was = _occurrence(row)
    _revive(tx, was, replace(was, state=OccurrenceState.PLANNED, task_id=None, why=None))


def prune(tx: Tx, before: datetime) -> int:
    """Delete dropped starts from before a moment; they are journalled."""
    return tx.run("prune_occurrences", {"before": rows.ms(before)})


# One start against what is known of it -----------------------------------------------------------


def _follow_one(
    tx: Tx,
    was: StoredOccurrence | None,
    start: StoredOccurrence,
    read: ReadResource,
    now: datetime,
    speaks: Speaks,
) -> None:
    start = replace(start, account=read.resource.account, calendar=read.resource.calendar)
    objection = _objection(start, read)
    if was is None:
        state = OccurrenceState.PLANNED if objection is None else OccurrenceState.DROPPED
        _put(tx, replace(start, state=state, why=objection))
    elif was.state is OccurrenceState.DROPPED:
        if objection is None and (was.why in _BACK or start.start != was.start):
            _revive(tx, was, start)
    elif objection is not None and (objection is CANCELLED or start.start != was.start):
        drop(tx, was, objection, now)
    else:
        _change(tx, was, start, now, speaks)


def _objection(start: StoredOccurrence, read: ReadResource) -> str | None:
    """Return why a start must not begin; None if it may."""
    if start.key in read.idle:
        return CANCELLED
    return PASSED if start.start < read.fresh else None


def _revive(tx: Tx, was: StoredOccurrence, start: StoredOccurrence) -> None:
    """Restore a start that was removed before it began; it gets a new task."""
    if was.task_id is None:
        _put(tx, replace(start, tries=was.tries))
        return
    tx.run("clear_task_slot", {"id": was.task_id})
    _put(tx, replace(start, tries=was.tries + 1))


def _change(
    tx: Tx, was: StoredOccurrence, start: StoredOccurrence, now: datetime, speaks: Speaks
) -> None:
    """Let an unbegun task follow its event; if it would send something else, make a new task."""
    kept = replace(start, state=was.state, tries=was.tries, task_id=was.task_id)
    if was.task_id is not None:
        row = tasks.find_row(tx, was.task_id)
        if not _unbegun(row):
            return
        task = tasks.get(tx, was.task_id)
        if _is_another(task, was, start, speaks):
            drop(tx, was, REWORDED, now)
            _revive(tx, was, start)
            return
        _edit(tx, was, kept, task, now)
    _put(tx, kept)


def _is_another(task: Task, was: StoredOccurrence, start: StoredOccurrence, speaks: Speaks) -> bool:
    """Whether the author changed to a less trusted one, or the words now send something else.

    Then the task is replaced and read anew, so that nothing of the old words remains.
    """
    if was.taint.joined(start.taint) is not was.taint:
        return True  # a less trusted author now
    if (start.title, start.text, start.taint) == (was.title, was.text, was.taint):
        return False
    if start.taint is Taint.OWNER and speaks(start.title, start.text, start.start):
        return True
    clauses = task.request.clauses if task.request else ()
    as_it_stood = all(each.became is ClauseOutcome.WORK for each in clauses)
    return not as_it_stood or bool(task.gaps) or task.assigned_agent is not None


def _edit(
    tx: Tx, was: StoredOccurrence, start: StoredOccurrence, task: Task, now: datetime
) -> None:
    """Change only the parts of the task that the event changed: the owner may have edited it."""
    changed = task
    if start.title != was.title:
        changed = replace(changed, title=start.title)
    if (start.text, start.title) != (was.text, was.title):
        changed = replace(changed, instructions=start.text or start.title)
    if start.start != was.start:
        changed = replace(changed, scheduled_for=start.start)
    if changed == task:
        return
    columns = tasks.amended_columns(changed)
    columns |= {"priority": changed.priority, "queue": QUEUE[changed.priority], "now": rows.ms(now)}
    row = rows.found(tx.one("edit_task", columns))
    details: JsonMap = {"what": "followed", "why": FOLLOWED, **tasks.task_to_journal(changed)}
    events.append(
        tx,
        task.id,
        rows.number(row["events"]),
        NewEvent(EventKind.TASK_UPDATED, Actor.META, details),
        now,
    )


def _unbegun(row: Row) -> bool:
    """Whether it has not begun and may still be changed or ended."""
    waits = {Status.NEW, Status.READY}
    stands = row["resume_to"] if row["status"] == Status.PAUSED else row["status"]
    return stands in waits and row["worker"] is None and row["started_at"] is None


def _place(resource: StoredResource) -> tuple[str, str, str]:
    return resource.account, resource.calendar, resource.path


def _put(tx: Tx, each: StoredOccurrence) -> None:
    tx.run("put_occurrence", rows.columns(each, body=each.text, task=each.task_id))


def _occurrence(row: Row) -> StoredOccurrence:
    return rows.value(StoredOccurrence, row, text=row["body"])
