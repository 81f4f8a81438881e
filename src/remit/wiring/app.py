"""Builds the app from settings."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias

from msgspec import structs
from msgspec.structs import replace

from remit.brain import prompt, task_tools
from remit.brain.models import ModelBrain
from remit.brain.think import NoBrain, Thinker
from remit.brain.tools import Toolbox, UsableTool
from remit.channels.push import PushNotifier
from remit.contacts.book import FILE as CONTACTS
from remit.contacts.edit import put_quiet
from remit.converse import ConversationLoop
from remit.delivery.courier import Courier
from remit.delivery.notice_sender import NoticeSender
from remit.engine.deferred import Deferred, Leftovers
from remit.engine.leg_worker import IdleEngine
from remit.engine.local import LocalEngine
from remit.errors import RemitError
from remit.gate import GateSecrets
from remit.model.contract import Evidence, Finding, Result
from remit.model.deferred import DeferredBatch, DueCriterion
from remit.model.ids import TaskId
from remit.plan import Planner
from remit.ports import Brain, Channel, Clock
from remit.recall import SessionRecall
from remit.run import RunPorts
from remit.run.attach import FileAttacher
from remit.run.run_ports import CodeWorkPorts
from remit.run.send import approval_card
from remit.settings import Settings
from remit.specialist.tree import Worktree
from remit.specialist.worktree import Worktrees
from remit.store import sessions, tasks
from remit.store.opening import task_files
from remit.store.redact import Redactor
from remit.triggers.repeat import Repeater
from remit.verify import Verifier
from remit.wiring import brain_parts, notices, proof
from remit.wiring.app_context import AppContext
from remit.wiring.foundation import Foundation, open_foundation
from remit.wiring.inbound_triggers import CalendarRegistry, InboundTriggers, OwnerDecisions
from remit.wiring.notices import NoticePreferences, build_notices
from remit.wiring.reflection import PriorityFile, ReflectionLoop
from remit.wiring.section_tests import SectionTests
from remit.wiring.talk import build_conversation

EngineClass: TypeAlias = type[LocalEngine] | None  # None: as the settings say


class App(Foundation, frozen=True):
    """The whole application, built from settings."""

    engine: LocalEngine
    tools: Toolbox
    repeater: Repeater
    talk: ConversationLoop
    calendars: CalendarRegistry  # calendars that start work
    doors: InboundTriggers  # work that comes in from others
    wishes: NoticePreferences  # what the owner wants to be told, and how
    push: PushNotifier  # web push while no page is open
    herald: NoticeSender  # sends notices to the owner
    priority: PriorityFile  # the rules that rank tasks
    reflection: ReflectionLoop  # reflection and its file versions
    deferred: Deferred  # checks that run when their group ends
    leftovers: Leftovers  # worktrees of ended tasks
    section_tests: SectionTests  # tries the settings out

    @property
    def hide(self) -> Redactor:
        """The filter that removes secrets from the log."""
        return self.keys.kept.hide

    @property
    def thinks(self) -> bool:
        """Whether a brain is set up."""
        brain = self.brain
        return brain.ready if isinstance(brain, ModelBrain) else not isinstance(brain, NoBrain)


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
        open_foundation(settings, clock=clock, brain=brain, channels=channels) as base,
        AsyncExitStack() as stack,
    ):
        app = build(base, able)
        for close in reversed(closers(app)):
            stack.push_async_callback(close)
        yield app


def closers(app: App) -> tuple[Callable[[], Awaitable[None]], ...]:
    """Return what stops the parts that may have been started, the last started first."""
    return (
        app.leftovers.stop,
        app.deferred.stop,
        app.talk.stop,
        app.repeater.stop,
        app.tools.close,
        app.herald.close,
        app.reflection.close,
        app.doors.close,
        app.calendars.close,
    )


def build(base: Foundation, able: Sequence[UsableTool] = (), engine: EngineClass = None) -> App:
    """Build the whole app on its foundation; by default with the engine of the settings."""
    priority, tools = PriorityFile(base.settings.home), _tools(base, able)
    trees, reflection = brain_parts.trees(base), ReflectionLoop(base, base.intake.admit, tools)
    late = _build_deferred(base, trees)
    ports = _rooms(base, tools, priority, proof.code_ports(base, trees, late))
    ports = replace(ports, mirror=reflection.mirror)
    base.ear.approve_by(partial(approval_card, ports))
    runs = _engine(base, ports, engine)
    decisions = OwnerDecisions(base.db, base.clock)
    notice_parts = build_notices(base, ports.courier, decisions.buttons)
    spoken = build_conversation(base, notice_parts.tells)
    app = decisions.app = App(
        **structs.asdict(base),
        engine=runs,
        tools=tools,
        repeater=_repeater(base, runs),
        talk=spoken,
        calendars=CalendarRegistry(base, base.intake.admit),
        doors=InboundTriggers(base, spoken.receive, decisions.buttons),
        wishes=notice_parts.wishes,
        push=notice_parts.push,
        herald=notice_parts.herald,
        priority=priority,
        reflection=reflection,
        deferred=late,
        leftovers=Leftovers(base.db, base.clock, trees, base.background),
        section_tests=SectionTests(base.settings.home, base.clock),
    )
    return app


def _tools(base: Foundation, able: Sequence[UsableTool]) -> Toolbox:
    """Build everything the brain may call: the owner's commands, built-in tools, and added ones."""
    settings, brain = base.settings, base.brain
    own = task_tools.built_in_tools(
        settings.tools,
        base.db,
        base.intake.admit,
        settings.work,
        kept=task_files(settings),
        find=base.recollection.finder.find,
        web=brain_parts.web_tools(base),
        sees=lambda: isinstance(brain, ModelBrain) and brain.sees_pictures,
    )
    usable: list[UsableTool] = [*brain_parts.commands(settings), *own, *able]
    return Toolbox(usable, brain_parts.mcp_sources(settings, base.clock), base.redact)


def _rooms(
    base: Foundation, tools: Toolbox, priority: PriorityFile, code_ports: CodeWorkPorts | None
) -> RunPorts:
    settings, kept = base.settings, task_files(base.settings)
    kinds = {way.name: way.kind for way in base.outfit.ways}
    courier = Courier(
        base.channels,
        now=base.clock.now,
        bounds=notices.send_limits(base),
        files=kept,
        shared=settings.engine.is_shared,
    )
    known = GateSecrets(secrets=base.keys.seen, echoes=_echoes(base.channels))
    recall = SessionRecall(base.db, summarise=brain_parts.summariser(base), zone=base.zone)
    return RunPorts(
        planner=Planner(brain_parts.scorer(base), priority, base.zone),
        recall=recall.reminded(base.recollection.reminders.of),
        thinker=Thinker(
            base.brain,
            base.channels,
            brain_parts.think_context(base),
            tools=tools,
            states=lambda runs: base.db.read(sessions.states, runs),
            budget=base.budget,
        ),
        verifier=Verifier(proof.text_checks(base), base.clock.now),
        courier=courier,
        known=known,
        attacher=FileAttacher(kept, settings.work, courier, known),
        tools=tools,
        code_ports=code_ports,
        agree=proof.ContractDrafter(base, tools, kinds).draft,
        put_rule=partial(put_quiet, settings.home / CONTACTS),
        look=brain_parts.change_watcher(base).look,
        week_of_silence=brain_parts.week_of_silence(base),
        read=base.receiver.read_pending,
    )


def _echoes(channels: Mapping[str, Channel]) -> tuple[str, ...]:
    """Return the prompt texts that no deliverable may repeat."""
    return (*prompt.FIXED, *(channel.guidance for channel in channels.values()))


def _engine(context: AppContext, rooms: RunPorts, kind: EngineClass) -> LocalEngine:
    limits = brain_parts.engine_settings(context.settings)
    kind = kind or (IdleEngine if limits.is_shared else LocalEngine)
    return kind(context.db, context.clock, context.ids, rooms, limits, context.background)


def _repeater(context: AppContext, engine: LocalEngine) -> Repeater:
    rules = context.settings.schedule
    made = Repeater(context.db, context.clock, context.ids, context.background, rules, engine.heed)
    engine.settle_missed = made.settle_missed
    return made


def _build_deferred(context: AppContext, trees: Worktrees) -> Deferred:
    """Build the deferred checks, run on the branch the work was merged into."""

    async def check(batch: DeferredBatch, every: Sequence[DueCriterion]) -> tuple[Finding, ...]:
        try:
            return await _check_batch(context, trees, batch, every)
        except (RemitError, OSError) as trouble:
            return _unchecked_findings(every, str(trouble))

    return Deferred(context.db, context.clock, context.ids, context.zone, check, context.background)


async def _check_batch(
    context: AppContext, trees: Worktrees, batch: DeferredBatch, every: Sequence[DueCriterion]
) -> tuple[Finding, ...]:
    chosen = context.settings.projects.get(batch.project)
    if chosen is None:
        return _unchecked_findings(every, f"there is no project {batch.project} any more")
    waits = [each for due in every for each in due.waits]
    task = await context.db.read(tasks.get, waits[0].task_id)
    paths = tuple(dict.fromkeys(path for each in waits for path in each.paths))
    place = await asyncio.to_thread(lambda: str(Path(chosen.path).expanduser()))
    async with _open_branch(trees, place, task.id, batch.branch) as tree:
        verifier = await proof.verifier(context, task, tree, merged=True)
        evidence = Evidence("", workspace=tree.folder, changed=paths)
        return await verifier.late(task, [due.criterion for due in every], evidence)


def _unchecked_findings(every: Sequence[DueCriterion], why: str) -> tuple[Finding, ...]:
    """Return findings for checks that can no longer run; they count against nobody."""
    return tuple(
        Finding(each.criterion.activity, Result.SKIPPED, f"not checked: {why}") for each in every
    )


@asynccontextmanager
async def _open_branch(
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
