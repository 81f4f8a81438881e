"""Watches calendars: rereads what changed and creates one task for each due start.

Each account is polled for changes. A start gets its task a day ahead, so that the owner can see and
move it; the task follows its event until it begins. After a downtime only the latest missed start
of each event runs by default, and the earlier ones are recorded as skipped. The settings can choose
otherwise.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct

from remit.calendar import client, entry
from remit.calendar.client import CalDavClient, CalendarLocation, ResourceGone
from remit.calendar.entry import cue_of
from remit.calendar.expand import HORIZON, CalendarReader
from remit.errors import BadInput, StepFailed
from remit.language import outside_text
from remit.model.ids import Ids
from remit.model.recurrence import OnMissed
from remit.model.task import Cue, Task
from remit.ports import Clock
from remit.settings import ScheduleSettings
from remit.store import after_restore, calendars, occurrences, slots
from remit.store.calendars import StoredCalendar, StoredResource
from remit.store.database import Database
from remit.store.occurrences import ReadResource, Speaks, StoredOccurrence, says_nothing
from remit.system.background import LONGEST_NAP_SECONDS, Background
from remit.triggers import repeat

T = TypeVar("T")
Admit: TypeAlias = Callable[[Cue], Awaitable[Task]]
Marked: TypeAlias = Callable[[client.RemoteCalendar], bool]

LOOP: Final = "calendars"
_LOG: Final = logging.getLogger("remit.calendar")
GRACE: Final = timedelta(minutes=15)  # what was written shortly after its time still starts
LEAD: Final = timedelta(days=1)  # so long before its time a start has its task
KEPT: Final = timedelta(days=91)  # a start that was dropped; no look goes back as far as that
_REDISCOVER: Final = timedelta(minutes=15)
_ROLL: Final = timedelta(hours=1)
_PAGE: Final = 200  # resources read and written together
_PLAIN: Final = ScheduleSettings()


class CalendarAccount(Struct, frozen=True):
    """A server, which of its calendars start work, and whether they hold the owner's words."""

    place: CalendarLocation
    marked: Marked
    trusted: bool = False
    poll: int = 60

    @property
    def name(self) -> str:
        return self.place.name


class AccountState:
    """One account, and what is remembered between two looks."""

    def __init__(self, account: CalendarAccount) -> None:
        self.account = account
        self.dav = CalDavClient(account.place)
        self.found: tuple[client.RemoteCalendar, ...] = ()
        self.looked: datetime | None = None
        self.discovered: datetime | None = None
        self.why: str | None = None  # why it could not be asked


class CalendarWatch:
    def __init__(
        self,
        accounts: Sequence[CalendarAccount],
        db: Database,
        clock: Clock,
        ids: Ids,
        plugs: "CalendarWatchPorts",
    ) -> None:
        self._lines = [AccountState(account) for account in accounts]
        self._db = db
        self._clock = clock
        self._ids = ids
        self._plugs = plugs
        self._accounts = plugs.configured | {line.account.name for line in self._lines}
        self._rolled: datetime | None = None
        self._started = False
        self._turn = asyncio.Lock()  # one look at a time

    def start(self) -> None:
        if self._lines:
            self._started = True
            self._plugs.background.start(LOOP, self._watch_on)

    async def close(self) -> None:
        """Stop looking, and close the connections."""
        if self._started:
            await self._plugs.background.stop(LOOP)
        for line in self._lines:
            await line.dav.close()

    async def look(self) -> dict[str, str | None]:
        """Ask every account now; return the error of each."""
        async with self._turn:
            for line in self._lines:
                await self._look(line)
            await self._roll()
            await self._give()
            return {line.account.name: line.why for line in self._lines}

    async def give(self) -> datetime | None:
        """Give every due start its task; return when the next one is due."""
        async with self._turn:
            await self._roll()
            return await self._give()

    # The loop -----------------------------------------------------------------------------------

    async def _watch_on(self) -> None:
        while True:
            async with self._turn:
                due = [
                    line
                    for line in self._lines
                    if self._is_due(line.looked, timedelta(seconds=line.account.poll))
                ]
                # A failure in one part does not stop the others.
                looked = [await _attempt(self._look(line)) for line in due]
                rolled, soon = await _attempt(self._roll()), await _attempt(self._give())
            for found in (*looked, rolled, soon):
                if isinstance(found, Exception):
                    raise found
            await self._clock.sleep(self._nap(soon if isinstance(soon, datetime) else None))

    def _nap(self, soon: datetime | None) -> float:
        shortest = min(line.account.poll for line in self._lines)
        until = (soon - self._clock.now()).total_seconds() if soon else LONGEST_NAP_SECONDS
        return max(1.0, min(until, shortest, LONGEST_NAP_SECONDS))

    def _is_due(self, last: datetime | None, every: timedelta) -> bool:
        """Whether it is time again; a clock that went back counts as yes."""
        now = self._clock.now()
        return last is None or not last <= now < last + every

    # One account --------------------------------------------------------------------------------

    async def _look(self, line: AccountState) -> None:
        line.looked = self._clock.now()
        try:
            await self._discover(line)
            await self._read_all(line)
            line.why = None
        except StepFailed as error:
            line.why = str(error)
            for each in await self._stored_calendars(line):
                await self._db.write(calendars.store_failure, each.account, each.path, line.why)

    async def _stored_calendars(self, line: AccountState) -> list[StoredCalendar]:
        found = await self._db.read(calendars.list_calendars)
        return [each for each in found if each.account == line.account.name]

    async def _discover(self, line: AccountState) -> None:
        if not self._is_due(line.discovered, _REDISCOVER):
            return
        line.found = tuple(await line.dav.calendars())
        line.discovered = self._clock.now()

    async def _read_all(self, line: AccountState) -> None:
        for found in line.found:
            noted = StoredCalendar(
                line.account.name,
                found.path,
                outside_text.title(found.name),
                marked=line.account.marked(found),
                trusted=line.account.trusted,
            )
            await self._db.write(calendars.note, noted)
        there = {found.path for found in line.found}
        for each in await self._stored_calendars(line):
            if each.path not in there or not each.marked:
                await self._leave(each)
                continue
            try:
                await self._read(line, each)
            except ResourceGone:
                line.discovered = None
                await self._leave(each)

    async def _leave(self, calendar: StoredCalendar) -> None:
        """Drop all starts of a calendar and its token, which would hide what comes back."""
        if not calendar.resources and not calendar.token:
            return
        held = await self._db.read(calendars.etags, calendar.account, calendar.path)
        for path in held:
            await self._forget(calendar, path)
        why = "it is not marked any more" if calendar.marked is False else "it is gone"
        await self._db.write(calendars.forget_calendar, calendar.account, calendar.path, why)

    async def _read(self, line: AccountState, calendar: StoredCalendar) -> None:
        """Read what changed. The token is stored last, so an interrupted read is repeated."""
        asked_at = self._clock.now()
        fresh = asked_at if calendar.looked is None else calendar.looked - GRACE
        changes = await line.dav.changes(calendar.path, calendar.token)
        held = await self._db.read(calendars.etags, calendar.account, calendar.path)
        changed = [path for path, etag in changes.etags.items() if held.get(path) != etag]
        gone = set(held) - set(changes.etags) if changes.whole else changes.gone & set(held)
        for start in range(0, len(changed), _PAGE):
            gone |= await self._take(line, calendar, changed[start : start + _PAGE], fresh)
        for path in sorted(gone):
            await self._forget(calendar, path)
        await self._db.write(
            calendars.store_sync_token, calendar.account, calendar.path, changes.token, asked_at
        )

    async def _take(
        self, line: AccountState, calendar: StoredCalendar, paths: list[str], fresh: datetime
    ) -> set[str]:
        """Read some resources again; return those that are gone."""
        fetched = {each.path: each for each in await line.dav.fetch(calendar.path, paths)}
        before = await self._db.read(calendars.uids, calendar.account, calendar.path)
        gone: set[str] = set()
        reads: list[ReadResource] = []
        for path in paths:
            found = fetched.get(path) or await _fetch_single(line.dav, path)
            if found is None:
                gone.add(path)
                continue
            resource = StoredResource(
                *(calendar.account, calendar.path, found.path, found.etag),
                *(entry.uid(found.body), found.body, self._clock.now()),
            )
            if before.get(path, resource.uid) != resource.uid:
                await self._forget(calendar, path)  # another event uses its path now
            reads.append(await self._reread(resource, calendar, fresh))
        speaks = self._plugs.speaks()
        await self._db.write(occurrences.follow_all, reads, self._clock.now(), speaks)
        return gone

    async def _reread(
        self, resource: StoredResource, calendar: StoredCalendar, fresh: datetime
    ) -> ReadResource:
        now = self._clock.now()
        return await self._plugs.reader.read(
            resource, trusted=calendar.trusted, fresh=fresh, now=now
        )

    async def _forget(self, calendar: StoredCalendar, path: str) -> None:
        held = await self._db.read(calendars.get, calendar.account, calendar.path, path)
        if held is None:
            return
        heir = await self._db.write(occurrences.forget, held, self._clock.now())
        if heir is not None:
            await self._expand_again(heir)

    async def _expand_again(self, resource: StoredResource) -> None:
        """Expand a stored resource again: it counts now, or its starts end too early."""
        known = await self._db.read(calendars.list_calendars)
        home = {(each.account, each.path): each for each in known}
        calendar = home[resource.account, resource.calendar]
        fresh = self._clock.now() if calendar.looked is None else calendar.looked - GRACE
        read = await self._reread(resource, calendar, fresh)
        speaks = self._plugs.speaks()
        await self._db.write(occurrences.follow, read, self._clock.now(), speaks)

    # Time goes on -------------------------------------------------------------------------------

    async def _roll(self) -> None:
        """Expand everything up to the horizon, from time to time."""
        if not self._is_due(self._rolled, _ROLL):
            return
        self._rolled = self._clock.now()
        for each in await self._db.read(calendars.list_calendars):
            if each.account not in self._accounts:  # no longer in the settings
                await self._leave(each)
        await self._db.write(occurrences.prune, self._rolled - KEPT)
        until = self._rolled + HORIZON - timedelta(days=1)
        short = await self._db.read(calendars.ending_before, until, 1_000_000)
        for resource in short:
            await self._expand_again(resource)

    async def _give(self) -> datetime | None:
        now = self._clock.now()
        found = await self._db.read(occurrences.waiting, now, now + LEAD, 100_000)
        by_event: dict[str, list[StoredOccurrence]] = {}
        for each in found:
            by_event.setdefault(each.uid, []).append(each)
        restored_at = await self._db.read(after_restore.restored_at)
        for starts in by_event.values():
            await self._give_event(starts, now, restored_at)
        return await self._db.read(occurrences.soonest, now)

    async def _give_event(
        self, starts: list[StoredOccurrence], now: datetime, restored_at: datetime | None
    ) -> None:
        """Give tasks to the wanted due starts, and to the next one if no later one has a task."""
        rules = self._plugs.rules
        due = [each for each in starts if each.start <= now]
        # A start that was written late is also seen late, although Remit was running.
        times = [each.start for each in due]
        wanted = repeat.chosen(times, now - GRACE, rules.missed, rules, restored_at)
        passed = len(due) - len(wanted)
        for each in due[:passed]:
            await self._db.write(occurrences.skip, each, slots.ASLEEP, now)
        coming = [each for each in starts if each.start > now][:1]
        for each in [*due[passed:], *(coming if not starts[0].ahead else ())]:
            await self._give_one(each, now)

    async def _give_one(self, each: StoredOccurrence, now: datetime) -> None:
        series, session = await self._db.write(
            occurrences.belonging, each.uid, self._ids.series(), self._ids.session()
        )
        asked = cue_of(each, series, session)
        assert asked.slot is not None  # noqa: S101 - every start has one
        taken = await self._db.read(
            occurrences.is_taken, each, series, asked.slot, asked.source.ref
        )
        if taken:
            await self._db.write(occurrences.skip, each, occurrences.ANEW, now)
            return
        try:
            task = await self._plugs.admit(asked)
        except BadInput as bad:
            await self._db.write(occurrences.skip, each, str(bad), now)
            return
        keeps = self._plugs.rules.missed is OnMissed.RUN_ALL
        await self._db.write(occurrences.give, each, task.id, now, keeps=keeps)


class CalendarWatchPorts(Struct, frozen=True):
    """How a watch reads events, admits cues, and treats missed starts."""

    reader: CalendarReader
    admit: Admit
    background: Background
    configured: frozenset[str] = frozenset()  # accounts that exist, though not watched now
    rules: ScheduleSettings = _PLAIN
    speaks: Callable[[], Speaks] = lambda: says_nothing  # called each time, because contacts change


async def _attempt(work: Awaitable[T]) -> T | Exception:
    """Return the result, or the error."""
    try:
        return await work
    except Exception as error:  # noqa: BLE001 - it is raised when the others had their turn
        return error


async def _fetch_single(dav: CalDavClient, path: str) -> client.CalendarResource | None:
    """Fetch a single resource: None if it is gone, empty if it is too large."""
    try:
        return await dav.get(path)
    except ResourceGone:
        return None
    except client.CalendarTooLarge:
        return client.CalendarResource(path, "", "")
