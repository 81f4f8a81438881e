"""Wires the calendars: Remit's own, those of other servers, and the phones' to-do list."""

import asyncio
import logging
import secrets as chance
from dataclasses import replace
from functools import partial
from typing import Final

from remit.calendar import client, own_server
from remit.calendar.client import CalendarLocation
from remit.calendar.expand import CalendarReader
from remit.calendar.own_server import OwnServer, RadicaleProcess
from remit.calendar.todo import TodoSync
from remit.calendar.watch import CalendarAccount, CalendarWatch, CalendarWatchPorts
from remit.channels.oauth import CALENDAR, client_of
from remit.channels.oauth.tokens import KnownSecrets, SignInWatch, TokenSource
from remit.contacts.book import Contacts
from remit.errors import RemitError
from remit.intake.calendar_intake import CalendarIntake
from remit.ports import Clock
from remit.settings import Settings
from remit.settings.doors import OWN, CalendarServer
from remit.store.secrets import Secrets, secrets_of
from remit.wiring.app_context import Admit, AppContext

LOOP: Final = "own calendar"
PASSWORD: Final = "calendar_own"  # noqa: S105 - the name of a secret
FEED: Final = "calendar_feed"
AGENDA: Final = "Agenda"
_AGAIN: Final = 60.0  # seconds before the own calendar server is restarted after it ended
_LOG: Final = logging.getLogger("remit.calendar")


class CalendarWatches:
    """All calendars, watched from `start` to `close`."""

    def __init__(self, context: AppContext, admit: Admit) -> None:
        self._context = context
        self._admit = admit
        self._settings = context.settings
        self._background = context.background
        self._child: RadicaleProcess | None = None
        self._mine: OwnServer | None = None
        self._watch: CalendarWatch | None = None
        self._mirror: TodoSync | None = None
        self._sign_ins: SignInWatch | None = None

    def start(self) -> None:
        self._background.start(LOOP, self._run)

    async def close(self) -> None:
        await self._background.stop(LOOP)
        for each in (self._sign_ins, self._watch, self._mirror):
            if each is not None:
                await each.close()
        if self._child is not None:
            await self._child.stop()
        self._watch = self._mirror = self._child = None

    async def look(self) -> dict[str, str | None]:
        """Ask every account now; return the error of each."""
        kept = await asyncio.to_thread(secrets_of, self._settings.home)
        watch = self._watch or self._build_watch(kept, None)
        try:
            return await watch.look()
        finally:
            if self._watch is None:
                await watch.close()

    async def _run(self) -> None:
        if self._watch is None:
            kept = await asyncio.to_thread(secrets_of, self._settings.home)
            self._context.keys.learn(await asyncio.to_thread(self._passwords, kept))
            self._mine = await self._own(kept)
            self._watch = self._build_watch(kept, self._mine)
            self._watch.start()
            self._sign_ins = self._sign_in_watch(kept)
            self._sign_ins.start()
        if self._mine is None:
            return
        if self._mirror is None:
            context = self._context
            self._mirror = TodoSync(
                self._mine.place, own_server.TASKS, context.db, context.clock, self._background
            )
            self._mirror.start()
        await self._keep_up(self._mine)

    def _passwords(self, kept: Secrets) -> list[str]:
        accounts = self._settings.calendars.items()
        named = ((name, each) for name, each in accounts if each.oauth is None)
        return [self._place(name, each, kept).password() for name, each in named]

    def _place(self, name: str, server: CalendarServer, kept: Secrets) -> CalendarLocation:
        return place_of(name, server, kept, self._context.keys, self._context.clock)

    async def _own(self, kept: Secrets) -> OwnServer | None:
        """Start the own calendar server; None if that fails, which is logged."""
        if not self._settings.calendar.own:
            return None
        try:
            mine = await asyncio.to_thread(own_of, self._settings, kept)
        except RemitError as error:
            _LOG.warning("The own calendar did not start: %s", error)
            return None
        self._context.keys.learn((mine.password(),))
        if self._child is not None:
            await self._child.stop()  # from an interrupted start
        self._child = RadicaleProcess(mine)
        if await self._child.start():
            return mine
        _LOG.warning("%s Everything else works.", self._child.why)
        return None

    async def _keep_up(self, mine: OwnServer) -> None:
        """Restart it if it ends by itself."""
        while True:
            await self._context.clock.sleep(_AGAIN)
            if self._child is not None and not self._child.alive:
                self._child = RadicaleProcess(mine)
                await self._child.start()

    def _sign_in_watch(self, kept: Secrets) -> SignInWatch:
        places = [self._place(name, each, kept) for name, each in self._settings.calendars.items()]
        sources = [
            (each.name, each.password) for each in places if isinstance(each.password, TokenSource)
        ]
        return SignInWatch(sources, self._context.clock, self._background)

    def _build_watch(self, kept: Secrets, mine: OwnServer | None) -> CalendarWatch:
        context, turn = self._context, self._settings.calendar
        accounts = [
            self._account(name, each, kept) for name, each in self._settings.calendars.items()
        ]
        if mine is not None:
            accounts.append(
                CalendarAccount(mine.place, partial(self._is_marked, OWN, (AGENDA,)), True)
            )
        users = (each.user for each in self._settings.calendars.values())
        reader = CalendarReader(
            zone=context.zone,
            all_day_at=turn.morning,
            mine=frozenset({*turn.mine, *(user.lower() for user in users if "@" in user)}),
            knows=partial(knows, context.contacts),
        )
        there = frozenset({OWN} if turn.own else ())
        intake = calendar_intake(context, self._admit)
        plugs = CalendarWatchPorts(
            reader,
            intake.admit,
            self._background,
            there,
            self._settings.schedule,
            lambda: intake.reading().speaks,
        )
        return CalendarWatch(accounts, context.db, context.clock, context.ids, plugs)

    def _account(self, name: str, server: CalendarServer, kept: Secrets) -> CalendarAccount:
        place = self._place(name, server, kept)
        marked = partial(self._is_marked, name, server.calendars)
        return CalendarAccount(place, marked, server.trusted, server.poll)

    def _is_marked(
        self, account: str, named: tuple[str, ...], found: client.RemoteCalendar
    ) -> bool:
        if account == OWN and found.path == own_server.TASKS:
            return False  # Remit's own entries are no requests
        marks = own_server.read(self._settings.home).get(account, {})
        return own_server.is_marked(found, named, marks)


def calendar_intake(context: AppContext, admit: Admit) -> CalendarIntake:
    """Build the reader of the owner's calendar events."""
    db, clock, commands = context.db, context.clock, context.settings.commands
    return CalendarIntake(db, clock, context.ids, context.contacts, context.zone, admit, commands)


def place_of(
    name: str, server: CalendarServer, kept: Secrets, keys: KnownSecrets, clock: Clock
) -> CalendarLocation:
    """Return a server of the settings; its password or token is looked up at each use."""
    if server.oauth is None:
        return CalendarLocation(name, server.url, server.user, partial(kept.find, server.password))
    todo = f"remit calendar connect {name}"
    source = TokenSource(
        client_of(server.oauth, CALENDAR, kept.find),
        kept,
        server.oauth.token,
        now=clock.now,
        keys=keys,
        todo=todo,
    )
    place = CalendarLocation(name, server.url, server.user, source, source.renew)
    return replace(place, todo=f"Run `{todo}`.")


def own_of(settings: Settings, kept: Secrets) -> OwnServer:
    """Return the own calendar server; its password is made at the first start."""
    value = ensure_secret(kept, PASSWORD)
    return OwnServer(settings.home / "calendar", settings.calendar.port, lambda: value)


def ensure_secret(kept: Secrets, name: str, *, anew: bool = False) -> str:
    """Return the secret under a name; create it if missing or if `anew`."""
    if not anew and (found := kept.find(name)):
        return found
    value = chance.token_urlsafe(32)
    kept.put(name, value)
    return value


def knows(contacts: Contacts, address: str) -> bool:
    """Whether an address belongs to a contact."""
    lines = (line for entry in contacts.known_entries() for line in entry.lines.values())
    return any(address.casefold() in (line.address.casefold(), line.id) for line in lines)
