"""Writes tasks into the to-do list that phones show. The list is never read back as work.

If somebody ticks an item, the task's log notes it and the box is set back: a task is done when its
contract is met. An item that somebody deletes is not written again.
"""

import hashlib
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from remit.calendar import entry, ics
from remit.calendar.client import CalDavClient, CalendarLocation, ResourceGone, WriteConflict
from remit.errors import NotFound, StepFailed
from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.model.task import Task
from remit.ports import Clock
from remit.store import calendars, events, tasks
from remit.store.calendars import TodoCopy
from remit.store.database import Database, Tx
from remit.system.background import Background, LoopGroup

LOOP: Final = "calendar task list"
PAUSE: Final = 5.0  # seconds between two looks at the journal
_KEPT: Final = timedelta(days=30)  # tasks that ended earlier are not added
OLDEST: Final = timedelta(days=90)  # tasks that ended earlier are removed
_A_DAY: Final = timedelta(days=1)
_PAGE: Final = 1_000
_EVENTS: Final = 300  # read at once
_MAX_WRITTEN: Final = 30  # tasks in one round: in a flood only the list falls behind
_TRIES: Final = 3
_CHANGED: Final = "changed in the calendar, which changes nothing"
_MAX_SEQUENCE: Final = 2_000_000_000  # clients store it in 32 bits


class TodoSync(LoopGroup):
    """Keeps one list of a calendar server in sync with the tasks."""

    def __init__(
        self, place: CalendarLocation, path: str, db: Database, clock: Clock, background: Background
    ) -> None:
        super().__init__(background, {LOOP: self._write_on})
        self._dav = CalDavClient(place)
        self._path = path
        self._db = db
        self._clock = clock
        self._token = ""
        self._tidied: datetime | None = None

    async def close(self) -> None:
        await super().close()
        await self._dav.close()

    async def _write_on(self) -> None:
        while True:
            try:
                await self.write()
                await self.look()
                await self.tidy()
            except StepFailed:
                pass  # the server is away: retry later
            await self._clock.sleep(PAUSE)

    async def write(self) -> int:
        """Write the tasks that changed since the last time, many at most; return how many."""
        written = 0
        while written < _MAX_WRITTEN:
            since = await self._db.read(calendars.mark)
            moved = await self._db.read(_tasks_changed_since, since)
            if moved is None:
                break
            upto, ids = moved
            for task_id in ids:
                written += await self._write_task(task_id)
            await self._db.write(calendars.mark_at, upto)
        return written

    async def look(self) -> int:
        """Journal what others changed in the list, and restore it; return how many."""
        first = not self._token
        changes = await self._dav.changes(self._path, self._token)
        changed = 0
        for path, etag in changes.etags.items():
            copy = await self._db.read(_copy_at, path)
            if copy is None or copy.etag == etag:
                continue
            changed += 1
            await self._set_right(copy)
        for path in changes.gone if not first else ():
            copy = await self._db.read(_copy_at, path)
            if copy is not None and copy.etag:
                await self._db.write(calendars.put_todo, TodoCopy(copy.task_id, "", copy.digest))
        self._token = changes.token
        return changed

    async def tidy(self) -> int:
        """Once a day, remove tasks that ended long ago."""
        now = self._clock.now()
        if self._tidied is not None and self._tidied <= now < self._tidied + _A_DAY:
            return 0
        old = await self._db.read(calendars.ended_before, now - OLDEST, _PAGE)
        for copy in old:
            await self._take_out(copy)
        if len(old) < _PAGE:
            self._tidied = now
        return len(old)

    async def _set_right(self, copy: TodoCopy) -> None:
        """Overwrite what somebody changed with the task's state, so that their clients notice."""
        with suppress(ResourceGone):
            found = await self._dav.get(self._href(copy.task_id))
            stands = entry.value(found.body, "STATUS")
            task = await self._db.read(tasks.get, copy.task_id)
            ticked = stands != ics.status(task)
            what = "ticked in the calendar, which changes nothing" if ticked else _CHANGED
            details: JsonMap = {"what": what, "status": stands[:20]}
            await self._db.write(calendars.note_todo, task.id, details, self._clock.now())
            # The note is the task's last change now, so the to-do is newer than what they wrote.
            task = await self._db.read(tasks.get, copy.task_id)
            # An empty digest: it is written in any case.
            await self._put(
                task, TodoCopy(copy.task_id, found.etag, ""), above=_sequence(found.body)
            )

    async def _write_task(self, task_id: TaskId) -> bool:
        try:
            task = await self._db.read(tasks.get, task_id)
        except NotFound:
            return False
        copy = await self._db.read(calendars.todo_of, task_id)
        if copy is None and (task.ended and self._clock.now() - task.last_updated > _KEPT):
            return False
        if copy is not None and not copy.etag:
            return False
        if task.deleted_at is not None:
            return await self._take_out(copy)
        return await self._put(task, copy)

    async def _put(self, task: Task, copy: TodoCopy | None, *, above: int = -1) -> bool:
        body, plain = ics.todo(task, above=above), ics.todo(task)
        digest = hashlib.sha256(plain.encode()).hexdigest()
        if copy is not None and copy.digest == digest:
            return False
        etag = copy.etag if copy is not None else None
        for _ in range(_TRIES):
            try:
                etag = await self._dav.put(self._href(task.id), body, etag)
            except (WriteConflict, ResourceGone):
                etag = await self._current_etag(task.id)
                if etag is None and copy is not None:
                    break  # somebody deleted it
            else:
                await self._db.write(calendars.put_todo, TodoCopy(task.id, etag, digest))
                return True
        await self._db.write(calendars.put_todo, TodoCopy(task.id, "", digest))
        return False

    async def _current_etag(self, task_id: TaskId) -> str | None:
        """Return its current etag; None if it does not exist."""
        try:
            return (await self._dav.get(self._href(task_id))).etag
        except ResourceGone:
            return None

    async def _take_out(self, copy: TodoCopy | None) -> bool:
        if copy is None:
            return False
        with suppress(ResourceGone, WriteConflict):
            await self._dav.delete(self._href(copy.task_id), "")
        await self._db.write(calendars.put_todo, TodoCopy(copy.task_id, "", ""))
        return True

    def _href(self, task_id: TaskId) -> str:
        return f"{self._path}{task_id}.ics"


def _sequence(body: str) -> int:
    """Return the SEQUENCE of a to-do; 0 if it is no sensible number."""
    text = entry.value(body, "SEQUENCE")
    return min(int(text), _MAX_SEQUENCE) if text.isdecimal() and text.isascii() else 0


def _copy_at(tx: Tx, path: str) -> TodoCopy | None:
    """Return what was written at a path; None if no task of ours is there."""
    name = path.rpartition("/")[2]
    ours = name.startswith("task-") and name.endswith(".ics")
    return calendars.todo_of(tx, TaskId(name.removesuffix(".ics"))) if ours else None


def _tasks_changed_since(tx: Tx, since: int) -> tuple[int, list[TaskId]] | None:
    """Return the tasks the journal mentions after a place, and the new place."""
    found = events.list_after(tx, since, _EVENTS)
    if not found:
        return None
    once = dict.fromkeys(each.task_id for each in found if each.task_id is not None)
    return found[-1].seq, list(once)
