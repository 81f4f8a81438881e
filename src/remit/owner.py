"""What the owner may do to a task at any time: pause, resume, cancel, run now, delete, retry."""

from datetime import datetime
from typing import Final

from remit.errors import Conflict
from remit.model.codec import JsonMap
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import TaskId
from remit.model.plan import Item
from remit.model.task import Cue, Source, Task
from remit.ports import Clock
from remit.store import moves, tasks
from remit.store.database import Database

LEFT_OUT: Final = "left_out"  # in a retry's context: what was sent before, and is not sent again


class Owner:
    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def pause(self, task_id: TaskId) -> Task:
        """Stop at the next boundary, never in the middle of a send."""
        return await self._db.write(moves.pause, task_id, self._clock.now())

    async def undo(self, task_id: TaskId) -> Task:
        """Call back what was approved, while nothing of it is on its way."""
        return await self._db.write(moves.undo, task_id, self._clock.now())

    async def resume(self, task_id: TaskId) -> Task:
        """Go on where it was."""
        return await self._db.write(moves.resume, task_id, self._clock.now())

    async def cancel(self, task_id: TaskId) -> Task:
        """End it; a running task ends at its next boundary."""
        return await self._db.write(moves.cancel, task_id, self._clock.now())

    async def run_now(self, task_id: TaskId) -> Task:
        """Start at once what was planned for later."""
        return await self._db.write(moves.hasten, task_id, self._clock.now())

    async def delete(self, task_id: TaskId) -> Task:
        """Hide an ended task; cancel a live one, and hide it once it has ended."""
        now = self._clock.now()
        task = await self._db.read(tasks.get, task_id)
        if task.ended:
            return await self._db.write(tasks.delete, task_id, now)
        return await self._db.write(moves.cancel, task_id, now, hide=True)

    async def undelete(self, task_id: TaskId) -> Task:
        return await self._db.write(tasks.undelete, task_id, self._clock.now())

    async def retry(self, task_id: TaskId, ref: str) -> Cue:
        """What to admit so that an ended task is tried again: a new task in the same session.

        What the old one had sent is left out, and named in the new one's context.
        """
        task = await self._db.read(tasks.get, task_id)
        if not task.ended:
            sentence = f"Task {task.id} is {task.status}; only an ended task can be tried again."
            raise Conflict(sentence)
        return Cue(
            # Whose words they are does not change because the owner wants them tried again.
            source=Source(task.source.kind, ref),
            title=task.title,
            text=task.request.text if task.request else task.title,
            instructions=task.instructions,
            work=tuple(_untouched(task)),
            delivery=tuple(_unsent(task)),
            contract=task.contract,
            context=_context(task),
            priority=task.priority if task.rule and task.rule.name == "owner" else None,
            scheduled_for=_still_to_come(task, self._clock.now()),
            session_id=task.session_id,
            retry_of=task.id,
            assigned_agent=task.assigned_agent,
            taint=task.taint,
        )


def _still_to_come(task: Task, now: datetime) -> datetime | None:
    """What was ended before it began keeps its time; what was tried is tried again at once."""
    planned = task.scheduled_for
    return planned if planned and planned > now and task.started_at is None else None


def _untouched(task: Task) -> list[Item]:
    return [Item(item.description) for item in task.work]


def _unsent(task: Task) -> list[Delivery]:
    """What was sent is not sent again; if all of it was, the owner wants it all once more."""
    whole = [each for each in task.delivery if each.part == 0]
    left = [each for each in whole if not _is_out(each, task)]
    return [Delivery(each.channel, each.recipient, each.content) for each in left or whole]


def _context(task: Task) -> JsonMap:
    """What the new task is told of the old one: which deliveries it leaves out, and why."""
    kept = {name: said for name, said in task.context.items() if name != LEFT_OUT}
    whole = [each for each in task.delivery if each.part == 0]
    out = [each for each in whole if _is_out(each, task)]
    if not out or len(out) == len(whole):
        return kept
    return {**kept, LEFT_OUT: [f"{each.channel} to {each.recipient or 'you'}" for each in out]}


def _is_out(delivery: Delivery, task: Task) -> bool:
    """Whether all of it was sent: a long text is, when each of its parts is."""
    parts = [each for each in task.delivery if str(each.id).partition(".")[0] == delivery.id]
    return all(each.status is DeliveryStatus.SENT for each in parts or (delivery,))
