"""The journal as a stream: everything since a place, then new events."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from remit.model.event import Event
from remit.model.ids import TaskId
from remit.store import events
from remit.store.database import Database

PAGE: Final = 500


class Journal:
    """Feeds every follower: sockets, webhooks, logs, the terminal."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._news = asyncio.Event()
        self._ended = False
        db.on_commit(self._ring)

    async def follow(self, since: int, *, ends: bool = False) -> AsyncIterator[Event]:
        """Yield every event after `since`, in order, without a gap.

        With `ends`, the iteration stops after `end` was called and everything was yielded.
        """
        async for page in self.pages(since, ends=ends):
            for event in page:
                yield event

    async def pages(self, since: int, *, ends: bool = False) -> AsyncIterator[list[Event]]:
        """Yield the same events in batches, as many as there are."""
        while True:
            news, over = self._news, ends and self._ended
            found = await self._db.read(events.after, since, PAGE)
            if found:
                since = found[-1].seq
                yield found
            elif over:
                return
            else:
                await news.wait()

    def end(self) -> None:
        """Mark the end: followers with `ends` stop after the last event."""
        self._ended = True
        self._ring(0)

    async def of_task(self, task_id: TaskId, n: int = 0) -> list[Event]:
        return await self._db.read(events.of_task, task_id, n)

    async def last(self) -> int:
        return await self._db.read(events.last)

    def _ring(self, _: int) -> None:
        # A new Event each time: a reader from before this commit holds the old one and wakes.
        self._news.set()
        self._news = asyncio.Event()
