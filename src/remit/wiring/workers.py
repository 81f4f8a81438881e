"""Wires code work: the specialists of the settings, or the brain if none is named."""

import os
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from remit.brain.budget import MeteredBrain
from remit.brain.no_brain import NoBrain
from remit.errors import BadInput
from remit.model.ids import TaskId
from remit.model.reply import Ask, Prompt, Reply
from remit.model.task import Task
from remit.ports import Brain, Specialist
from remit.settings.specialists import SpecialistKind, SpecialistSettings
from remit.specialist import process
from remit.specialist.brain_specialist import OwnSpecialist
from remit.specialist.command import CommandSpecialist
from remit.specialist.process import SpecialistProgram, Wrap
from remit.specialist.program_sandbox import ProgramSandbox, SandboxPermissions, home_for
from remit.specialist.worktree import Worktrees
from remit.store import tasks
from remit.wiring.app_context import AppContext

OWN = "brain"  # the brain's name as a specialist, if the settings give no other


def people(ground: AppContext) -> dict[str, Specialist]:
    """Return every specialist by name; the brain is one even if not listed."""
    found = {name: _one(name, each, ground) for name, each in ground.settings.specialists.items()}
    if OWN not in found and not isinstance(ground.brain, NoBrain):
        found[OWN] = OwnSpecialist(OWN, _Paying(ground))
    return found


class _Paying:
    """The brain, paid from the budget of the task it works on."""

    def __init__(self, ground: AppContext) -> None:
        self._ground = ground

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        """Ask the brain; `session` begins with the task id, as `OwnSpecialist` builds it."""
        ground = self._ground
        task = await ground.db.read(tasks.get, TaskId(session.partition(":")[0]))
        return await think_for(task, ground, ground.brain, prompt, session)


async def think_for(
    task: Task, ground: AppContext, brain: Brain, prompt: Prompt, session: str
) -> Reply:
    """Ask a brain at a task's cost; over its budget, the reply is a question."""
    if not (isinstance(brain, MeteredBrain) and brain.metered):
        return await brain.think(prompt, session=session)
    key = f"{task.id}:{session}:{task.round}:{task.lease}:{secrets.token_hex(8)}"
    estimate = await brain.estimate(prompt)
    think = partial(brain.think, prompt, session=session)
    thought = await ground.purse.pay(key, task, estimate, think)
    return Reply("", ask=thought) if isinstance(thought, Ask) else thought


def trees(ground: AppContext) -> Worktrees:
    return Worktrees(ground.settings.home / "worktrees", os.environ)


def _one(name: str, chosen: SpecialistSettings, ground: AppContext) -> Specialist:
    able = frozenset(chosen.capabilities)
    if chosen.kind is SpecialistKind.BRAIN:
        return OwnSpecialist(name, _Paying(ground), capabilities=able)
    home = home_for(os.environ.get("HOME", ""))
    environ = process.environ_of(os.environ, chosen.env)
    wrap: Wrap = process.bare
    if chosen.sandbox:
        environ |= {"HOME": str(home)}
        wrap = ProgramSandbox(
            name, _leave(name, chosen, ground.settings.home), home=home, sees=_sees(ground)
        )
    program = SpecialistProgram(name, chosen.argv, environ, able, wrap)
    if chosen.kind is SpecialistKind.COMMAND:
        return CommandSpecialist(program)
    from remit.specialist.acp import AcpSpecialist  # noqa: PLC0415 - the extra

    return AcpSpecialist(program)


def _leave(name: str, chosen: SpecialistSettings, house: Path) -> SandboxPermissions:
    reads, writes = (
        tuple(Path(each).expanduser() for each in places)
        for places in (chosen.reads, chosen.writes)
    )
    for each in (*reads, *writes):
        if house.is_relative_to(each) or each.is_relative_to(house):
            raise BadInput(
                f"[specialists.{name}] is lent {each}, and Remit's own directory is there; "
                "nobody who works for it sees that."
            )
    return SandboxPermissions(chosen.network, reads, writes)


def _sees(ground: AppContext) -> Callable[[str], Sequence[Path] | None]:
    """Where a program lies, and what it must see to run."""

    def sees(program: str) -> Sequence[Path] | None:
        from remit.verify.toolchain import Toolchain  # noqa: PLC0415 - for the few who have one

        tools = Toolchain(ground.settings.home, os.environ)
        found = tools.find(program)
        if found is None:
            return None
        shown = (each.folder for each in tools.needed_folders(found) if each.folder == each.place)
        return (found, found.resolve(), *shown)

    return sees
