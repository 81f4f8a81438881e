"""What the app stands on: the store, the secrets, the channels, and the intake of messages.

A short command needs no more than this; `remit.wiring.app` builds the rest on it.
"""

import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import structs

from remit.brain.budget import Budget, midnight
from remit.brain.models import ModelBrain
from remit.channels.registry import ChannelRegistry, DashboardChannel, build_channels
from remit.contacts import ChannelName
from remit.contacts.book import FILE as CONTACTS
from remit.contacts.book import Contacts
from remit.contacts.permits import Permits
from remit.intake.admit import Intake
from remit.intake.exam.qualify import QualifiedReader
from remit.intake.hear import MessageReader
from remit.intake.receive import DuplicateAwareReceiver, Receiver
from remit.journal.follow import Journal
from remit.language.sentences import prefer_language
from remit.model.delivery import SendGuarantee
from remit.model.ids import Ids
from remit.model.review import Undo
from remit.owner import Owner
from remit.ports import Brain, Channel, Clock
from remit.review import Inbox
from remit.settings import Settings
from remit.store import events, home
from remit.store.database import Database
from remit.store.opening import open_store
from remit.system.background import Background, LoopState
from remit.system.owner_zone import find_owner_zone
from remit.wiring import readers
from remit.wiring.app_context import (
    AppContext,
    RandomBits,
    StoreClock,
    WallClock,
    keys_of,
    make_redactor,
)
from remit.wiring.recall import SimilarTasks

if TYPE_CHECKING:
    from remit.wiring.shared_documents import SharedDocuments

# The channels that always exist.
CHANNELS: Final[Mapping[str, Channel]] = {"dashboard": DashboardChannel()}


class Foundation(AppContext, frozen=True):
    """What every part uses, with what a short command needs besides."""

    outfit: ChannelRegistry  # the channels of the settings
    recollection: SimilarTasks
    ear: MessageReader
    receiver: Receiver
    intake: Intake
    is_slow: Callable[[], bool]  # whether a model reads messages
    model_reader: QualifiedReader | None  # which one
    owner: Owner
    inbox: Inbox
    permits: Permits


@asynccontextmanager
async def open_foundation(
    settings: Settings,
    *,
    clock: Clock | None = None,
    brain: Brain | None = None,
    channels: Mapping[str, Channel] | None = None,
) -> AsyncIterator[Foundation]:
    """Lock the directory, open the store and build the foundation; nothing is started.

    Several processes on one store also share the directory.
    """
    async with AsyncExitStack() as stack:
        shared = settings.engine.is_shared
        if not shared:
            stack.enter_context(home.lock(settings.home))
        clock = clock or WallClock()
        by_process = not isinstance(clock, WallClock)
        db = await stack.enter_async_context(
            open_store(settings.database, settings.home, process_clock=by_process, shared=shared)
        )
        if settings.store.url and not by_process:
            clock = StoreClock(db)
            await clock.correct()
        shared_files = await _shared_files(db, clock, settings.home) if shared else None
        brain = brain or readers.brain_of(settings)
        if isinstance(brain, ModelBrain):
            stack.push_async_callback(brain.close)
        found = build_foundation(settings, db, clock, brain, channels or {})
        if shared_files is not None:
            found.background.start("shared documents", shared_files.keep)
        stack.push_async_callback(found.background.close)
        stack.push_async_callback(found.outfit.close)
        stack.push_async_callback(found.recollection.close)
        yield found


async def _shared_files(db: Database, clock: Clock, folder: Path) -> "SharedDocuments":
    """Take over the files of the other machines; settings are read soon after."""
    from remit.wiring.shared_documents import SharedDocuments  # noqa: PLC0415 - not for one process

    made = SharedDocuments(db, clock, folder)
    await made.share()
    return made


def build_foundation(
    settings: Settings, db: Database, clock: Clock, brain: Brain, more: Mapping[str, Channel]
) -> Foundation:
    keys = keys_of(settings)
    if isinstance(brain, ModelBrain):
        keys.learn(readers.stored_model_keys(settings).values())
    redact = make_redactor(keys)
    background = _background(db, clock, redact)
    keep = settings.deliver.keep_inbound
    fitted = build_channels(keys, db, clock, background, keep=keep)
    channels = {**CHANNELS, **fitted.channels, **more}
    zone = find_owner_zone(settings.zone).zone
    prefer_language(settings.language)
    context = AppContext(
        settings=settings,
        db=db,
        clock=clock,
        ids=Ids(clock.now, RandomBits(os.urandom)),
        journal=Journal(db),
        brain=brain,
        keys=keys,
        channels=channels,
        contacts=Contacts(
            settings.home / CONTACTS,
            settings.owner,
            _channel_names(channels, fitted),
            settings.agent,
        ),
        zone=zone,
        budget=Budget(db, clock, settings.budget, midnight(zone)),
        redact=redact,
        background=background,
    )
    return _with_intake(context, fitted)


def _with_intake(context: AppContext, fitted: ChannelRegistry) -> Foundation:
    db, clock, ids, contacts = (context.db, context.clock, context.ids, context.contacts)
    alike, model = SimilarTasks(context), readers.model_reader(context)
    ear = MessageReader(db, clock, ids, contacts, context.zone, readers.reader(context, model))
    is_slow = partial(readers.is_read_by_model, context, model)
    receiver = Receiver(ear, db, clock, ids, is_slow)
    attentive = DuplicateAwareReceiver(receiver, alike.twin)
    return Foundation(
        **structs.asdict(context),
        outfit=fitted,
        recollection=alike,
        ear=ear,
        receiver=receiver,
        intake=Intake(db, clock, ids, context.channels, attentive, contacts.name_for),
        is_slow=is_slow,
        model_reader=model,
        owner=Owner(db, clock, ids),
        inbox=Inbox(db, clock, ear.settling, _undo_window(context)),
        permits=Permits(contacts, db, clock),
    )


def _background(db: Database, clock: Clock, redact: Callable[[str], str]) -> Background:
    """Build the supervisor of all loops; a failure is journalled and so reported to the owner."""

    async def report(state: LoopState) -> None:
        await db.write(events.note_loop_failure, state.name, redact(state.error), clock.now())

    return Background(clock.now, clock.sleep, report)


def _channel_names(channels: Iterable[str], fitted: ChannelRegistry) -> list[ChannelName]:
    """Every channel as the owner may call it: by its name, its kind, or another word."""
    known = {each.name: each for each in fitted.ways}
    return [known.get(name, ChannelName(name, name)) for name in channels]


def _undo_window(context: AppContext) -> Undo:
    """Return how long an approval can be undone; local channels need not wait."""
    stays = (
        name for name, each in context.channels.items() if each.keeps is SendGuarantee.TRANSACTION
    )
    return Undo(context.settings.deliver.undo, tuple(stays))
