"""Inbound triggers and the calendar registry; their code is loaded only when it is used."""

import asyncio
import secrets
from typing import TYPE_CHECKING

from msgspec.structs import replace

from remit.channels.buttons import ChatButtons
from remit.errors import NotFound
from remit.model.caller import OWNER
from remit.model.ids import ReviewId
from remit.model.review import ReviewAnswer
from remit.operations.arguments import NewDecision
from remit.operations.callers import CallerRegistry
from remit.operations.operation import OperationPorts, OperationRequest
from remit.operations.table import perform
from remit.ports import Clock
from remit.settings import Settings
from remit.store.cues import InboundMessage, StoredCue
from remit.store.database import Database
from remit.store.secrets import machine_ring
from remit.system.background import LoopGroup
from remit.wiring.app_context import Admit, AppContext, TakeMessage
from remit.wiring.foundation import Foundation

if TYPE_CHECKING:
    from remit.channels.webhook.receiving import HookCall
    from remit.wiring.calendar import CalendarWatches
    from remit.wiring.inbound_registry import InboundRegistry


class InboundTriggers:
    """Watched by `remit up` only, not by short commands."""

    def __init__(self, base: Foundation, talk: TakeMessage, buttons: ChatButtons) -> None:
        self._base = base
        self._talk = talk
        self._buttons = buttons
        self._made: InboundRegistry | None = None
        self._watched: tuple[LoopGroup, ...] = ()

    @property
    def entrance(self) -> "InboundRegistry":
        if self._made is None:
            from remit.wiring.inbound_registry import InboundRegistry  # noqa: PLC0415 - what reads mail

            self._made = InboundRegistry(self._base, self._talk, self._buttons)
        return self._made

    async def start(self) -> None:
        """Start interrupted cues, and watch from now on."""
        settings = self.settings
        polled = any(getattr(each, "watched_by", "") for each in settings.channels.values())
        if settings.hooks or settings.doors or settings.folders or polled:
            await self.entrance.keeper.take_up()
            self._watched = self.entrance.watches()
            for each in self._watched:
                each.start()

    async def close(self) -> None:
        watched, self._watched = self._watched, ()
        for each in watched:
            await each.close()

    @property
    def settings(self) -> Settings:
        """The current settings; the hooks may be newer than at the start."""
        return self._base.settings

    async def apply(self, settings: Settings) -> None:
        """Switch to new hooks; mailboxes and folders stay as they are."""
        keys = self._base.keys
        if settings.hooks:
            keys.kept.use_ring(await asyncio.to_thread(machine_ring, settings.home))
            keys.learn_all()
        self._base = replace(self._base, settings=settings)
        if self._made is not None:
            self._made.set_hooks(settings.hooks)
        if not self._watched:
            await self.start()

    async def called(self, name: str, call: "HookCall") -> StoredCue:
        """Accept a program's call; raises `CallUnsigned` if it does not know the secret."""
        if name not in self.settings.hooks:
            raise NotFound("hook", f"{name!r:.60}")
        return await self.entrance.called(name, call)

    async def wrote(self, message: InboundMessage) -> StoredCue | None:
        """Handle a message from somebody other than the owner; None if nothing comes of it."""
        if message.channel not in self.settings.doors:
            return None
        return await self.entrance.wrote(message)

    async def owner_wrote(self, message: InboundMessage, *, again: bool) -> bool:
        """Handle what the owner sent besides words; False if it is words, or another's."""
        return await self.entrance.chats.owner_sent(message, again=again)

    async def chosen(self, channel: str, data: str) -> str | None:
        """Return what a signed link in a mail chooses; None if it is out of date."""
        return await self.entrance.chats.chosen(channel, data)

    async def begin(self, name: str) -> StoredCue:
        """Start a stored cue that started nothing, because the owner says so."""
        return await self.entrance.keeper.start(name)


class OwnerDecisions:
    """Runs the operation that decides a question, as the owner, for a button in a chat."""

    app: OperationPorts  # set once the app is built

    def __init__(self, db: Database, clock: Clock) -> None:
        self.buttons = ChatButtons(db, clock, self.decide)

    async def decide(
        self, review_id: ReviewId, answer: ReviewAnswer, text: str | None, channel: str
    ) -> None:
        app = self.app
        # A token that nobody knows: nobody comes in by this registry.
        nobody = secrets.token_urlsafe(32)
        request = OperationRequest(
            app=app,
            ref=f"{channel} {review_id}",
            callers=CallerRegistry(app.db, app.clock, app.ids, nobody),
            caller=replace(OWNER, name=f"owner: by {channel}"),
            channel=channel,
        )
        await perform(request, NewDecision(review_id, answer, text))


class CalendarRegistry:
    """Calendars are watched by `remit up` only, not by short commands."""

    def __init__(self, context: AppContext, admit: Admit) -> None:
        self._context = context
        self._admit = admit
        self._made: CalendarWatches | None = None

    def start(self) -> None:
        """Start in the background: nothing waits for a calendar."""
        settings = self._context.settings
        if settings.calendar.own or settings.calendars:
            self._watched().start()

    async def apply(self, settings: Settings) -> None:
        """Switch to the accounts of new settings."""
        await self.close()
        self._made = None
        self._context = replace(self._context, settings=settings)
        self.start()
        if self._made is None:
            await self.look()  # drops the starts of removed accounts

    async def look(self) -> dict[str, str | None]:
        """Ask every account now; return the error of each."""
        return await self._watched().look()

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()

    def _watched(self) -> "CalendarWatches":
        if self._made is None:
            from remit.wiring.calendar import CalendarWatches  # noqa: PLC0415 - what speaks HTTP and XML

            self._made = CalendarWatches(self._context, self._admit)
        return self._made
