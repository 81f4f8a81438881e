"""Who does code work: the specialists of the settings, and the brain where none is named."""

import os
import secrets
from functools import partial

from remit.brain.absent import NoBrain
from remit.brain.budget import Metered
from remit.model.ids import TaskId
from remit.model.reply import Ask, Prompt, Reply
from remit.ports import Specialist
from remit.settings.specialists import Kind
from remit.settings.specialists import Specialist as Chosen
from remit.specialist import process
from remit.specialist.command import CommandSpecialist
from remit.specialist.own import OwnSpecialist
from remit.specialist.worktree import Worktrees
from remit.store import tasks
from remit.wiring.ground import Ground

OWN = "brain"  # what the brain is called as a specialist, if the settings do not say otherwise


def people(ground: Ground) -> dict[str, Specialist]:
    """Every specialist there is, by name; the brain is one even if nobody named it."""
    found = {name: _one(name, each, ground) for name, each in ground.settings.specialists.items()}
    if OWN not in found and not isinstance(ground.brain, NoBrain):
        found[OWN] = OwnSpecialist(OWN, _Paying(ground))
    return found


class _Paying:
    """The brain, paid for what it thinks from the budget of the task that it works on."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        """`session` begins with the task, as `OwnSpecialist` says it."""
        brain, ground = self._ground.brain, self._ground
        if not (isinstance(brain, Metered) and brain.metered):
            return await brain.think(prompt, session=session)
        task = await ground.db.read(tasks.get, TaskId(session.partition(":")[0]))
        key = f"{session}:{task.round}:{task.lease}:{secrets.token_hex(8)}"
        estimate = await brain.estimate(prompt)
        think = partial(brain.think, prompt, session=session)
        thought = await ground.purse.pay(key, task, estimate, think)
        return Reply("", ask=thought) if isinstance(thought, Ask) else thought


def trees(ground: Ground) -> Worktrees:
    return Worktrees(ground.settings.home / "worktrees", os.environ)


def _one(name: str, chosen: Chosen, ground: Ground) -> Specialist:
    able = frozenset(chosen.capabilities)
    environ = process.environ_of(os.environ, chosen.env)
    match chosen.kind:
        case Kind.BRAIN:
            return OwnSpecialist(name, _Paying(ground), capabilities=able)
        case Kind.COMMAND:
            return CommandSpecialist(name, chosen.argv, capabilities=able, environ=environ)
        case Kind.ACP:
            from remit.specialist.acp import AcpSpecialist  # noqa: PLC0415 - the extra

            return AcpSpecialist(name, chosen.argv, capabilities=able, environ=environ)
