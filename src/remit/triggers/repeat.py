"""Plans the next occurrence of a series as soon as the one before is due.

So one is always visible and can be moved or cancelled. After a downtime only the latest missed slot
runs by default, and the earlier ones are recorded as missed. An occurrence that has not begun when
the next is due is replaced by it. The settings or the series can choose otherwise.
"""

import asyncio
import hashlib
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.errors import BadInput
from remit.model import rrule
from remit.model.ids import Ids, SeriesId
from remit.model.recurrence import ON_TIME, OnMissed, Overlap, Series, SlotFate
from remit.model.task import Task
from remit.ports import Clock
from remit.settings import ScheduleSettings
from remit.store import after_restore, occurrences, queue, series, slots
from remit.store import clock as wrong_clock
from remit.store.database import Database
from remit.store.slots import SeriesAdvance, SkippedSlots
from remit.system.background import Background, wait_until

LOOP: Final = "recurring tasks"
_LOG: Final = logging.getLogger("remit.schedule")
_NEWS_PAUSE: Final = 1.0
_PAGE: Final = 100
_INSTANT: Final = timedelta(milliseconds=1)
_PLAIN: Final = ScheduleSettings()


class Repeater:
    """Plans occurrences. `heed` interrupts a running task that shall end."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        ids: Ids,
        background: Background,
        rules: ScheduleSettings = _PLAIN,
        heed: Callable[[Task], None] | None = None,
    ) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._rules = rules
        self._heed = heed
        self._background = background
        self._watches = False
        self._restored: datetime | None = None  # when a backup was put in place
        self._seen: datetime | None = None  # what the clock said at the last look
        self._due: datetime | None = None  # when a series is due next, as far as was looked
        self._news = asyncio.Event()  # something was written since the last look
        self._looking = asyncio.Lock()  # the engine asks for a look beside the loop's own
        db.on_commit(lambda _: self._news.set())

    async def start(self) -> None:
        """Catch up, then watch. Call it before the engine starts, which runs what is due."""
        await self._db.write(slots.keep_rule, self._rules.overlap)
        self._restored = await self._db.read(after_restore.restored_at)
        if await self._db.read(wrong_clock.was_ahead, self._clock.now()):
            await self._put_right(self._clock.now())
        await self._miss_events()
        await self.catch_up()
        self._watches = True
        self._background.start(LOOP, self._watching)

    async def settle_missed(self) -> None:
        """Decide about what fell due while nobody looked, before the engine runs it."""
        if self._watches:
            await self._miss_events()
            await self.catch_up()

    async def stop(self) -> None:
        """Put in nothing more."""
        self._watches = False
        await self._background.stop(LOOP)

    async def catch_up(self) -> datetime | None:
        """Plan every occurrence that must exist by now; return when the next one must."""
        async with self._looking:  # two at once would put the same clock right twice
            return await self._catch_up()

    async def _catch_up(self) -> datetime | None:
        self._news.clear()
        now = self._clock.now()
        if self._went_back(now):
            await self._put_right(now)
        self._seen = now
        crowd, since = 0, await self._db.read(queue.due_moment, now)
        while found := await self._db.read(series.due, now, _PAGE):
            crowd += sum(now - each.last > ON_TIME for each in found)
            advanced = (self._advance(each, now, crowd=crowd > 1) for each in found)
            # Together, so that one flush serves all.
            for ended in await asyncio.gather(*advanced, return_exceptions=True):
                if isinstance(ended, BaseException):
                    raise ended
        self._due = await self._db.read(series.soonest, since)
        return self._due

    def _went_back(self, now: datetime) -> bool:
        """Whether the clock went back considerably since the last look."""
        return self._seen is not None and now < self._seen - wrong_clock.BOUND

    async def _put_right(self, now: datetime) -> None:
        """Replan everything after the clock was ahead and was corrected."""
        _LOG.warning("The clock was ahead and was put right; what waits for it is planned anew.")
        for ahead in await self._db.write(wrong_clock.put_right, now):
            made = [
                slots.again(slots.occurrence(ahead.series, slot, self._ids, now), now)
                for _, slot in ahead.gone
            ]
            await self._db.write(wrong_clock.rewind, ahead, made, now)
        self._restored = await self._db.read(after_restore.restored_at)

    async def _advance(self, each: Series, now: datetime, *, crowd: bool) -> None:
        hold = _spread(each.id, self._rules.stagger) if crowd else timedelta(0)
        try:
            step = following(each, self._ids, now, self._rules, hold, self._restored)
        except BadInput as bad:
            # One unreadable series must not delay the others.
            await self._db.write(series.end, each.id, str(bad), now)
            return
        await self._db.write(slots.advance, each, step, now)
        if step.overlap is Overlap.CANCEL_OTHER and self._heed is not None:
            for task in await self._db.read(slots.stopping, each.id):
                self._heed(task)

    async def _miss_events(self) -> None:
        """End calendar tasks whose time passed while nobody looked, if the rules say so.

        Later starts of the same event may have no task yet: the calendar watch gives them one.
        """
        now = self._clock.now()
        for each, planned in await self._db.read(occurrences.overdue, now - ON_TIME):
            later = await self._db.read(occurrences.due_later, each, now)
            if planned not in chosen(
                sorted([planned, *later]), now, self._rules.missed, self._rules
            ):
                await self._db.write(occurrences.skip, each, slots.ASLEEP, now)

    async def _watching(self) -> None:
        while True:
            await self.catch_up()
            await self._until_due()

    async def _until_due(self) -> None:
        """Wait until a series is due by the wall clock, or may be."""
        while self._due is None or self._due > self._clock.now():
            if self._went_back(self._clock.now()):
                return
            if self._news.is_set():
                # It may be a new series. Its next occurrence is not urgent, so one look covers
                # everything written meanwhile.
                await self._clock.sleep(_NEWS_PAUSE)
                if self._news.is_set():
                    return
            await wait_until(self._news, self._clock, self._due)


def following(
    each: Series,
    ids: Ids,
    now: datetime,
    rules: ScheduleSettings = _PLAIN,
    hold: timedelta = timedelta(0),
    restored_at: datetime | None = None,
) -> SeriesAdvance:
    """Return how a series advances at a moment; only the order of its slots counts.

    Overdue slots do not begin before `hold` has passed, because others are overdue too. Of the
    slots due before a restore the latest is planned, and asked about.
    """
    missed, overlap = each.missed or rules.missed, each.overlap or rules.overlap
    found = _due_slots(each, now, rules.most)
    latest = found.due[-1] if found.due else each.last
    absent, runs = now - each.last > ON_TIME, _is_run(missed, now - latest, rules)
    wanted = chosen(found.due, now, missed, rules, restored_at)
    asks = bool(wanted) and restored_at is not None and wanted[0] <= restored_at
    held = now + hold if absent and hold else None
    made = [slots.occurrence(each, slot, ids, now, planned=held) for slot in wanted]
    if found.coming:
        planned = found.coming + _jitter(each.id, found, rules)
        made.append(slots.occurrence(each, found.coming, ids, now, planned=planned))
    waits = missed is OnMissed.RUN_ALL if absent else overlap in (Overlap.QUEUE_ALL, Overlap.SKIP)
    return SeriesAdvance(
        latest,
        tuple(made),
        found.passed(len(wanted), slots.BEFORE_RESTORE if asks else slots.ASLEEP),
        over=found.coming is None,
        before=latest if runs else latest + _INSTANT,
        keeps=max(rules.most, 1) - 1 if waits and not asks else 0,  # plus the latest
        missed=absent,
        overlap=overlap,
        held=held if runs else None,
        asks=asks,
    )


class _DueSlots(Struct, frozen=True):
    """The slots of a series since its last one, and the next."""

    first: datetime | None  # the first of all that came
    count: int
    due: tuple[datetime, ...]  # the latest of them
    coming: datetime | None
    later: Iterator[datetime]

    def passed(self, wanted: int, why: str) -> SkippedSlots | None:
        """Return the slots before the wanted ones."""
        if self.first is None or self.count == wanted:
            return None
        last = self.due[len(self.due) - wanted - 1]
        return SkippedSlots(self.first, last, self.count - wanted, why, SlotFate.MISSED)


def _due_slots(each: Series, now: datetime, most: int) -> _DueSlots:
    later = (at for at in rrule.slots(each.repeats, each.last) if at not in each.skips)
    due, count, first = deque[datetime](maxlen=max(most, 1) + 1), 0, None
    for slot in later:
        if slot > now:
            return _DueSlots(first, count, tuple(due), slot, later)
        due.append(slot)
        count, first = count + 1, first or slot
    return _DueSlots(first, count, tuple(due), None, later)


def chosen(
    due: Sequence[datetime],
    now: datetime,
    missed: OnMissed,
    rules: ScheduleSettings,
    restored_at: datetime | None = None,
) -> list[datetime]:
    """Return which due slots run; the others are missed.

    Of those before a restore only the last runs: the owner is asked once about all.
    """
    if not due or not _is_run(missed, now - due[-1], rules):
        return []
    wanted = list(due[-max(rules.most, 1) if missed is OnMissed.RUN_ALL else -1 :])
    before = sum(restored_at is not None and slot <= restored_at for slot in wanted)
    return wanted[max(before - 1, 0) :]


def _is_run(missed: OnMissed, age: timedelta, rules: ScheduleSettings) -> bool:
    """Whether the latest due slot runs, at its age."""
    if age <= ON_TIME or missed is OnMissed.RUN_ALL:
        return True
    return missed is OnMissed.RUN_ONCE and age <= timedelta(hours=rules.catch_up)


def _jitter(series_id: SeriesId, found: _DueSlots, rules: ScheduleSettings) -> timedelta:
    """Return how long after its slot an occurrence begins: constant, and never near the next."""
    if not rules.jitter or found.coming is None:
        return timedelta(0)
    following = next(found.later, None)
    shift = _spread(series_id, rules.jitter)
    return shift if following is None else min(shift, (following - found.coming) / 4)


def _spread(series_id: SeriesId, seconds: int) -> timedelta:
    """Return a share of a span that is specific to a series."""
    digest = hashlib.sha256(series_id.encode()).digest()
    thousandths = int.from_bytes(digest[:4]) % 1000
    return timedelta(milliseconds=seconds * thousandths)
