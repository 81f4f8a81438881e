"""Follows the journal and updates the index, in the background.

The store is written first, then the rows in the database; a crash in between only repeats the work.
New tasks are indexed in small batches, then old ones, the newest first, on a thread of low
priority.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias, cast

from msgspec import Struct, field
from msgspec.structs import replace

from remit.errors import StepFailed, StoreTrouble
from remit.journal.follow import Journal
from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.model.likeness import IndexedTask
from remit.model.run import Event, EventKind
from remit.model.status import TERMINAL
from remit.model.task import Task
from remit.ports import Clock, SnippetStore
from remit.recall import snippets
from remit.recall.library import RecallLibrary
from remit.store import events, recall
from remit.store.database import Database
from remit.store.recall import IndexedDigest

# Given tasks that have just come in, each with its vector.
Arrived: TypeAlias = Callable[[Sequence[tuple[Task, Sequence[float]]]], Awaitable[None]]

HANDFUL: Final = 32
PAUSE: Final = 1.0  # seconds after which what is new is read: by then several are
RETRY: Final = 60.0  # seconds until it is tried again when something was wrong
FAR: Final = 2_000  # events that may be looked at again after a cut
TIDY_EVERY: Final = timedelta(minutes=1)
_REST: Final = 100  # times as long as tidying took, it is left alone then
_PAGE: Final = 2_000  # events: a task that began and ended among them is read once
_LOG: Final = logging.getLogger("remit.recall")


class _Place(Struct):
    """How far the indexer has come."""

    since: int  # the last event that was looked at
    kept: int  # the same, on the disk
    below: int | None = None  # tasks with a lower number may lack in the index; 0: none does


class _Changes(Struct):
    """Changes to the store, and the rows to write after them."""

    texts: list[tuple[Task, str]] = field(default_factory=list)
    marks: list[tuple[TaskId, str]] = field(default_factory=list)
    gone: list[TaskId] = field(default_factory=list)
    read: list[IndexedDigest] = field(default_factory=list)
    payloads: dict[TaskId, JsonMap] = field(default_factory=dict)  # without the texts


class Indexer:
    def __init__(
        self,
        db: Database,
        clock: Clock,
        journal: Journal,
        library: RecallLibrary,
        hide: Callable[[str], str],
        arrived: Arrived,
    ) -> None:
        self._db = db
        self._clock = clock
        self._journal = journal
        self._library = library
        self._hide = hide
        self._arrived = arrived
        self._news = asyncio.Event()
        self._untidy = False
        self._tidy_at: datetime | None = None  # not before
        db.on_commit(lambda _: self._news.set())

    async def run(self) -> None:
        """Update the index for ever; an error is logged, and tried again later."""
        while True:
            try:
                await self._wait_for_work()
                await self._library.open()
                await self._follow(await self._begin())
            except (StoreTrouble, StepFailed) as error:
                _LOG.warning("%s It is tried again in %g s; all else goes on.", error, RETRY)
                self._library.fail(error)
                await self._library.close()
                await self._clock.sleep(RETRY)

    async def catch_up(self, report_progress: Callable[[], Awaitable[None]]) -> None:
        """Index everything that is missing now; `report_progress` is called after each batch."""
        await self._library.open()
        place = await self._begin()
        while await self._index_batch(place):
            await report_progress()
        await self.tidy()

    async def tidy(self) -> None:
        """Remove dropped entries from the disk."""
        if self._untidy:
            begun = self._clock.now()
            await self._library.do(lambda store: store.tidy())
            self._untidy, now = False, self._clock.now()
            self._tidy_at = now + max(TIDY_EVERY, _REST * (now - begun))

    async def _wait_for_work(self) -> None:
        """Wait for an event that is not indexed yet, so that an idle Remit loads nothing."""
        while True:
            self._news.clear()
            upto, last = await self._db.read(recall.upto), await self._db.read(events.last)
            if last > (upto or 0):
                break
            await self._news.wait()
        await self._clock.sleep(PAUSE)

    async def _begin(self) -> _Place:
        upto = await self._db.read(recall.upto)
        if upto is None:
            upto = await self._db.read(events.last)
            await self._db.write(recall.keep, (), (), upto)
        return _Place(upto, upto)

    async def _follow(self, place: _Place) -> None:
        while True:
            self._news.clear()
            if await self._index_batch(place):
                continue
            if self._tidy_at is None or self._clock.now() >= self._tidy_at:
                await self.tidy()
            await self._news.wait()
            await self._journal.gather(PAUSE, self._clock.sleep)

    async def _index_batch(self, place: _Place) -> bool:
        """Index one batch: new events first, then old tasks; return False if there is none."""
        page = await self._journal.page(place.since, _PAGE)
        if page:
            await self._index_page(page, place)
        elif place.below != 0:
            missing, place.below = await self._db.read(recall.unread, place.below, HANDFUL)
            await self._index(missing, ())
            self._untidy = self._untidy or not missing
        return bool(page) or place.below != 0

    async def _index_page(self, page: Sequence[Event], place: _Place) -> None:
        if any(event.kind is EventKind.STORE_RESTORED for event in page):
            # Another past is in place: what was read of the one that is gone counts no more.
            await self._db.write(recall.forget)
            await self._library.close()
            await self._library.open()
            place.below = None
        touched = _changed_tasks(page)
        fresh = {event.task_id for event in page if event.kind is EventKind.TASK_CREATED}
        for start in range(0, len(touched), HANDFUL):
            await self._index(touched[start : start + HANDFUL], fresh)
        place.since = page[-1].seq
        if touched or place.since - place.kept >= FAR:
            await self._db.write(recall.keep, (), (), place.since)
            place.kept = place.since

    async def _index(self, some: Sequence[TaskId], fresh: Collection[TaskId | None]) -> None:
        found = await self._db.read(recall.look, some) if some else []
        changes = _Changes()
        for task, read in found:
            self._compare(task, read, changes)
        vectors = await self._library.embed([text for _, text in changes.texts])
        points = [
            IndexedTask(task.id, vector, {**changes.payloads[task.id], "text": text})
            for (task, text), vector in zip(changes.texts, vectors, strict=True)
        ]
        if changes.read or changes.gone:
            await self._library.do(lambda store: _apply(store, points, changes))
            await self._keep(points, changes)
            self._untidy = self._untidy or bool(changes.gone)
        pairs = zip(changes.texts, vectors, strict=True)
        if arrived := [(task, vector) for (task, _), vector in pairs if task.id in fresh]:
            await self._arrived(arrived)

    async def _keep(self, points: Sequence[IndexedTask], changes: _Changes) -> None:
        """Write the rows of what the store holds now."""
        read = changes.read
        if self._library.keeps_vectors:
            vectors = {each.task_id: cast("bytes", each.vector) for each in points}
            # When such a store is opened, what is beside a vector comes from the row of the task.
            new = (each for each in read if each.task_id in vectors)
            read = [replace(each, vector=vectors[each.task_id]) for each in new]
        if read or changes.gone:
            await self._db.write(recall.keep, read, changes.gone, None)

    def _compare(self, task: Task, read: IndexedDigest | None, changes: _Changes) -> None:
        """Note how the index differs from a task."""
        if task.deleted_at is not None:
            if read is not None:
                changes.gone.append(task.id)
            return
        text, payload = snippets.words(task, self._hide), snippets.index_payload(task)
        now = IndexedDigest(task.id, snippets.digest(text), snippets.digest_of(payload))
        if read == now:
            return
        changes.read.append(now)
        changes.payloads[task.id] = payload
        if read is None or read.words != now.words:
            changes.texts.append((task, text))
        else:
            changes.marks.append((task.id, text))


def _apply(store: SnippetStore, points: Sequence[IndexedTask], changes: _Changes) -> None:
    if points:
        store.put(points)
    for task_id, text in changes.marks:
        store.mark(task_id, {**changes.payloads[task_id], "text": text})
    if changes.gone:
        store.drop(changes.gone)


def _changed_tasks(page: Sequence[Event]) -> list[TaskId]:
    """Return the tasks whose words or end the index may not know yet."""
    task_ids = (event.task_id for event in page if _tells(event))
    return list(dict.fromkeys(task_id for task_id in task_ids if task_id is not None))


def _tells(event: Event) -> bool:
    if event.kind is EventKind.TASK_MOVED:
        return event.data["to"] in TERMINAL
    return event.kind in (EventKind.TASK_CREATED, EventKind.TASK_UPDATED)
