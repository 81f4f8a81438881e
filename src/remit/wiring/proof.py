"""Wires contracts, checks and critics."""

import asyncio
import hashlib
import os
import re
import secrets
from collections.abc import Mapping
from functools import partial
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from remit.brain.choose import ModelRole
from remit.brain.models import ModelBrain
from remit.brain.no_brain import NoBrain
from remit.brain.tools import Toolbox
from remit.engine.deferred import Deferred
from remit.errors import StepFailed
from remit.model.contract import ChangedTest, Contract, Criterion, Evidence, Finding, Result
from remit.model.deferred import FIXES
from remit.model.plan import Plan
from remit.model.reply import Prompt
from remit.model.task import Task
from remit.plan import activities, contract, written
from remit.plan.activities import Activities, RulesFile
from remit.plan.contract import ContractRequest, DraftedContract
from remit.plan.files import mentioned
from remit.ports import Brain, Check
from remit.run.rooms import CodeWorkPorts
from remit.settings import Settings, ToolSettings
from remit.settings.projects import ProjectSettings
from remit.specialist import specialist_health, specialist_pool
from remit.specialist.specialist_pool import ProjectSpecialists, SpecialistPool, WorkResult
from remit.specialist.tree import Worktree
from remit.specialist.worktree import Worktrees
from remit.verify.critic import Asked as Asking
from remit.verify.critic import BrainCritic, CheckWithCritic, CriticCheck
from remit.verify.rubric import packaged
from remit.verify.verdict import Verifier
from remit.verify.written import CHECKS
from remit.wiring import workers
from remit.wiring.app_context import AppContext
from remit.wiring.debts import DebtRegistry

if TYPE_CHECKING:
    from remit.verify.project import ProjectCommands

# Tools that bring nothing of the world to read.
_OF_THE_HOUSE: Final = frozenset(ToolSettings.__struct_fields__)
# A line that is ticked, or the empty box of one that is not.
_BOXES: Final = re.compile(r"^[ \t]*[-*+][ \t]+\[[xX]\].*$|(?<=[-*+] )\[ \]", re.MULTILINE)
_LONG_CHARS: Final = 5_000  # of words whose reading would hold up the event loop
RULES: Final = "activities.yml"  # in the home's rules/, and in a project's .remit/


class ContractDrafter:
    """Drafts the contract of a task: by the files of its project, or by the words for a text."""

    def __init__(self, ground: AppContext, tools: Toolbox, kinds: Mapping[str, str]) -> None:
        self._ground = ground
        self._debts = DebtRegistry(ground)
        self._tools = tools
        self._kinds = kinds  # of what kind each channel is

    async def draft(self, task: Task) -> DraftedContract:
        now = self._ground.clock.now()
        if not specialist_pool.is_code(task):
            proofs = await self._proofs(task) if task.delivery else ()
            asked = ContractRequest(task.instructions, written=True, proofs=proofs)
            return contract.draft(asked, activities.default(), now)
        rules = await asyncio.to_thread(rules_of, self._ground.settings, task)
        asked = await asyncio.to_thread(self._of_code, task)
        owed = await self._debts.owed(task, _files(task) or mentioned(task.instructions))
        return contract.draft(replace(asked, owed=owed), rules, now)

    async def _proofs(self, task: Task) -> tuple[Criterion, ...]:
        if not self._ground.settings.contracts.written:
            return ()
        clauses = task.request.clauses if task.request else ()
        kinds = [self._kinds.get(each.channel, each.channel) for each in task.delivery]
        reads = {tool.name for tool in await self._tools.offered(task)} - _OF_THE_HOUSE
        asked = task.request.text if task.request else task.instructions
        read = partial(written.criteria, clauses=clauses, channels=kinds, can_read=bool(reads))
        if len(asked) < _LONG_CHARS:
            return read(_still_open(asked))
        return await asyncio.to_thread(lambda: read(_still_open(asked)))

    def _of_code(self, task: Task) -> ContractRequest:
        from remit.verify import project  # noqa: PLC0415 - for the few who have one

        chosen = self._ground.settings.projects.get(_name(task))
        asks = chosen is not None and chosen.prompt_for_advisory
        if chosen is not None and not asks:
            place = Path(chosen.path).expanduser()
            asks = project.read(place, environ=os.environ).prompt_for_advisory
        prd = bool(task.context.get("prd"))
        return ContractRequest(
            task.instructions, files=_files(task), prd=prd, prompt_for_advisory=asks
        )


def _still_open(asked: str) -> str:
    """The words without what is ticked in them already; all else keeps its place."""
    return _BOXES.sub(lambda found: " " * len(found[0]), asked)


def rules_of(settings: Settings, task: Task) -> Activities:
    """Our rules, with the owner's and then the project's on top."""
    chosen = settings.projects.get(_name(task))
    found = papers_of(settings, chosen.path if chosen else None)
    return activities.load(*found) if found else activities.default()


def papers_of(settings: Settings, project: str | None) -> list[RulesFile]:
    """The files of rules that there are besides ours: the owner's, and those of a project."""
    places = [settings.home / "rules" / RULES]
    if project is not None:
        places.append(Path(project).expanduser() / ".remit" / RULES)
    return [RulesFile(str(each), each.read_text("utf-8")) for each in places if each.is_file()]


def checks(ground: AppContext) -> dict[str, Check]:
    """Every check of a text. Where a model is set, it judges what code cannot decide."""
    mind = ground.mind(ModelRole.THINK)
    if mind is None:
        return {**CHECKS, "critic": _critic(ground)}
    critic = BrainCritic(_asking(ground, mind), _nonce)
    judged = {name: CheckWithCritic(each, critic) for name, each in CHECKS.items()}
    return {**judged, "critic": CriticCheck(critic, packaged())}


def bench(ground: AppContext, trees: Worktrees, late: Deferred) -> CodeWorkPorts | None:
    """Where code work is done, for who has a project."""
    settings = ground.settings
    if not settings.projects:
        return None
    people = workers.people(ground)
    shops = {
        name: ProjectSpecialists(
            str(Path(each.path).expanduser()),
            specialist_health.workers(name, settings.projects, people),
            each.lines,
        )
        for name, each in settings.projects.items()
    }
    limits = {name: float(each.time_limit) for name, each in settings.specialists.items()}
    clock, debts = ground.clock, DebtRegistry(ground)
    table = SpecialistPool(shops, people, trees, clock, limits)

    async def real(task: Task, plan: Plan, tree: Worktree, left: WorkResult) -> Contract:
        assert plan.contract is not None  # noqa: S101 - agreed on before
        diff = await table.diff(tree, left)
        rules = await asyncio.to_thread(activities_at, settings, tree)
        owed = await debts.owed(task, left.paths)
        return contract.reclassify(plan.contract, diff, left.paths, rules, clock.now(), owed)

    async def checks_of(task: Task, tree: Worktree, intended: tuple[ChangedTest, ...]) -> Verifier:
        return await verifier(ground, task, tree, intended)

    return CodeWorkPorts(table, checks_of, real, ground.moment, late.put_off, debts.owe)


def activities_at(settings: Settings, tree: Worktree) -> Activities:
    """The rules of the owner's own folder: what the work changed of them counts for nothing."""
    found = papers_of(settings, tree.checkout)
    return activities.load(*found) if found else activities.default()


async def verifier(
    ground: AppContext,
    task: Task,
    tree: Worktree,
    intended: tuple[ChangedTest, ...] = (),
    *,
    merged: bool = False,
) -> Verifier:
    """The checks of one project, held to the commit that the work began from.

    `intended` has the changed tests that the owner agreed to. Work that is `merged` is held to
    nothing but itself: it is the owner's branch.
    """
    from remit.verify import command  # noqa: PLC0415 - for the few who have one
    from remit.verify.limits import SandboxLimits  # noqa: PLC0415
    from remit.verify.sandbox import Sandbox  # noqa: PLC0415
    from remit.verify.suite_runs import KEPT_RUNS  # noqa: PLC0415
    from remit.verify.suite_terms import SuiteTerms  # noqa: PLC0415

    chosen = ground.settings.projects[_name(task)]
    ways = await asyncio.to_thread(_read_ways, chosen, tree)
    sandbox = Sandbox(SandboxLimits(seconds=chosen.time_limit, memory=chosen.memory))
    agreed = {each.path: each.digest for each in intended}
    base, also = None if merged else tree.base, (f".remit/{RULES}",)
    excuses = FIXES not in task.context  # what is to be mended has to pass
    terms = SuiteTerms(base, _asked_to_change(task), also, agreed, excuses=excuses)
    kept, redact = ground.settings.home / KEPT_RUNS, ground.redact
    check = command.CommandCheck(ways, sandbox, ground.clock, terms=terms, redact=redact, kept=kept)

    return Verifier({**checks(ground), **command.checks(check)}, ground.clock.now, ways.lacks)


def _read_ways(chosen: ProjectSettings, tree: Worktree) -> "ProjectCommands":
    """How a project is checked, as it was when the work began."""
    from remit.verify import project  # noqa: PLC0415 - for the few who have one

    return project.read(
        Path(tree.checkout),
        environ=os.environ,
        given=chosen.argvs,
        flaky=chosen.flaky,
        base=tree.base,
        workspace=Path(tree.folder),
    )


def _asked_to_change(task: Task) -> tuple[str, ...]:
    """The files that the owner himself named: whoever does the work may change them, tests too.

    What stands in a task that mends something was said by programs, and names nothing for him.
    """
    if FIXES in task.context:
        return ()
    return tuple(escape(each) for each in (*_files(task), *mentioned(task.instructions)))


def _files(task: Task) -> tuple[str, ...]:
    given = task.context.get("files")
    return tuple(str(each) for each in given) if isinstance(given, list) else ()


class _Unread:
    """Nobody is there who could read it; that is said, and held against nobody."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task, criterion, evidence
        return Finding("critic", Result.SKIPPED, "no brain is set up that could read it")


def _critic(ground: AppContext) -> Check:
    brain = ground.brain
    if isinstance(brain, NoBrain | ModelBrain):  # a model that is ready was chosen before
        return _Unread()
    return CriticCheck(BrainCritic(_asking(ground, brain), _nonce), packaged())


def _asking(ground: AppContext, brain: Brain) -> Asking:
    async def ask(task: Task, text: str) -> str | None:
        session = f"critic:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        try:
            reply = await workers.think_for(task, ground, brain, Prompt(text), session)
        except StepFailed:
            return ""  # an answer that cannot be read
        return None if reply.ask is not None else reply.text

    return ask


def _nonce() -> str:
    return secrets.token_hex(8)


def _name(task: Task) -> str:
    return (task.assigned_agent or "").removeprefix(specialist_pool.PREFIX)
