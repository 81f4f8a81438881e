"""Builds the app from settings."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from remit.brain import prompt, task_tools
from remit.brain.models import ModelBrain
from remit.brain.think import NoBrain, Thinker
from remit.brain.tools import Toolbox, UsableTool
from remit.channels.push import PushNotifier
from remit.channels.registry import ChannelRegistry
from remit.contacts.book import FILE as CONTACTS
from remit.contacts.edit import put_quiet
from remit.contacts.permits import Permits
from remit.converse.talk import ConversationLoop
from remit.delivery.courier import Courier
from remit.delivery.notice_sender import NoticeSender
from remit.engine.deferred import Deferred
from remit.engine.leg_worker import IdleEngine
from remit.engine.local import LocalEngine
from remit.engine.loops import Leftovers
from remit.errors import RemitError
from remit.gate import GateSecrets
from remit.intake.admit import Intake
from remit.intake.exam.qualify import QualifiedReader
from remit.journal.follow import Journal
from remit.model.contract import Evidence, Finding, Result
from remit.model.deferred import DeferredBatch, DueCriterion
from remit.model.ids import Ids, TaskId
from remit.owner import Owner
from remit.plan import Planner
from remit.ports import Brain, Channel, Clock
from remit.recall.session import SessionRecall
from remit.review.ask import Inbox
from remit.run import RunPorts
from remit.run.attach import FileAttacher
from remit.run.rooms import CodeWorkPorts
from remit.run.send import approval_card
from remit.settings import Settings
from remit.specialist.tree import Worktree
from remit.specialist.worktree import Worktrees
from remit.store import sessions, tasks
from remit.store.database import Database
from remit.store.opening import task_files
from remit.store.redact import Redactor
from remit.system.background import Background
from remit.triggers.repeat import Repeater
from remit.verify import Verifier
from remit.wiring import minds, notices, proof
from remit.wiring.app_context import AppContext
from remit.wiring.foundation import Foundation, laid
from remit.wiring.inbound_triggers import CalendarRegistry, InboundTriggers, OwnerDecisions
from remit.wiring.notices import NoticeParts, NoticePreferences, join
from remit.wiring.recall import SimilarTasks
from remit.wiring.reflection import PriorityFile, ReflectionLoop
from remit.wiring.section_tests import SectionTests
from remit.wiring.talk import talk

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
    wishes: NoticePreferences  # what the owner wants to be told, and how
    push: PushNotifier  # web push while no page is open
    herald: NoticeSender  # sends notices to the owner
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


def build(base: Foundation, able: Sequence[UsableTool] = (), engine: EngineClass = None) -> App:
    """Build the whole app on its foundation; by default with the engine of the settings."""
    ground, priority = base.ground, PriorityFile(base.ground.settings.home)
    tools = _tools(base, able)
    ports, trees, late, reflection = _work(base, tools, priority)
    runs = _engine(ground, ports, engine)
    decisions, notice_parts, spoken = _conversations(base, ports.courier)
    house = decisions.house = App(
        settings=ground.settings,
        db=ground.db,
        clock=ground.clock,
        zone=ground.zone,
        ids=ground.ids,
        journal=ground.journal,
        intake=base.intake,
        inbox=base.inbox,
        owner=base.owner,
        permits=base.permits,
        engine=runs,
        tools=tools,
        repeater=_repeater(ground, runs),
        talk=spoken,
        outfit=base.fitted,
        calendars=CalendarRegistry(ground, base.intake.admit),
        doors=InboundTriggers(base, spoken.receive, decisions.buttons),
        wishes=notice_parts.wishes,
        push=notice_parts.push,
        herald=notice_parts.herald,
        priority=priority,
        recollection=base.alike,
        reflection=reflection,
        deferred=late,
        leftovers=Leftovers(ground.db, ground.clock, trees, ground.background),
        background=ground.background,
        hide=ground.keys.kept.hide,
        thinks=_thinks(ground.brain),
        model_reader=base.model,
        section_tests=SectionTests(ground.settings.home, ground.clock),
    )
    return house


def _conversations(
    base: Foundation, courier: Courier
) -> tuple[OwnerDecisions, NoticeParts, ConversationLoop]:
    """Build what talks with the owner: buttons, notices, conversations."""
    decisions = OwnerDecisions(base.ground.db, base.ground.clock)
    notice_parts = join(base.ground, courier, decisions.buttons)
    return decisions, notice_parts, talk(base, notice_parts.tells)


def _work(
    base: Foundation, tools: Toolbox, priority: PriorityFile
) -> tuple[RunPorts, Worktrees, Deferred, ReflectionLoop]:
    """Build what runs a task, with code work, deferred checks and reflection."""
    ground = base.ground
    trees, reflection = minds.trees(ground), ReflectionLoop(ground, base.intake.admit, tools)
    late = _deferred(ground, trees)
    ports = _rooms(base, tools, priority, proof.bench(ground, trees, late))
    ports = replace(ports, mirror=reflection.mirror)
    base.ear.approve_by(partial(approval_card, ports))
    return ports, trees, late, reflection


def _tools(base: Foundation, able: Sequence[UsableTool]) -> Toolbox:
    """Build everything the brain may call: the owner's commands, built-in tools, and added ones."""
    ground, settings, brain = base.ground, base.ground.settings, base.ground.brain
    own = task_tools.own(
        settings.tools,
        ground.db,
        base.intake.admit,
        settings.work,
        kept=task_files(settings),
        find=base.alike.finder.find,
        web=minds.web_tools(ground),
        sees=lambda: isinstance(brain, ModelBrain) and brain.sees_pictures,
    )
    usable: list[UsableTool] = [*minds.commands(settings), *own, *able]
    return Toolbox(usable, minds.shelves(settings, ground.clock), ground.redact)


def _rooms(
    base: Foundation, tools: Toolbox, priority: PriorityFile, bench: CodeWorkPorts | None
) -> RunPorts:
    ground, settings = base.ground, base.ground.settings
    db, kept = ground.db, task_files(settings)
    kinds = {way.name: way.kind for way in base.fitted.ways}
    courier = Courier(
        ground.channels,
        now=ground.clock.now,
        bounds=notices.send_limits(ground),
        files=kept,
        shared=settings.engine.is_shared,
    )
    known = GateSecrets(secrets=ground.keys.seen, echoes=_echoes(ground.channels))
    recall = SessionRecall(db, summarise=minds.summariser(ground), zone=ground.zone)
    return RunPorts(
        planner=Planner(minds.scorer(ground), priority, ground.zone),
        recall=recall.reminded(base.alike.reminders.of),
        thinker=Thinker(
            ground.brain,
            ground.channels,
            minds.around(ground),
            tools=tools,
            states=lambda runs: db.read(sessions.states, runs),
            budget=ground.budget,
        ),
        verifier=Verifier(proof.checks(ground), ground.clock.now),
        courier=courier,
        known=known,
        attacher=FileAttacher(kept, settings.work, courier, known),
        tools=tools,
        bench=bench,
        agree=proof.ContractDrafter(ground, tools, kinds).draft,
        put_rule=partial(put_quiet, settings.home / CONTACTS),
        look=minds.change_watcher(ground).look,
        week_of_silence=minds.week_of_silence(ground),
        read=base.receiver.read_pending,
    )


def _echoes(channels: Mapping[str, Channel]) -> tuple[str, ...]:
    """Return the prompt texts that no deliverable may repeat."""
    return (*prompt.FIXED, *(channel.guidance for channel in channels.values()))


def _engine(ground: AppContext, rooms: RunPorts, kind: EngineClass) -> LocalEngine:
    limits = minds.patient(ground.settings)
    kind = kind or (IdleEngine if limits.is_shared else LocalEngine)
    return kind(ground.db, ground.clock, ground.ids, rooms, limits, ground.background)


def _repeater(ground: AppContext, engine: LocalEngine) -> Repeater:
    rules = ground.settings.schedule
    made = Repeater(ground.db, ground.clock, ground.ids, ground.background, rules, engine.heed)
    engine.settle_missed = made.settle_missed
    return made


def _thinks(brain: Brain) -> bool:
    """Whether a brain is set up."""
    return brain.ready if isinstance(brain, ModelBrain) else not isinstance(brain, NoBrain)


def _deferred(ground: AppContext, trees: Worktrees) -> Deferred:
    """Build the deferred checks, run on the branch the work was merged into."""

    async def check(batch: DeferredBatch, every: Sequence[DueCriterion]) -> tuple[Finding, ...]:
        try:
            return await _checked(ground, trees, batch, every)
        except (RemitError, OSError) as trouble:
            return _unchecked(every, str(trouble))

    return Deferred(ground.db, ground.clock, ground.ids, ground.zone, check, ground.background)


async def _checked(
    ground: AppContext, trees: Worktrees, batch: DeferredBatch, every: Sequence[DueCriterion]
) -> tuple[Finding, ...]:
    chosen = ground.settings.projects.get(batch.project)
    if chosen is None:
        return _unchecked(every, f"there is no project {batch.project} any more")
    waits = [each for due in every for each in due.waits]
    task = await ground.db.read(tasks.get, waits[0].task_id)
    paths = tuple(dict.fromkeys(path for each in waits for path in each.paths))
    place = await asyncio.to_thread(lambda: str(Path(chosen.path).expanduser()))
    async with _standing(trees, place, task.id, batch.branch) as tree:
        verifier = await proof.verifier(ground, task, tree, merged=True)
        evidence = Evidence("", workspace=tree.folder, changed=paths)
        return await verifier.late(task, [due.criterion for due in every], evidence)


def _unchecked(every: Sequence[DueCriterion], why: str) -> tuple[Finding, ...]:
    """Return findings for checks that can no longer run; they count against nobody."""
    return tuple(
        Finding(each.criterion.activity, Result.SKIPPED, f"not checked: {why}") for each in every
    )


@asynccontextmanager
async def _standing(
    trees: Worktrees, place: str, task_id: TaskId, branch: str
) -> AsyncIterator[Worktree]:
    """Open the current branch in a folder of Remit; nothing of the owner's is touched."""
    base = f"refs/heads/{branch}"
    # A dead process may have left an older state of the branch there.
    await trees.remove(await trees.open(place, task_id, base))
    tree = await trees.open(place, task_id, base)
    try:
        yield tree
    finally:
        await trees.remove(tree)
