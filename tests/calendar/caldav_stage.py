"""An app with a frozen clock that watches real calendar servers, and a second client.

What ran is counted by event and slot: one of each, never two.
"""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from zoneinfo import ZoneInfo

from remit.calendar.client import CalDavClient, CalendarLocation
from remit.calendar.expand import CalendarReader
from remit.calendar.watch import CalendarAccount, CalendarWatch, CalendarWatchPorts
from remit.contacts.book import Contacts
from remit.intake.calendar_intake import CalendarIntake
from remit.model.ids import TaskId
from remit.model.task import SourceKind, Task
from remit.settings import DeliverSettings, ScheduleSettings, Settings
from remit.store import calendars
from remit.store.calendars import StoredCalendar
from remit.store.database import Row, Tx
from remit.testing import FrozenClock, ObedientBrain, Outbox, World
from tests.calendar.caldav_servers import Server

_NUMBERS = count(1)  # of the calendars
NINE = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)  # the start of a World's clock
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def event(uid: str, start: datetime, summary: str = "Water the plants", *more: str) -> str:
    """Return one event, as a phone would write it."""
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//test//test//EN",
        "BEGIN:VEVENT",
        f"UID:{uid}",
        "DTSTAMP:20260301T000000Z",
        f"DTSTART:{start.astimezone(UTC):%Y%m%dT%H%M%SZ}",
        f"SUMMARY:{summary}",
        *more,
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return "\r\n".join(lines) + "\r\n"


def todo(uid: str, *more: str) -> str:
    return (
        event(uid, NINE, "Buy milk", *more)
        .replace("VEVENT", "VTODO")
        .replace(f"DTSTART:{NINE:%Y%m%dT%H%M%SZ}\r\n", "")
    )


class Stage:
    def __init__(
        self, world: World, accounts: Sequence[CalendarAccount], channels: Sequence[str] = ()
    ) -> None:
        self.world = world
        self.channels = channels
        self.accounts = accounts
        self.watch = self._made()

    def _made(self) -> CalendarWatch:
        app = self.world.app
        reader = CalendarReader(ZoneInfo("UTC"), mine=("me@example.org",))
        noted = self._noted()
        plugs = CalendarWatchPorts(
            reader,
            noted.admit,
            app.background,
            rules=app.settings.schedule,
            speaks=lambda: noted.reading().speaks,
        )
        return CalendarWatch(self.accounts, app.db, app.clock, app.ids, plugs)

    def _noted(self) -> CalendarIntake:
        app, names = self.world.app, ("dashboard", *self.channels)
        book = Contacts(app.settings.home / "contacts.yaml", "Hanan", names)
        return CalendarIntake(app.db, app.clock, app.ids, book, app.zone, app.intake.admit)

    @property
    def now(self) -> datetime:
        return self.world.now

    async def look(self) -> dict[str, str | None]:
        return await self.watch.look()

    async def live(self, span: timedelta, step: timedelta = timedelta(minutes=10)) -> None:
        """Let time pass, with regular looks."""
        end = self.now + span
        while True:
            await self.watch.look()
            await self.world.run(min(step, end - self.now))
            if self.now >= end:
                await self.watch.look()
                await self.world.run()
                return

    async def restart(self, after: timedelta = timedelta()) -> None:
        """Stop the app and open it again on the same files, perhaps after a while."""
        await self.watch.close()
        await self.world.restart(after)
        self.watch = self._made()

    async def tasks(self, uid: str | None = None) -> list[Task]:
        """Return the tasks from calendars, oldest first."""
        found = await self.world.app.db.read(_ids)
        listed = [await self.world.get(each) for each in found]
        mine = [task for task in listed if task.source.kind is SourceKind.CALDAV]
        return [task for task in mine if uid is None or task.context["uid"] == uid]

    async def fired(self) -> Counter[tuple[str, str]]:
        """Return how often each start of each event ran."""
        return Counter(
            (str(task.context["uid"]), str(task.context["slot"]))
            for task in await self.tasks()
            if task.started_at is not None
        )

    async def calendar(self, account: str, path: str) -> StoredCalendar:
        found = await self.world.app.db.read(calendars.list_calendars)
        return next(each for each in found if (each.account, each.path) == (account, path))

    async def sql(self, statement: str) -> list[Row]:
        def ask(tx: Tx) -> list[Row]:
            return tx.ask(statement)

        return await self.world.app.db.write(ask)


def _ids(tx: Tx) -> list[TaskId]:
    return [TaskId(str(row["id"])) for row in tx.ask("SELECT id FROM tasks ORDER BY no")]


@asynccontextmanager
async def staged(
    home: Path,
    *accounts: CalendarAccount,
    rules: ScheduleSettings | None = None,
    channels: Mapping[str, Outbox] | None = None,
    clock: FrozenClock | None = None,
) -> AsyncIterator[Stage]:
    """Open an app with a watch."""
    settings = Settings(
        home=home, deliver=DeliverSettings(undo=0), schedule=rules or ScheduleSettings()
    )
    made = World(home, brain=ObedientBrain(), settings=settings, channels=channels or {})
    made.clock = clock or made.clock
    async with made as world:
        stage = Stage(world, accounts, tuple(channels or ()))
        try:
            yield stage
        finally:
            await stage.watch.close()


@asynccontextmanager
async def calendar_at(
    place: CalendarLocation, path: str, name: str, kind: str = "VEVENT"
) -> AsyncIterator["Phone"]:
    """Make a new calendar, used by another client."""
    dav = CalDavClient(place)
    try:
        await dav.make(path, name, kind)
        yield Phone(dav, path)
    finally:
        await dav.close()


@asynccontextmanager
async def agenda(  # noqa: PLR0913 - each is another setting
    server: Server,
    home: Path,
    *,
    kind: str = "VEVENT",
    trusted: bool = True,
    rules: ScheduleSettings | None = None,
    channels: Mapping[str, Outbox] | None = None,
    clock: FrozenClock | None = None,
) -> AsyncIterator[tuple[Stage, "Phone"]]:
    """An app that has looked at one calendar, which nobody has used before."""
    path = f"{server.home}agenda-{next(_NUMBERS)}/"
    account = CalendarAccount(server.place, lambda found: found.path == path, trusted=trusted)
    app = staged(home, account, rules=rules, channels=channels, clock=clock)
    async with calendar_at(server.place, path, "Agenda", kind) as phone, app as stage:
        await stage.look()
        yield stage, phone


class Phone:
    """Another client that writes into a calendar."""

    def __init__(self, dav: CalDavClient, path: str) -> None:
        self.dav = dav
        self.path = path

    async def write(self, name: str, body: str) -> str:
        """Write something new, or replace what is there."""
        held = (await self.dav.changes(self.path, "")).etags
        return await self.dav.put(self.at(name), body, held.get(self.at(name)))

    async def delete(self, name: str) -> None:
        await self.dav.delete(self.at(name), "")

    async def delete_calendar(self) -> None:
        await self.dav.delete(self.path, "")

    def at(self, name: str) -> str:
        return f"{self.path}{name}.ics"
