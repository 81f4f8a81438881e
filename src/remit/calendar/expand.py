"""Expands calendar resources in a thread, one at a time, with a time limit.

A failure concerns one resource only; the others continue.
"""

import asyncio
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, time, timedelta
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from remit.calendar import occur, resource_facts
from remit.calendar.expansion import (
    IDLE,
    CalendarLimits,
    CalendarSlot,
    Expansion,
    TimeWindow,
)
from remit.calendar.organizer import organizer
from remit.language import outside_text
from remit.model.task import Taint
from remit.store.calendars import StoredResource
from remit.store.occurrences import ReadResource, StoredOccurrence

Knows: TypeAlias = Callable[[str], bool]  # whether an address belongs to a contact

SECONDS: Final = 5.0
HORIZON: Final = timedelta(days=35)
_BACK: Final = timedelta(days=1)
_FARTHEST: Final = timedelta(days=90)  # the longest downtime that is caught up
_SEVERAL: Final = "It holds more than one event; a calendar keeps each in a file of its own."


class CalendarReader(Struct, frozen=True):
    """Reads calendars for the owner: zone, hour for whole days, own addresses."""

    zone: ZoneInfo
    all_day_at: time = occur.MORNING
    mine: Collection[str] = ()
    knows: Knows = lambda _: False
    limits: CalendarLimits = occur.DEFAULT
    seconds: float = SECONDS

    async def read(
        self, resource: StoredResource, *, trusted: bool, fresh: datetime, now: datetime
    ) -> ReadResource:
        """Return the starts of a resource from the recent past up to the horizon."""
        since = max(min(fresh, now - _BACK), now - _FARTHEST)
        window = TimeWindow(since, now + HORIZON)
        found = await self._expanded(resource.body, window)
        why = found if isinstance(found, str) else _objection(found, resource.uid)
        if why is not None or isinstance(found, str):
            # Known only up to now, so that it is tried again at the next roll.
            title = outside_text.title(resource_facts.value(resource.body, "SUMMARY"))
            refused = replace(_with(resource, now, why), title=title)
            return ReadResource(refused, (), frozenset(), since, fresh)
        taint = self._taint(resource.body, trusted=trusted)
        starts = tuple(_occurrence(slot, taint) for slot in found.slots)
        idle = frozenset(slot.key for slot in found.slots if slot.flags & IDLE)
        # Of a change that was refused the owner is told; the rest starts.
        told = next((each.why for each in found.refused), None)
        return ReadResource(_with(resource, window.until, told), starts, idle, since, fresh)

    async def _expanded(self, body: str, window: TimeWindow) -> Expansion | str:
        if resource_facts.is_ours(body):
            return Expansion((), ())
        # Not a pool: a stuck thread must not delay the next one.
        thread = ThreadPoolExecutor(1, "remit-calendar")
        work = asyncio.get_running_loop().run_in_executor(thread, self._slots, body, window)
        try:
            async with asyncio.timeout(self.seconds):
                return await work
        except TimeoutError:
            return f"It could not be worked out within {self.seconds:g} s when it falls."
        except Exception as error:  # noqa: BLE001 - one event must not stop the others
            return f"It cannot be read ({type(error).__name__})."
        finally:
            thread.shutdown(wait=False)

    def _slots(self, body: str, window: TimeWindow) -> Expansion:
        raw = body.encode("utf-8", "replace")
        return occur.slots(raw, window, self.zone, self.limits, all_day_at=self.all_day_at)

    def _taint(self, body: str, *, trusted: bool) -> Taint:
        """Return OWNER if the calendar is the owner's and nobody else organises the event."""
        address = organizer(body)
        if address is None:
            return Taint.PUBLIC
        if address and address not in {each.lower() for each in self.mine}:
            return Taint.CONTACT if self.knows(address) else Taint.PUBLIC
        return Taint.OWNER if trusted else Taint.PUBLIC


def _objection(found: Expansion, uid: str) -> str | None:
    for refusal in found.refused:
        if not refusal.one_change:
            return refusal.why
    return None if all(slot.uid == uid for slot in found.slots) else _SEVERAL


def _with(resource: StoredResource, until: datetime, why: str | None) -> StoredResource:
    return replace(resource, until=until, why=why)


def _occurrence(slot: CalendarSlot, taint: Taint) -> StoredOccurrence:
    return StoredOccurrence(
        uid=slot.uid,
        key=slot.key,
        start=slot.start,
        title=outside_text.title(slot.summary),
        text=outside_text.clean(slot.description),
        taint=taint,
    )
