"""Builds the app from settings."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from remit.brain import prompt
from remit.brain.budget import Budget, midnight
from remit.brain.models import ModelBrain
from remit.brain.think import NoBrain, Thinker
from remit.brain.tool import kit
from remit.brain.tools import Toolbox, UsableTool
from remit.channels.dashboard import DashboardChannel
from remit.channels.push.sending import PushNotifier
from remit.channels.registry import ChannelRegistry, ChannelSecrets
from remit.contacts.book import FILE as CONTACTS
from remit.contacts.book import Contacts
from remit.contacts.edit import put_quiet
from remit.contacts.people import ChannelName
from remit.contacts.permits import Permits
from remit.converse.talk import ConversationLoop
from remit.delivery.courier import Courier
from remit.delivery.notice_sender import NoticeSender
from remit.engine.deferred import Deferred
from remit.engine.local import LocalEngine
from remit.engine.loops import Leftovers
from remit.gate import GateSecrets
from remit.intake.admit import Intake
from remit.intake.exam.qualify import QualifiedReader
from remit.intake.hear import MessageReader
from remit.intake.receive import DuplicateAwareReceiver, Receiver
from remit.intake.recipients import owners
from remit.journal.follow import Journal
from remit.model.ids import Ids
from remit.owner import Owner
from remit.plan.draft import Planner
from remit.ports import Brain, Channel, Clock
from remit.recall.session import SessionRecall
from remit.review.ask import Inbox
from remit.run import RunPorts
from remit.run.rooms import CodeWorkPorts
from remit.run.send import approval_card
from remit.settings import Settings
from remit.specialist.worktree import Worktrees
from remit.store import events, home, sessions
from remit.store.database import Database
from remit.store.redact import Redactor
from remit.store.sqlite import Sqlite
from remit.system.background import Background, LoopState
from remit.triggers.repeat import Repeater
from remit.verify.verdict import Verifier
from remit.wiring import minds, notices, proof
from remit.wiring.app_context import (
    AppContext,
    InboundPorts,
    IntakeParts,
    WallClock,
    keys_of,
    redacting,
)
from remit.wiring.deferred import deferred
from remit.wiring.inbound_triggers import CalendarRegistry, InboundTriggers
from remit.wiring.minds import brain_of
from remit.wiring.notices import NoticeParts, NoticePreferences, join
from remit.wiring.recall import SimilarTasks
from remit.wiring.reflection import PriorityFile, ReflectionLoop
from remit.wiring.talk import ConversationIntake, OwnerOperations, talk

# The channels that always exist.
CHANNELS: Final[Mapping[str, Channel]] = {"dashboard": DashboardChannel()}


class App(Struct, frozen=True):
    """The whole application, built from settings."""

    settings: Settings
    db: Database
    clock: Clock
    zone: ZoneInfo  # the owner's zone
    ids: Ids
    journal: Journal
    intake: Intake
    inbox: Inbox
    owner: Owner
    permits: Permits
    engine: LocalEngine
    tools: Toolbox
    repeater: Repeater
    talk: ConversationLoop
    outfit: ChannelRegistry  # the channels of the settings
    calendars: CalendarRegistry  # calendars that start work
    doors: InboundTriggers  # work that comes in from others
    told: NoticeParts  # notices to the owner
    priority: PriorityFile  # the rules that rank tasks
    recollection: SimilarTasks  # similar tasks
    reflection: ReflectionLoop  # reflection and its file versions
    deferred: Deferred  # checks that run when their group ends
    leftovers: Leftovers  # worktrees of ended tasks
    background: Background  # every background loop and its state
    hide: Redactor  # removes secrets from the log
    thinks: bool  # whether a brain is set up
    model_reader: QualifiedReader | None  # the model that reads messages, if there is one

    @property
    def push(self) -> PushNotifier:
        return self.told.push

    @property
    def wishes(self) -> NoticePreferences:
        return self.told.wishes

    @property
    def herald(self) -> NoticeSender:
        return self.told.herald


@asynccontextmanager
async def opened(
    settings: Settings,
    *,
    clock: Clock | None = None,
    brain: Brain | None = None,
    channels: Mapping[str, Channel] | None = None,
    able: Sequence[UsableTool] = (),
) -> AsyncIterator[App]:
    """Lock the directory, open the store and build the app; the engine is not started."""
    clock = clock or WallClock()
    async with AsyncExitStack() as stack:
        stack.enter_context(home.lock(settings.home))
        await asyncio.to_thread(home.prepare, settings.database)
        brain = brain or brain_of(settings)
        if isinstance(brain, ModelBrain):
            stack.push_async_callback(brain.close)
        db = Sqlite(settings.database)
        stack.push_async_callback(db.close)
        house = build(settings, db, clock, brain, channels or {}, able)
        stack.push_async_callback(house.background.close)
        stack.push_async_callback(house.outfit.close)
        stack.push_async_callback(house.calendars.close)
        stack.push_async_callback(house.doors.close)
        stack.push_async_callback(house.reflection.close)
        stack.push_async_callback(house.recollection.close)
        stack.push_async_callback(house.herald.close)
        stack.push_async_callback(house.tools.close)
        stack.push_async_callback(house.repeater.stop)
        stack.push_async_callback(house.talk.stop)
        stack.push_async_callback(house.deferred.stop)
        stack.push_async_callback(house.leftovers.stop)
        yield house


def build(
    settings: Settings,
    db: Database,
    clock: Clock,
    brain: Brain,
    more: Mapping[str, Channel],
    able: Sequence[UsableTool] = (),
) -> App:
    ids, keys = Ids(clock.now, secrets.randbits), keys_of(settings)
    background = _background(db, clock, redacting(keys))
    fitted = _fitted(keys, db, clock, background, settings.deliver.keep_inbound)
    channels = {**CHANNELS, **fitted.channels, **more}
    ground = _ground(settings, db, clock, brain, channels, keys, background=background)
    alike = SimilarTasks(ground)
    model = minds.model_reader(ground)
    ears, receiver = _hearing(ground, ids, fitted, alike, model)
    tools = _tools(ground, ears.intake, able, alike)
    return _house(_Frame(ground, ids, keys, fitted, alike, ears, receiver, tools, model))


class _Frame(Struct, frozen=True):
    """What is built before the parts of the app."""

    ground: AppContext
    ids: Ids
    keys: ChannelSecrets
    fitted: ChannelRegistry
    alike: SimilarTasks
    ears: ConversationIntake
    receiver: Receiver
    tools: Toolbox
    model: QualifiedReader | None


class _Work(Struct, frozen=True):
    """Specialists, deferred checks and reflection."""

    trees: Worktrees
    late: Deferred
    back: ReflectionLoop
    engine: LocalEngine
    courier: Courier


def _work(frame: _Frame, priority: PriorityFile) -> _Work:
    ground, ids, tools, contacts = frame.ground, frame.ids, frame.tools, frame.ears.contacts
    trees = minds.trees(ground)
    late = deferred(ground, ids, trees)
    bench = proof.bench(ground, trees, late)
    rooms = _rooms(ground, tools, contacts, frame.fitted, priority, bench)
    back = ReflectionLoop(ground, ids, frame.ears.intake.admit, tools, contacts)
    reminded = rooms.recall.reminded(frame.alike.reminders.of)
    read = frame.receiver.read_pending
    rooms = replace(rooms, mirror=back.mirror, recall=reminded, read=read)
    frame.ears.ear.approve_by(partial(approval_card, rooms))
    return _Work(trees, late, back, _engine(ground, ids, rooms), rooms.courier)


def _house(frame: _Frame) -> App:
    ground, ids, keys, ears = frame.ground, frame.ids, frame.keys, frame.ears
    settings, db, clock, contacts = ground.settings, ground.db, ground.clock, ears.contacts
    journal, owner, priority = Journal(db), Owner(db, clock, ids), PriorityFile(settings.home)
    inbox = Inbox(db, clock, ears.ear.settling, notices.undo_window(ground))
    work = _work(frame, priority)
    told = join(ground, ids, work.courier, keys.kept.hide)
    operations = OwnerOperations(ground, owner, inbox, ears.intake)
    spoken = talk(ground, ids, journal, ears, operations, told.tells)
    parts = IntakeParts(ground, ids, ears.intake.admit, contacts, keys.learn)
    ports = InboundPorts(ground, keys, ears.intake, contacts, spoken.came, inbox.decide)
    return App(
        settings=settings,
        db=db,
        clock=clock,
        zone=ground.zone,
        ids=ids,
        journal=journal,
        intake=ears.intake,
        inbox=inbox,
        owner=owner,
        permits=Permits(contacts, db, clock),
        engine=work.engine,
        tools=frame.tools,
        repeater=_repeater(ground, ids, work.engine),
        talk=spoken,
        outfit=frame.fitted,
        calendars=CalendarRegistry(parts),
        doors=InboundTriggers(ports),
        told=told,
        priority=priority,
        recollection=frame.alike,
        reflection=work.back,
        deferred=work.late,
        leftovers=Leftovers(db, clock, work.trees, ground.background),
        background=ground.background,
        hide=keys.kept.hide,
        thinks=_thinks(ground.brain),
        model_reader=frame.model,
    )


def _ground(  # noqa: PLR0913 - each is a part of it
    settings: Settings,
    db: Database,
    clock: Clock,
    brain: Brain,
    channels: Mapping[str, Channel],
    keys: ChannelSecrets,
    *,
    background: Background,
) -> AppContext:
    zone = owners(settings.zone, os.environ).zone
    return AppContext(
        settings=settings,
        db=db,
        clock=clock,
        brain=brain,
        channels=channels,
        zone=zone,
        purse=Budget(db, clock, settings.budget, midnight(zone)),
        known=keys.seen,
        redact=redacting(keys),
        background=background,
    )


def _background(db: Database, clock: Clock, redact: Callable[[str], str]) -> Background:
    """Build the supervisor of all loops; a failure is journalled and so reported to the owner."""

    async def report(state: LoopState) -> None:
        await db.write(events.note_loop_failure, state.name, redact(state.error), clock.now())

    return Background(clock.now, clock.sleep, report)


def _hearing(
    ground: AppContext,
    ids: Ids,
    fitted: ChannelRegistry,
    alike: SimilarTasks,
    model: QualifiedReader | None,
) -> tuple[ConversationIntake, Receiver]:
    """Build the contact book, the message reader, and the intake that creates tasks."""
    settings, db, clock = ground.settings, ground.db, ground.clock
    contacts = Contacts(
        settings.home / CONTACTS, settings.owner, _called(ground, fitted), settings.agent
    )
    ear = MessageReader(db, clock, ids, contacts, ground.zone, minds.reader(ground, model))
    is_slow = partial(minds.is_read_by_model, ground, model)
    receiver = Receiver(ear, db, clock, ids, is_slow)
    attentive = DuplicateAwareReceiver(receiver, alike.twin)
    intake = Intake(db, clock, ids, ground.channels, attentive, contacts.meant)
    return ConversationIntake(ground, intake, ear, contacts, is_slow), receiver


def _engine(ground: AppContext, ids: Ids, rooms: RunPorts) -> LocalEngine:
    limits = minds.patient(ground.settings)
    return LocalEngine(ground.db, ground.clock, ids, rooms, limits, ground.background)


def _repeater(ground: AppContext, ids: Ids, engine: LocalEngine) -> Repeater:
    rules = ground.settings.schedule
    made = Repeater(ground.db, ground.clock, ids, ground.background, rules, engine.heed)
    engine.settle_missed = made.settle_missed
    return made


def _thinks(brain: Brain) -> bool:
    """Whether a brain is set up."""
    return brain.ready if isinstance(brain, ModelBrain) else not isinstance(brain, NoBrain)


def _tools(
    ground: AppContext, intake: Intake, able: Sequence[UsableTool], alike: SimilarTasks
) -> Toolbox:
    """Build everything the brain may call: the owner's commands, built-in tools, and added ones."""
    settings = ground.settings
    own = kit.own(settings.tools, ground.db, intake.admit, settings.work, alike.finder.find)
    every: list[UsableTool] = [*minds.commands(settings), *own, *able]
    return Toolbox(every, minds.shelves(settings, ground.clock), ground.redact)


def _fitted(
    keys: ChannelSecrets, db: Database, clock: Clock, background: Background, keep: int
) -> ChannelRegistry:
    """Build the channels of the settings."""
    if not keys.chosen:
        return ChannelRegistry()
    from remit.channels import setup  # noqa: PLC0415 - loads what speaks HTTP, SMTP and IMAP

    return setup.build_channels(keys, db, clock, background, keep=keep)


def _rooms(
    ground: AppContext,
    tools: Toolbox,
    contacts: Contacts,
    fitted: ChannelRegistry,
    priority: PriorityFile,
    bench: CodeWorkPorts | None,
) -> RunPorts:
    db = ground.db
    kinds = {way.name: way.kind for way in fitted.ways}
    return RunPorts(
        planner=Planner(minds.scorer(ground), priority, ground.zone),
        recall=SessionRecall(db, summarise=minds.summariser(ground), zone=ground.zone),
        thinker=Thinker(
            ground.brain,
            ground.channels,
            minds.around(ground, contacts),
            tools=tools,
            states=lambda runs: db.read(sessions.states, runs),
            purse=ground.purse,
        ),
        verifier=Verifier(proof.checks(ground), ground.clock.now),
        courier=Courier(
            ground.channels, now=ground.clock.now, bounds=notices.send_limits(ground, contacts)
        ),
        known=GateSecrets(secrets=ground.known, echoes=_echoes(ground.channels)),
        tools=tools,
        bench=bench,
        agree=proof.ContractDrafter(ground, tools, kinds).draft,
        put_rule=partial(put_quiet, ground.settings.home / CONTACTS),
    )


def _called(ground: AppContext, fitted: ChannelRegistry) -> list[ChannelName]:
    """Every channel as the owner may call it: by its name, its kind, or a word of his own."""
    known = {way.name: ChannelName(way.name, way.kind, way.aliases) for way in fitted.ways}
    return [known.get(name, ChannelName(name, name)) for name in ground.channels]


def _echoes(channels: Mapping[str, Channel]) -> tuple[str, ...]:
    """Return the prompt texts that no deliverable may repeat."""
    return (*prompt.FIXED, *(channel.guidance for channel in channels.values()))
