"""What comes back: the next occurrence of a series is put in as soon as the one before it is due.

So there is always one that can be seen, moved to another time or cancelled. What falls due while
Remit is not running is not run in a burst: the latest slot is run once, and those before it are
written down as skipped. The same goes for an occurrence that has not even begun when the next one
is due.
"""

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal

from remit.errors import BadInput, StoreTrouble
from remit.model import rrule
from remit.model.codec import from_json, stamp
from remit.model.ids import Ids
from remit.model.series import Series
from remit.model.task import Source, Task
from remit.ports import Clock
from remit.store import series, slots
from remit.store.database import Database
from remit.store.slots import Skipped, Step

LONGEST_NAP: Final = 30.0  # so late may a clock be noticed that was set, or a machine that slept
_NEWS_PAUSE: Final = 1.0
_TROUBLE_PAUSE: Final = 1.0
_PAGE: Final = 100


class Repeater:
    def __init__(self, db: Database, clock: Clock, ids: Ids) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._watch: asyncio.Task[None] | None = None
        self._due: datetime | None = None  # when a series is due next, as far as was looked
        self._news = asyncio.Event()  # something was written since the last look
        db.on_commit(lambda _: self._news.set())

    async def start(self) -> None:
        """Catch up, then watch. To be called before the engine starts, which runs what is due."""
        await self.catch_up()
        self._watch = asyncio.create_task(self._watching())

    async def stop(self) -> None:
        """Put in nothing more."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.cancel()
            await asyncio.wait((watch,))

    async def catch_up(self) -> datetime | None:
        """Put in every occurrence that must be there by now; say when the next one must be."""
        self._news.clear()
        now = self._clock.now()
        while found := await self._db.read(series.due, now, _PAGE):
            for each in found:
                await self._advance(each, now)
        self._due = await self._db.read(series.soonest, now)
        return self._due

    async def _advance(self, each: Series, now: datetime) -> None:
        try:
            step = following(each, self._ids, now)
        except BadInput as bad:
            # One series that cannot be read any more must not keep the others waiting.
            await self._db.write(series.end, each.id, str(bad), now)
            return
        await self._db.write(slots.advance, each, step, now)

    async def _watching(self) -> None:
        while True:
            try:
                await self.catch_up()
            except StoreTrouble:
                await self._clock.sleep(_TROUBLE_PAUSE)
                continue
            await self._until_due()

    async def _until_due(self) -> None:
        """Wait till a series is due by the clock on the wall, or may be: idle is idle."""
        while self._due is None or self._due > self._clock.now():
            if self._news.is_set():
                # It may be a new series. The next occurrence of one need not be there at once, so
                # one look is enough for all that is written meanwhile.
                await self._clock.sleep(_NEWS_PAUSE)
                if self._news.is_set():
                    return
            await self._nap()

    async def _nap(self) -> None:
        waker = asyncio.create_task(self._news.wait())
        naps = {waker}
        if self._due is not None:
            left = (self._due - self._clock.now()).total_seconds()
            naps.add(asyncio.create_task(self._sleep(min(max(left, 0), LONGEST_NAP))))
        try:
            await asyncio.wait(naps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for nap in naps:
                nap.cancel()

    async def _sleep(self, seconds: float) -> Literal[True]:
        await self._clock.sleep(seconds)
        return True


def following(each: Series, ids: Ids, now: datetime) -> Step:
    """How a series goes on at a moment; the order of its slots is the only thing that counts."""
    missed: list[datetime] = []  # the first and the last that were passed over
    count, latest, coming = 0, each.last, None
    for slot in rrule.slots(each.repeats, each.last):
        if slot > now:
            coming = slot
            break
        if latest != each.last:
            count, missed = count + 1, [*missed[:1], latest]
        latest = slot
    wanted = [latest] if latest != each.last else []
    wanted += [coming] if coming else []
    made = tuple(occurrence(each, slot, ids, now) for slot in wanted)
    skipped = Skipped(missed[0], missed[-1], count) if missed else None
    return Step(latest, made, skipped, over=coming is None)


def occurrence(each: Series, slot: datetime, ids: Ids, now: datetime) -> Task:
    """The task for one slot, as the first one was wanted."""
    wanted = from_json(Task, each.template)
    return replace(
        wanted,
        id=ids.task(),
        source=Source(wanted.source.kind, f"{each.id}@{stamp(slot)}"),
        created_at=now,
        last_updated=now,
        delivery=tuple(replace(delivery, id=ids.delivery()) for delivery in wanted.delivery),
        slot=slot,
        scheduled_for=slot,
    )
