"""The owner's actions on a task: pause, resume, cancel, run now, delete, retry."""

from collections.abc import Callable
from datetime import datetime
from typing import Concatenate, Final, ParamSpec, TypeVar

from msgspec.structs import replace

from remit.errors import Conflict, NotPossibleNow
from remit.model import rrule
from remit.model.codec import JsonMap, stamp
from remit.model.contract import WorkItem
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import Ids, SeriesId, TaskId
from remit.model.recurrence import OnMissed, Overlap, Repeats, Series
from remit.model.status import Status
from remit.model.task import Creator, Cue, Source, Task, TaskType
from remit.ports import Clock
from remit.store import events, inbox, moves, series, series_orders, sessions, slots, tasks
from remit.store.database import Database, Tx

P = ParamSpec("P")
T = TypeVar("T")

LEFT_OUT: Final = "left_out"  # key in a retry's context: what was already sent and is left out


class Owner:
    """The owner's operations. `through` names the program that acts for the owner, if any."""

    def __init__(self, db: Database, clock: Clock, ids: Ids, through: str | None = None) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._through = through

    def through(self, name: str | None) -> "Owner":
        """Return the same operations on behalf of a program, or for the owner if None."""
        return Owner(self._db, self._clock, self._ids, name)

    async def pause(self, task_id: TaskId, version: str | None = None) -> Task:
        """Stop at the next boundary, never in the middle of a send."""
        return await self._do(moves.pause, task_id, version)

    async def undo(self, task_id: TaskId, version: str | None = None) -> Task:
        """Undo an approval, while nothing was sent."""
        return await self._do(moves.undo, task_id, version)

    async def resume(self, task_id: TaskId, version: str | None = None) -> Task:
        """Go on where it was."""
        return await self._do(moves.resume, task_id, version)

    async def cancel(self, task_id: TaskId, version: str | None = None) -> Task:
        """End it; a running task ends at its next boundary."""
        return await self._do(moves.cancel, task_id, version)

    async def run_now(
        self, task_id: TaskId, version: str | None = None, ref: str | None = None
    ) -> Task:
        """Start a planned task at once.

        A future occurrence keeps its slot: a new task of its session runs instead, and is returned.
        The same `ref` is the same request; without one, two within a minute are.
        """
        task, now = await self._db.read(tasks.get, task_id), self._clock.now()
        if not _is_to_come(task, now):
            return await self._do(moves.hasten, task_id, version)
        beside = _copy_for_now(task, self._ids, now, ref)
        if version is None:
            return await self._write(_run_beside, task_id, beside, now)
        return await self._write(tasks.matching, version, _run_beside, task_id, beside, now)

    async def delete(self, task_id: TaskId, version: str | None = None) -> Task:
        """Hide an ended task; cancel a live one, and hide it once it has ended."""
        return await self._do(moves.delete, task_id, version)

    async def seen(self, task_id: TaskId) -> Task:
        """Record that the owner has looked at its end; it leaves the inbox."""
        return await self._write(inbox.see, task_id, self._clock.now())

    async def vouch(self, task_id: TaskId) -> Task:
        """Record that the owner vouches for its session's memory."""
        return await self._write(sessions.vouch, task_id, self._clock.now())

    async def undelete(self, task_id: TaskId) -> Task:
        return await self._write(tasks.undelete, task_id, self._clock.now())

    # Series -----------------------------------------------------------------------------------

    async def pause_series(self, series_id: SeriesId) -> Series:
        """Plan nothing more, and pause what waits for its time."""
        return await self._write(series_orders.pause, series_id, self._clock.now())

    async def resume_series(self, series_id: SeriesId) -> Series:
        """Go on with the next slot."""
        return await self._write(series_orders.resume, series_id, self._clock.now())

    async def end_series(self, series_id: SeriesId) -> Series:
        """Plan nothing more, and cancel what waits for its time."""
        return await self._write(series_orders.end, series_id, self._clock.now())

    async def skip_slot(self, series_id: SeriesId, slot: datetime | None = None) -> Series:
        """Leave one slot out: the next one, if none is named."""
        return await self._write(series_orders.skip, series_id, slot, self._clock.now())

    async def unskip_slot(self, series_id: SeriesId, slot: datetime) -> Series:
        """Run a slot after all that was left out."""
        found, now = await self._db.read(series.find, series_id), self._clock.now()
        made = slots.occurrence(found, slot, self._ids, now)
        return await self._write(series_orders.unskip, series_id, made, now)

    async def move_slot(self, series_id: SeriesId, slot: datetime | None, to: datetime) -> Task:
        """Run one occurrence at another time; without a slot, the next."""
        found, now = await self._db.read(series.find, series_id), self._clock.now()
        made = slots.occurrence(found, slot, self._ids, now, planned=to) if slot else None
        return await self._write(series_orders.move, series_id, slot, to, now, made)

    async def repeat_series(self, series_id: SeriesId, repeats: Repeats) -> Series:
        """Let it run at other times from now on."""
        found, now = await self._db.read(series.find, series_id), self._clock.now()
        first = next(iter(rrule.slots(repeats, now)), None)
        if first is None:
            raise NotPossibleNow("These times are over; say how often it runs from now on.")
        changed = replace(found, repeats=repeats)
        made = None if found.paused_at else slots.occurrence(changed, first, self._ids, now)
        return await self._write(series_orders.repeat, series_id, repeats, made, now)

    async def rule_series(
        self, series_id: SeriesId, missed: OnMissed | None, overlap: Overlap | None
    ) -> Series:
        """Set what happens to missed or overlapping slots; None keeps the old value."""
        return await self._write(series.rule, series_id, missed=missed, overlap=overlap)

    # Again ------------------------------------------------------------------------------------

    async def retry(self, task_id: TaskId, ref: str) -> Cue:
        """Return the cue of a retry: a new task in the same session.

        What was already sent is left out, and named in the new task's context.
        """
        task = await self._db.read(tasks.get, task_id)
        if task.ended:
            # A retry implies that the owner has looked at its end.
            await self._write(inbox.see, task_id, self._clock.now())
        else:
            sentence = f"Task {task.id} is {task.status}; only an ended task can be tried again."
            raise Conflict(sentence)
        return Cue(
            # A retry does not change whose words they are.
            source=Source(task.source.kind, ref),
            title=task.title,
            text=task.request.text if task.request else task.title,
            instructions=task.instructions,
            work=tuple(_fresh_work_items(task)),
            delivery=tuple(_unsent(task)),
            contract=task.contract,
            context=_context(task),
            priority=task.priority if task.rule and task.rule.name == "owner" else None,
            scheduled_for=_still_to_come(task, self._clock.now()),
            session_id=task.session_id,
            retry_of=task.id,
            assigned_agent=task.assigned_agent,
            created_by=_asker(task),
            taint=task.taint,
            veto=task.veto,
            conditions=task.conditions,
        )

    async def _do(
        self,
        verb: Callable[[Tx, TaskId, datetime], Task],
        task_id: TaskId,
        version: str | None,
    ) -> Task:
        """Run a verb if the task has the expected version; without one, in any case."""
        now = self._clock.now()
        if version is None:
            return await self._write(verb, task_id, now)
        return await self._write(tasks.matching, version, verb, task_id, now)

    async def _write(
        self, verb: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._through is None:
            return await self._db.write(verb, *args, **kwargs)
        return await self._db.write(events.on_behalf_of(self._through, verb), *args, **kwargs)


def _is_to_come(task: Task, now: datetime) -> bool:
    """Whether it waits for a slot of its series."""
    planned = task.scheduled_for or task.slot
    waits = task.started_at is None and task.status in (Status.NEW, Status.READY)
    return waits and task.slot is not None and planned is not None and planned > now


def _run_beside(tx: Tx, task_id: TaskId, beside: Task, now: datetime) -> Task:
    if _is_to_come(tasks.get(tx, task_id), now):
        return tasks.admit(tx, beside)
    return moves.hasten(tx, task_id, now)


def _copy_for_now(task: Task, ids: Ids, now: datetime, ref: str | None) -> Task:
    """Return the same work for now."""
    request = ref or stamp(now.replace(second=0, microsecond=0))
    return replace(
        task,
        id=ids.task(),
        type=TaskType.IMMEDIATE,
        source=Source(task.source.kind, f"{task.id}@{request}"),
        status=Status.NEW,
        created_at=now,
        last_updated=now,
        created_by=_asker(task),
        repeats=None,
        slot=None,
        scheduled_for=None,
        delivery=tuple(replace(each, id=ids.delivery()) for each in task.delivery),
    )


def _asker(task: Task) -> Creator:
    """Return the creator: an agent's request stays an agent's in a retry."""
    return Creator.AGENT if task.created_by is Creator.AGENT else Creator.USER


def _still_to_come(task: Task, now: datetime) -> datetime | None:
    """Return the planned time of a task that never began; else it starts at once."""
    planned = task.scheduled_for
    return planned if planned and planned > now and task.started_at is None else None


def _fresh_work_items(task: Task) -> list[WorkItem]:
    return [WorkItem(item.description) for item in task.work]


def _unsent(task: Task) -> list[Delivery]:
    """Return the unsent deliveries; if all were sent, all of them again."""
    whole = [each for each in task.delivery if each.part == 0]
    left = [each for each in whole if not _is_out(each, task)]
    return [Delivery(each.channel, each.recipient, each.content) for each in left or whole]


def _context(task: Task) -> JsonMap:
    """Return the context of the new task: which deliveries it leaves out, and why."""
    kept = {name: value for name, value in task.context.items() if name != LEFT_OUT}
    whole = [each for each in task.delivery if each.part == 0]
    out = [each for each in whole if _is_out(each, task)]
    if not out or len(out) == len(whole):
        return kept
    return {**kept, LEFT_OUT: [f"{each.channel} to {each.recipient or 'you'}" for each in out]}


def _is_out(delivery: Delivery, task: Task) -> bool:
    """Whether all of it was sent, with every part of a long text."""
    parts = [each for each in task.delivery if str(each.id).partition(".")[0] == delivery.id]
    return all(each.status is DeliveryStatus.SENT for each in parts or (delivery,))
