"""Wires the models (the brain and each smaller role), tools, and specialists for code work."""

import os
import secrets
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from remit.brain import prompt
from remit.brain.budget import MeteredBrain
from remit.brain.choose import ModelRole
from remit.brain.command import PREFIX, CommandTool
from remit.brain.mcp_tools import McpToolSource
from remit.brain.models import ModelBrain, PaidBrain, Summariser
from remit.brain.prompt import GUIDELINES_FILE, GuidelinesFile
from remit.brain.score import ModelScorer
from remit.brain.think import NoBrain, ThinkContext
from remit.brain.web_tools import WebTools
from remit.contacts.book import Contacts
from remit.errors import BadInput
from remit.model.ids import TaskId
from remit.model.reply import Ask, Prompt, Reply
from remit.model.task import Task
from remit.ports import Brain, Clock, Specialist
from remit.settings import EngineSettings, Settings
from remit.settings.projects import SpecialistKind, SpecialistSettings
from remit.specialist import process
from remit.specialist.brain_specialist import OwnSpecialist
from remit.specialist.process import (
    CommandSpecialist,
    ProgramSandbox,
    SandboxPermissions,
    SpecialistProgram,
    Wrap,
    sandbox_home,
)
from remit.specialist.specialist_pool import DEFAULT_TIME_LIMIT_SECONDS
from remit.specialist.worktree import Worktrees
from remit.store import series, tasks
from remit.triggers.change_watch import ChangeWatcher
from remit.wiring.app_context import AppContext

_CHECKS: Final = 30  # checks of one piece of work, one after the other
_SPARE: Final = 60  # extra seconds to end after an own limit


def engine_settings(settings: Settings) -> EngineSettings:
    """Return engine settings with a step limit that covers slow but healthy work.

    A local model serves one request at a time, and specialists and checks have their own limits.
    """
    engine, brain = settings.engine, settings.brain
    limits = [engine.step_limit]
    if brain.kind == "local":
        limits.append(brain.time_limit * engine.parallel)
    if settings.projects:
        works = [
            DEFAULT_TIME_LIMIT_SECONDS,
            *(each.time_limit for each in settings.specialists.values()),
        ]
        checks = [each.time_limit * _CHECKS for each in settings.projects.values()]
        limits.append(max(*works, *checks) + _SPARE)
    return replace(engine, step_limit=max(limits))


def scorer(context: AppContext) -> ModelScorer | None:
    """Return the model that scores urgency, if the settings ask for it."""
    if not context.settings.priority.score or not isinstance(context.brain, ModelBrain):
        return None
    mind = context.brain.as_role(ModelRole.SCORE)
    return ModelScorer(mind, context.db, context.clock, context.budget)


def summariser(context: AppContext) -> Summariser | None:
    """Return the model that summarises older runs; None: code does it."""
    mind = context.mind(ModelRole.SUMMARISE)
    return Summariser(PaidBrain(mind, context.budget, context.clock)) if mind else None


def think_context(context: AppContext) -> ThinkContext:
    settings, clock, zone = context.settings, context.clock, context.zone
    guidelines = GuidelinesFile(settings.home / GUIDELINES_FILE)
    return ThinkContext(
        _introduction(settings),
        lambda: clock.now().astimezone(zone),
        guidelines,
        context.redact,
        lambda: _reachable(context.contacts),
    )


def _reachable(contacts: Contacts) -> tuple[prompt.Reachable, ...]:
    """Return who can be reached on which channel, by name."""
    try:
        book = contacts.book()
    except BadInput:
        return ()  # recipients are then asked about
    return tuple(
        prompt.Reachable(
            way.name, way.kind, tuple(p.name for p in book.contacts if way.name in p.channels)
        )
        for way in book.channels
    )


def _introduction(settings: Settings) -> str:
    owner = "your owner" if settings.owner == "you" else settings.owner
    return f"You are {settings.agent}, and you work for {owner}."


def commands(settings: Settings) -> list[CommandTool]:
    """Return the owner's commands as tools; the engine's step limit is slightly longer."""
    return [
        CommandTool(
            name,
            command,
            work=settings.work,
            environ=os.environ,
            limit=settings.engine.step_limit * 0.95,
        )
        for name, command in settings.commands.items()
    ]


def web_tools(context: AppContext) -> WebTools:
    """Return the tools that read the web, with the key of the search provider."""
    chosen = context.settings.web
    return WebTools(chosen, context.db, context.keys.token(chosen.key))


def change_watcher(context: AppContext) -> ChangeWatcher:
    """Return what looks for changes before a model is woken."""
    named = {
        each.tool.name.removeprefix(PREFIX): each.output for each in commands(context.settings)
    }
    return ChangeWatcher(context.db, context.settings.web, named)


def week_of_silence(context: AppContext) -> Callable[[Task], Awaitable[bool]] | None:
    """Return what tells whether a series was silent for a week, if the settings want a note."""

    async def silent(task: Task) -> bool:
        last_message = await context.db.read(series.last_told, task)
        return context.clock.now() - last_message >= timedelta(days=7)

    return silent if context.settings.schedule.still_watching else None


def mcp_sources(settings: Settings, clock: Clock) -> list[McpToolSource]:
    """Return the MCP servers of the settings; none is started before it is needed."""
    folder = settings.home / "mcp"
    return [
        McpToolSource(name, chosen, folder=folder, environ=os.environ, clock=clock)
        for name, chosen in settings.mcp.items()
    ]


OWN = "brain"  # the brain's name as a specialist, if the settings give no other


def specialists(context: AppContext) -> dict[str, Specialist]:
    """Return every specialist by name; the brain is one even if not listed."""
    found = {
        name: _build_specialist(name, each, context)
        for name, each in context.settings.specialists.items()
    }
    if OWN not in found and not isinstance(context.brain, NoBrain):
        found[OWN] = OwnSpecialist(OWN, _Paying(context))
    return found


class _Paying:
    """The brain, paid from the budget of the task it works on."""

    def __init__(self, context: AppContext) -> None:
        self._context = context

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        """Ask the brain; `session` begins with the task id, as `OwnSpecialist` builds it."""
        context = self._context
        task = await context.db.read(tasks.get, TaskId(session.partition(":")[0]))
        return await think_for(task, context, context.brain, prompt, session)


async def think_for(
    task: Task, context: AppContext, brain: Brain, prompt: Prompt, session: str
) -> Reply:
    """Ask a brain at a task's cost; over its budget, the reply is a question."""
    if not (isinstance(brain, MeteredBrain) and brain.metered):
        return await brain.think(prompt, session=session)
    key = f"{task.id}:{session}:{task.round}:{task.lease}:{secrets.token_hex(8)}"
    estimate = await brain.estimate(prompt)
    think = partial(brain.think, prompt, session=session)
    thought = await context.budget.pay(key, task, estimate, think)
    return Reply("", ask=thought) if isinstance(thought, Ask) else thought


def trees(context: AppContext) -> Worktrees:
    return Worktrees(context.settings.home / "worktrees", os.environ)


def _build_specialist(name: str, chosen: SpecialistSettings, context: AppContext) -> Specialist:
    able = frozenset(chosen.capabilities)
    if chosen.kind is SpecialistKind.BRAIN:
        return OwnSpecialist(name, _Paying(context), capabilities=able)
    home = sandbox_home(os.environ.get("HOME", ""))
    environ = process.program_environ(os.environ, chosen.env)
    wrap: Wrap = process.no_sandbox
    if chosen.sandbox:
        environ |= {"HOME": str(home)}
        wrap = ProgramSandbox(
            name, _leave(name, chosen, context.settings.home), home=home, sees=_sees(context)
        )
    program = SpecialistProgram(name, chosen.argv, environ, able, wrap)
    if chosen.kind is SpecialistKind.COMMAND:
        return CommandSpecialist(program)
    from remit.specialist.acp import AcpSpecialist  # noqa: PLC0415 - the extra

    return AcpSpecialist(program)


def _leave(name: str, chosen: SpecialistSettings, app: Path) -> SandboxPermissions:
    reads, writes = (
        tuple(Path(each).expanduser() for each in places)
        for places in (chosen.reads, chosen.writes)
    )
    for each in (*reads, *writes):
        if app.is_relative_to(each) or each.is_relative_to(app):
            raise BadInput(
                f"[specialists.{name}] is lent {each}, and Remit's own directory is there; "
                "nobody who works for it sees that."
            )
    return SandboxPermissions(chosen.network, reads, writes)


def _sees(context: AppContext) -> Callable[[str], Sequence[Path] | None]:
    """Return a function that finds a program and the folders that it needs to run."""

    def sees(program: str) -> Sequence[Path] | None:
        from remit.verify.project_files import Toolchain  # noqa: PLC0415 - for the few who have one

        tools = Toolchain(context.settings.home, os.environ)
        found = tools.find(program)
        if found is None:
            return None
        shown = (each.folder for each in tools.needed_folders(found) if each.folder == each.place)
        return (found, found.resolve(), *shown)

    return sees
