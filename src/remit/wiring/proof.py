"""Wires contracts, checks and critics, test debt, and the kinds of work that rules know."""

import asyncio
import hashlib
import os
import re
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from remit.brain.choose import ModelRole
from remit.brain.models import ModelBrain
from remit.brain.think import NoBrain
from remit.brain.tools import Toolbox
from remit.engine.deferred import Deferred
from remit.errors import BadInput, StepFailed
from remit.model import deferred
from remit.model.codec import from_json
from remit.model.contract import ChangedTest, Contract, Criterion, Evidence, Finding, Plan, Result
from remit.model.deferred import FAILED, FIXES, MOST_PATHS, DebtBook, DebtCause, project_of
from remit.model.reply import Prompt
from remit.model.task import Task
from remit.plan import activities, contract, written
from remit.plan.activities import Activities, RulesFile
from remit.plan.contract import ContractRequest, DraftedContract, OwedChecks
from remit.plan.files import mentioned_files
from remit.ports import Brain, Check
from remit.run.run_ports import CodeWorkPorts
from remit.settings import Settings, ToolSettings
from remit.settings.projects import ProjectSettings
from remit.specialist import chain, specialist_health, specialist_pool
from remit.specialist.specialist_pool import ProjectSpecialists, SpecialistPool, WorkResult
from remit.specialist.tree import Worktree
from remit.specialist.worktree import Worktrees
from remit.store import debts
from remit.store.read_only import open_read_only
from remit.verify import Verifier
from remit.verify.critic import Asked as Asking
from remit.verify.critic import BrainCritic, CheckWithCritic, CriticCheck, packaged_rubrics
from remit.verify.written import CHECKS
from remit.wiring import brain_parts
from remit.wiring.app_context import AppContext

if TYPE_CHECKING:
    from remit.verify.project import ProjectCommands

# Tools that read nothing from outside, or (the web) only where sources are asked for.
_OF_THE_APP: Final = frozenset(ToolSettings.__struct_fields__)
# A ticked line, or the empty box of an open one.
_BOXES: Final = re.compile(r"^[ \t]*[-*+][ \t]+\[[xX]\].*$|(?<=[-*+] )\[ \]", re.MULTILINE)
_LONG_CHARS: Final = 5_000  # longer texts are read in a thread
RULES: Final = "activities.yml"  # in the home's rules/, and in a project's .remit/


class ContractDrafter:
    """Drafts a task's contract: from the project's files, or from the words for a text."""

    def __init__(self, context: AppContext, tools: Toolbox, kinds: Mapping[str, str]) -> None:
        self._context = context
        self._debts = DebtRegistry(context)
        self._tools = tools
        self._kinds = kinds  # the kind of each channel

    async def draft(self, task: Task) -> DraftedContract:
        now = self._context.clock.now()
        if not specialist_pool.is_code(task):
            proofs = await self._proofs(task) if task.delivery else ()
            asked = ContractRequest(task.instructions, written=True, proofs=proofs)
            return contract.draft_contract(asked, activities.default_activities(), now)
        rules = await asyncio.to_thread(rules_of, self._context.settings, task)
        asked = await asyncio.to_thread(self._of_code, task)
        owed = await self._debts.owed(task, _files(task) or mentioned_files(task.instructions))
        return contract.draft_contract(replace(asked, owed=owed), rules, now)

    async def _proofs(self, task: Task) -> tuple[Criterion, ...]:
        if not self._context.settings.contracts.written:
            return ()
        clauses = task.request.clauses if task.request else ()
        kinds = [self._kinds.get(each.channel, each.channel) for each in task.delivery]
        asked = task.request.text if task.request else task.instructions
        can_read = await self._can_read(task, asked)
        read = partial(written.criteria, clauses=clauses, channels=kinds, can_read=can_read)
        if len(asked) < _LONG_CHARS:
            return read(_still_open(asked))
        return await asyncio.to_thread(lambda: read(_still_open(asked)))

    async def _can_read(self, task: Task, asked: str) -> bool:
        """Whether the work can read sources: with added tools, or the web if sources are wanted."""
        tools = {tool.name for tool in await self._tools.offered(task)}
        brain = self._context.brain
        calls_tools = not isinstance(brain, ModelBrain) or brain.has_tools
        web = "fetch" in tools and calls_tools and written.asks_for_sources(asked)
        return web or bool(tools - _OF_THE_APP)

    def _of_code(self, task: Task) -> ContractRequest:
        from remit.verify import project  # noqa: PLC0415 - for the few who have one

        chosen = self._context.settings.projects.get(_name(task))
        asks = chosen is not None and chosen.prompt_for_advisory
        if chosen is not None and not asks:
            place = Path(chosen.path).expanduser()
            asks = project.read_commands(place, environ=os.environ).prompt_for_advisory
        prd = bool(task.context.get("prd"))
        return ContractRequest(
            task.instructions, files=_files(task), prd=prd, prompt_for_advisory=asks
        )


def _still_open(asked: str) -> str:
    """Blank out ticked lines; everything else keeps its position."""
    return _BOXES.sub(lambda found: " " * len(found[0]), asked)


def rules_of(settings: Settings, task: Task) -> Activities:
    """Return the built-in rules with the owner's and the project's on top."""
    chosen = settings.projects.get(_name(task))
    return activities.load_activities(*rules_files(settings, chosen.path if chosen else None))


def rules_files(settings: Settings, project: str | None) -> list[RulesFile]:
    """Return the existing rule files: the owner's, and a project's."""
    places = [settings.home / "rules" / RULES]
    if project is not None:
        places.append(Path(project).expanduser() / ".remit" / RULES)
    return [RulesFile(str(each), each.read_text("utf-8")) for each in places if each.is_file()]


def text_checks(context: AppContext) -> dict[str, Check]:
    """Return every check of a text. With a model, a critic judges what code cannot."""
    mind = context.mind(ModelRole.THINK)
    brain = mind or (None if isinstance(context.brain, NoBrain | ModelBrain) else context.brain)
    if brain is None:
        return {**CHECKS, "critic": _Unread()}
    critic = BrainCritic(_asking(context, brain), partial(secrets.token_hex, 8))
    judged = {name: CheckWithCritic(each, critic) for name, each in CHECKS.items()}
    return {**(judged if mind else CHECKS), "critic": CriticCheck(critic, packaged_rubrics())}


def code_ports(context: AppContext, trees: Worktrees, late: Deferred) -> CodeWorkPorts | None:
    """Return the ports for code work; None without projects."""
    settings = context.settings
    if not settings.projects:
        return None
    people = brain_parts.specialists(context)
    shops = {
        name: ProjectSpecialists(
            str(Path(each.path).expanduser()),
            specialist_health.workers(name, settings.projects, people),
            each.lines,
        )
        for name, each in settings.projects.items()
    }
    limits = {name: float(each.time_limit) for name, each in settings.specialists.items()}
    clock, debts = context.clock, DebtRegistry(context)
    copies = context.db if settings.store.url else None
    table = SpecialistPool(shops, people, trees, clock, limits, copies)

    async def real(task: Task, plan: Plan, tree: Worktree, left: WorkResult) -> Contract:
        assert plan.contract is not None  # noqa: S101 - agreed on before
        diff = await table.diff(tree, left)
        rules = await asyncio.to_thread(activities_at, settings, tree)
        owed = await debts.owed(task, left.paths)
        return contract.reclassify(plan.contract, diff, left.paths, rules, clock.now(), owed)

    async def checks_of(task: Task, tree: Worktree, intended: tuple[ChangedTest, ...]) -> Verifier:
        return await verifier(context, task, tree, intended)

    return CodeWorkPorts(table, checks_of, real, context.moment, late.put_off, debts.owe)


def activities_at(settings: Settings, tree: Worktree) -> Activities:
    """Return the rules of the owner's folder; changes the work made to them do not count."""
    return activities.load_activities(*rules_files(settings, tree.checkout))


async def verifier(
    context: AppContext,
    task: Task,
    tree: Worktree,
    intended: tuple[ChangedTest, ...] = (),
    *,
    merged: bool = False,
) -> Verifier:
    """Return the checks of one project, relative to the commit the work began from.

    `intended` are changed tests the owner confirmed. With `merged` there is no base: it is the
    owner's branch.
    """
    from remit.verify import command  # noqa: PLC0415 - for the few who have one
    from remit.verify.sandbox import Sandbox, SandboxLimits  # noqa: PLC0415
    from remit.verify.suite_runs import KEPT_RUNS, SuiteTerms  # noqa: PLC0415

    chosen = context.settings.projects[_name(task)]
    ways = await asyncio.to_thread(_read_ways, chosen, tree)
    sandbox = Sandbox(SandboxLimits(seconds=chosen.time_limit, memory=chosen.memory))
    agreed = {each.path: each.digest for each in intended}
    base, also = None if merged else tree.base, (f".remit/{RULES}",)
    excuses = FIXES not in task.context  # a fix must pass everything
    terms = SuiteTerms(base, _asked_to_change(task), also, agreed, excuses=excuses)
    kept, redact = context.settings.home / KEPT_RUNS, context.redact
    check = command.CommandCheck(
        ways, sandbox, context.clock, terms=terms, redact=redact, kept=kept
    )

    return Verifier(
        {**text_checks(context), **command.command_checks(check)}, context.clock.now, ways.lacks
    )


def _read_ways(chosen: ProjectSettings, tree: Worktree) -> "ProjectCommands":
    """Return how a project is checked, as it was when the work began."""
    from remit.verify import project  # noqa: PLC0415 - for the few who have one

    return project.read_commands(
        Path(tree.checkout),
        environ=os.environ,
        given=chosen.argvs,
        flaky=chosen.flaky,
        base=tree.base,
        workspace=Path(tree.folder),
    )


def _asked_to_change(task: Task) -> tuple[str, ...]:
    """Return the files the owner named: the work may change them, including tests.

    The text of a fix task comes from programs and names nothing for the owner.
    """
    if FIXES in task.context:
        return ()
    return tuple(escape(each) for each in (*_files(task), *mentioned_files(task.instructions)))


def _files(task: Task) -> tuple[str, ...]:
    given = task.context.get("files")
    return tuple(str(each) for each in given) if isinstance(given, list) else ()


class _Unread:
    """The critic when there is no model: it reports that and fails nobody."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task, criterion, evidence
        return Finding("critic", Result.SKIPPED, "no brain is set up that could read it")


def _asking(context: AppContext, brain: Brain) -> Asking:
    async def ask(task: Task, text: str) -> str | None:
        session = f"critic:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        try:
            reply = await brain_parts.think_for(task, context, brain, Prompt(text), session)
        except StepFailed:
            return ""  # counts as an unreadable answer
        return None if reply.ask is not None else reply.text

    return ask


def _name(task: Task) -> str:
    return (task.assigned_agent or "").removeprefix(specialist_pool.PREFIX)


def known_kinds(settings: Settings) -> Callable[[ProjectSettings], Collection[str]]:
    """Return a function that gives a project's kinds of work: its critics, advice, and text."""

    def known(project: ProjectSettings) -> Collection[str]:
        try:
            rules = activities.load_activities(*rules_files(settings, project.path))
        except (BadInput, OSError, UnicodeDecodeError):
            # Unreadable rules are reported where they are used; here nothing is doubted.
            return frozenset(project.chains)
        return rules.critics | {chain.ADVICE, chain.TEXT}

    return known


class DebtRegistry:
    """The debts of all projects; only time reduces them."""

    def __init__(self, context: AppContext) -> None:
        self._context = context

    async def owe(self, task: Task, paths: tuple[str, ...], owes: DebtCause, reason: str) -> int:
        """Record files that a task failed at; return how many."""
        kept, now = paths[:MOST_PATHS], self._context.clock.now()
        owed = (project_of(task), kept, task.id, owes, now)
        await self._context.db.write(debts.add, *owed, reason=reason)
        return len(kept)

    async def owed(self, task: Task, paths: Sequence[str]) -> OwedChecks:
        """Return the extra checks for a task that touches files, and why."""
        project, now = project_of(task), self._context.clock.now()
        book = await self._context.db.read(debts.book, project, now, task.id)
        chosen = self._context.settings.projects.get(project)
        asked = await asyncio.to_thread(_checks_owed, book, paths, chosen, now)
        failed, sentence = _to_mend(task)
        return OwedChecks((*failed, *asked.criteria), (*sentence, *asked.why))


def checks_in_rehearsal(
    settings: Settings, project: str, paths: Sequence[str], now: datetime
) -> OwedChecks:
    """Return the extra checks for a rehearsal, from the file."""
    with open_read_only(settings.database) as tx:
        book = debts.book(tx, project, now)
    return _checks_owed(book, paths, settings.projects.get(project), now)


def _checks_owed(
    book: DebtBook, paths: Sequence[str], project: ProjectSettings | None, now: datetime
) -> OwedChecks:
    wanted = deferred.extra_criteria(book, paths, now)
    if not wanted or project is None:
        return OwedChecks()
    has = tools_of(project)
    asked = tuple(each for each in wanted if has(each.activity))
    return OwedChecks(asked, deferred.debt_sentences(book, paths, now) if asked else ())


def tools_of(project: ProjectSettings) -> Callable[[str], bool]:
    """Return which activities a project has a tool for; others are not required."""
    from remit.verify import project as projects  # noqa: PLC0415 - for the few who have one
    from remit.verify.runners import MissingTool  # noqa: PLC0415

    place = Path(project.path).expanduser()
    ways = projects.read_commands(place, environ=os.environ, given=project.argvs)
    return lambda activity: not isinstance(ways.command_for(activity), MissingTool)


def _to_mend(task: Task) -> tuple[tuple[Criterion, ...], tuple[str, ...]]:
    """Return the criteria that a fix task must pass."""
    failed = task.context.get(FAILED)
    if FIXES not in task.context or not isinstance(failed, list):
        return (), ()
    found = tuple(from_json(Criterion, each) for each in failed)
    return found, (f"{', '.join(each.activity for each in found)} failed, so it must pass now",)
