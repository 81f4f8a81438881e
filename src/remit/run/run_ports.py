"""The ports that a run uses, and the values passed between them."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from remit.brain.think import Thinker
from remit.brain.tools import Toolbox
from remit.delivery.courier import Courier
from remit.gate import Author, GateSecrets
from remit.model.contract import ChangedTest, Contract, Plan
from remit.model.deferred import DebtCause
from remit.model.recurrence import WatchLook
from remit.model.review import ContactRule
from remit.model.task import Task
from remit.plan import Planner
from remit.plan.contract import DraftedContract
from remit.recall import SessionRecall
from remit.reflect import Reflector
from remit.run.attach import FileAttacher
from remit.specialist.specialist_pool import SpecialistPool, WorkResult
from remit.specialist.tree import Worktree
from remit.verify import Verifier


class GatedText(Struct, frozen=True):
    """A text that passed the gate, and its author."""

    text: str
    author: Author
    asks_first: bool = False  # whether approval is needed even for the owner


Agree: TypeAlias = Callable[[Task], Awaitable[DraftedContract]]
# The contract for the actual changes: never weaker than the one before.
Real: TypeAlias = Callable[[Task, Plan, Worktree, WorkResult], Awaitable[Contract]]

# Stores what is checked on merged work when its group ends: the branch and the files.
PutOff: TypeAlias = Callable[[Task, str, tuple[str, ...]], Awaitable[int]]
# Records debt for files whose tests failed, or that were accepted unproven with a reason.
Owe: TypeAlias = Callable[[Task, tuple[str, ...], DebtCause, str], Awaitable[int]]

# Writes a contact rule into the contact book; returns what applies now.
PutRule: TypeAlias = Callable[[ContactRule], Awaitable[str]]


class CodeWorkPorts(Struct, frozen=True):
    """Where code work is done, and how it is checked against its base commit."""

    specialists: SpecialistPool
    verifier: Callable[[Task, Worktree, tuple[ChangedTest, ...]], Awaitable[Verifier]]
    real: Real
    now: Callable[[], Awaitable[datetime]]
    put_off: PutOff
    owe: Owe


class RunPorts(Struct, frozen=True):
    planner: Planner
    recall: SessionRecall
    thinker: Thinker
    verifier: Verifier
    courier: Courier
    known: GateSecrets = field(default_factory=GateSecrets)
    tools: Toolbox = field(default_factory=Toolbox)
    code_ports: CodeWorkPorts | None = None  # for code work on projects
    agree: Agree | None = None  # drafts a contract for work that came without one
    mirror: Reflector | None = None  # runs reflection
    read: Callable[[Task], Awaitable[None]] | None = None  # reads the words of a stored message
    put_rule: PutRule | None = None  # writes a contact rule
    look: Callable[[Task], Awaitable[WatchLook]] | None = None  # looks at what a task watches
    attacher: FileAttacher | None = None  # freezes the files that a text names
    week_of_silence: Callable[[Task], Awaitable[bool]] | None = None  # whether a note is due

    async def plan(self, task: Task) -> Plan:
        """Return what to work on and the contract. A contract given by the owner stays."""
        plan = await self.planner.draft(task)
        if self.agree is None or plan.contract is not None or plan.composed:
            return plan
        drafted = await self.agree(task)
        contract, unsure, notice = drafted.contract, drafted.unsure, drafted.notice
        return replace(plan, contract=contract, unsure=unsure, notice=notice)
