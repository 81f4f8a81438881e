"""Builds the app from settings."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TypeAlias
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from remit.brain import prompt
from remit.brain.models import ModelBrain
from remit.brain.think import NoBrain, Thinker
from remit.brain.tool import kit
from remit.brain.tools import Toolbox, UsableTool
from remit.channels.push.sending import PushNotifier
from remit.channels.registry import ChannelRegistry, ChannelSecrets
from remit.contacts.book import FILE as CONTACTS
from remit.contacts.book import Contacts
from remit.contacts.edit import put_quiet
from remit.contacts.permits import Permits
from remit.converse.talk import ConversationLoop
from remit.delivery.courier import Courier
from remit.delivery.notice_sender import NoticeSender
from remit.engine.deferred import Deferred
from remit.engine.leg_worker import IdleEngine
from remit.engine.local import LocalEngine
from remit.engine.loops import Leftovers
from remit.files.kept_files import KeptFiles
from remit.gate import GateSecrets
from remit.intake.admit import Intake
from remit.intake.exam.qualify import QualifiedReader
from remit.journal.follow import Journal
from remit.model.ids import Ids
from remit.owner import Owner
from remit.plan.draft import Planner
from remit.ports import Brain, Channel, Clock
from remit.recall.session import SessionRecall
from remit.review.ask import Inbox
from remit.run import RunPorts
from remit.run.attach import FileAttacher
from remit.run.rooms import CodeWorkPorts
from remit.run.send import approval_card
from remit.settings import Settings
from remit.specialist.worktree import Worktrees
from remit.store import sessions
from remit.store.database import Database
from remit.store.opening import task_files
from remit.store.redact import Redactor
from remit.system.background import Background
from remit.triggers.repeat import Repeater
from remit.verify.verdict import Verifier
from remit.wiring import minds, notices, proof
from remit.wiring.app_context import (
    AppContext,
    IntakeParts,
)
from remit.wiring.deferred import deferred
from remit.wiring.foundation import Foundation, laid
from remit.wiring.inbound_triggers import CalendarRegistry, InboundTriggers, OwnerDecisions
from remit.wiring.notices import NoticeParts, NoticePreferences, join
from remit.wiring.recall import SimilarTasks
from remit.wiring.reflection import PriorityFile, ReflectionLoop
from remit.wiring.section_tests import SectionTests
from remit.wiring.talk import ConversationIntake, OwnerOperations, talk

EngineClass: TypeAlias = type[LocalEngine] | None  # None: as the settings say


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
    section_tests: SectionTests  # tries the settings out

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
    async with (
        laid(settings, clock=clock, brain=brain, channels=channels) as base,
        AsyncExitStack() as stack,
    ):
        house = build(base, able)
        for close in reversed(closers(house)):
            stack.push_async_callback(close)
        yield house


def closers(house: App) -> tuple[Callable[[], Awaitable[None]], ...]:
    """Return what stops the parts that may have been started, the last started first."""
    return (
        house.leftovers.stop,
        house.deferred.stop,
        house.talk.stop,
        house.repeater.stop,
        house.tools.close,
        house.herald.close,
        house.reflection.close,
        house.doors.close,
        house.calendars.close,
    )


class _Work(Struct, frozen=True):
    """Specialists, deferred checks and reflection."""

    trees: Worktrees
    late: Deferred
    back: ReflectionLoop
    engine: LocalEngine
    courier: Courier


def _work(base: Foundation, tools: Toolbox, priority: PriorityFile, engine: EngineClass) -> _Work:
    ground, ids, contacts = base.ground, base.ids, base.contacts
    trees = minds.trees(ground)
    late = deferred(ground, ids, trees)
    bench = proof.bench(ground, trees, late)
    rooms = _rooms(ground, tools, contacts, base.fitted, priority, bench)
    back = ReflectionLoop(ground, ids, base.intake.admit, tools, contacts)
    reminded = rooms.recall.reminded(base.alike.reminders.of)
    read = base.receiver.read_pending
    rooms = replace(rooms, mirror=back.mirror, recall=reminded, read=read)
    base.ear.approve_by(partial(approval_card, rooms))
    return _Work(trees, late, back, _engine(ground, ids, rooms, engine), rooms.courier)


def build(base: Foundation, able: Sequence[UsableTool] = (), engine: EngineClass = None) -> App:
    """Build the whole app on its foundation; by default with the engine of the settings."""
    ground, ids, keys, admits = base.ground, base.ids, base.keys, base.intake
    db, clock, priority = ground.db, ground.clock, PriorityFile(ground.settings.home)
    work = _work(base, tools := _tools(ground, keys, admits, able, base.alike), priority, engine)
    decisions = OwnerDecisions(db, clock)
    notice_parts = join(ground, ids, work.courier, keys.kept.hide, decisions.buttons)
    ears = ConversationIntake(ground, base.intake, base.ear, base.contacts, base.is_slow)
    spoken = _talk(base, ears, notice_parts)
    house = decisions.house = App(
        settings=ground.settings,
        db=db,
        clock=clock,
        zone=ground.zone,
        ids=ids,
        journal=base.journal,
        intake=base.intake,
        inbox=base.inbox,
        owner=base.owner,
        permits=base.permits,
        engine=work.engine,
        tools=tools,
        repeater=_repeater(ground, ids, work.engine),
        talk=spoken,
        outfit=base.fitted,
        calendars=_calendars(base),
        doors=decisions.doors(ears, keys, spoken, base.inbox, base.journal),
        told=notice_parts,
        priority=priority,
        recollection=base.alike,
        reflection=work.back,
        deferred=work.late,
        leftovers=Leftovers(db, clock, work.trees, ground.background),
        background=ground.background,
        hide=keys.kept.hide,
        thinks=_thinks(ground.brain),
        model_reader=base.model,
        section_tests=SectionTests(ground.settings.home, clock),
    )
    return house


def _calendars(base: Foundation) -> CalendarRegistry:
    admit, keys = base.intake.admit, base.keys
    return CalendarRegistry(IntakeParts(base.ground, base.ids, admit, base.contacts, keys))


def _talk(
    base: Foundation, ears: ConversationIntake, notice_parts: NoticeParts
) -> ConversationLoop:
    ground = base.ground
    hands = OwnerOperations(ground, base.owner, base.inbox, base.intake)
    return talk(ground, base.ids, base.journal, ears, hands, notice_parts.tells)


def _engine(ground: AppContext, ids: Ids, rooms: RunPorts, kind: EngineClass) -> LocalEngine:
    limits = minds.patient(ground.settings)
    kind = kind or (IdleEngine if limits.is_shared else LocalEngine)
    return kind(ground.db, ground.clock, ids, rooms, limits, ground.background)


def _repeater(ground: AppContext, ids: Ids, engine: LocalEngine) -> Repeater:
    rules = ground.settings.schedule
    made = Repeater(ground.db, ground.clock, ids, ground.background, rules, engine.heed)
    engine.settle_missed = made.settle_missed
    return made


def _thinks(brain: Brain) -> bool:
    """Whether a brain is set up."""
    return brain.ready if isinstance(brain, ModelBrain) else not isinstance(brain, NoBrain)


def _tools(
    ground: AppContext,
    keys: ChannelSecrets,
    intake: Intake,
    able: Sequence[UsableTool],
    alike: SimilarTasks,
) -> Toolbox:
    """Build everything the brain may call: the owner's commands, built-in tools, and added ones."""
    settings = ground.settings
    web = minds.web_tools(ground, keys)
    kept, mind, find = (
        task_files(settings),
        ground.brain,
        alike.finder.find,
    )
    own = kit.own(
        settings.tools,
        ground.db,
        intake.admit,
        settings.work,
        kept=kept,
        find=find,
        web=web,
        sees=lambda: isinstance(mind, ModelBrain) and mind.sees_pictures,
    )
    every: list[UsableTool] = [*minds.commands(settings), *own, *able]
    return Toolbox(every, minds.shelves(settings, ground.clock), ground.redact)


def _rooms(
    ground: AppContext,
    tools: Toolbox,
    contacts: Contacts,
    fitted: ChannelRegistry,
    priority: PriorityFile,
    bench: CodeWorkPorts | None,
) -> RunPorts:
    db, kept = ground.db, task_files(ground.settings)
    kinds = {way.name: way.kind for way in fitted.ways}
    courier = _courier(ground, contacts, kept)
    known = GateSecrets(secrets=ground.known, echoes=_echoes(ground.channels))
    return RunPorts(
        planner=Planner(minds.scorer(ground), priority, ground.zone),
        recall=SessionRecall(db, summarise=minds.summariser(ground), zone=ground.zone),
        thinker=Thinker(
            ground.brain,
            ground.channels,
            minds.around(ground, contacts),
            tools=tools,
            states=lambda runs: db.read(sessions.states, runs),
            budget=ground.purse,
        ),
        verifier=Verifier(proof.checks(ground), ground.clock.now),
        courier=courier,
        known=known,
        attacher=FileAttacher(kept, ground.settings.work, courier, known),
        tools=tools,
        bench=bench,
        agree=proof.ContractDrafter(ground, tools, kinds).draft,
        put_rule=partial(put_quiet, ground.settings.home / CONTACTS),
        look=minds.change_watcher(ground).look,
        week_of_silence=minds.week_of_silence(ground),
    )


def _courier(ground: AppContext, contacts: Contacts, kept: KeptFiles) -> Courier:
    bounds, shared = notices.send_limits(ground, contacts), ground.settings.engine.is_shared
    return Courier(ground.channels, now=ground.clock.now, bounds=bounds, files=kept, shared=shared)


def _echoes(channels: Mapping[str, Channel]) -> tuple[str, ...]:
    """Return the prompt texts that no deliverable may repeat."""
    return (*prompt.FIXED, *(channel.guidance for channel in channels.values()))
