"""A task, its source, how it moves, and what the owner may change before it begins."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, TypedDict, Unpack

from msgspec import Struct, field
from msgspec.structs import replace

from remit.errors import IllegalMove
from remit.model.codec import JsonMap
from remit.model.contract import (
    UNPROVEN,
    Contract,
    Gap,
    ItemStatus,
    OwnerRequest,
    Plan,
    RankingRule,
    Verdict,
    WorkItem,
)
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import SeriesId, SessionId, TaskId
from remit.model.recurrence import Repeats
from remit.model.status import ALLOWED, BY_PAIR, TERMINAL, Actor, Reason, Status
from remit.model.task_file import TaskFile
from remit.model.veto import Condition, ConditionKind, VetoCue


class TaskType(StrEnum):
    SCHEDULED = "scheduled"
    IMMEDIATE = "immediate"


class SourceKind(StrEnum):
    CALDAV = "caldav"
    CONVERSATION = "conversation"
    WEBHOOK = "webhook"
    MANUAL = "manual"
    EMAIL = "email"
    WHATSAPP = "whatsapp"
    AGENT = "agent"


class Creator(StrEnum):
    SCHEDULER = "scheduler"
    USER = "user"
    AGENT = "agent"


class Taint(StrEnum):
    """The least trusted author a task has read."""

    OWNER = "owner"
    CONTACT = "contact"
    PUBLIC = "public"

    def joined(self, other: "Taint") -> "Taint":
        """The less trusted of the two."""
        return self if _TRUST[self] >= _TRUST[other] else other


_TRUST: Final = {taint: place for place, taint in enumerate(Taint)}


def worst_taint(taints: Iterable[Taint]) -> Taint:
    """Return the least trusted of some authors; the owner, if there is none."""
    return max(taints, key=_TRUST.__getitem__, default=Taint.OWNER)


class Priority(StrEnum):
    LOW = "low"
    MED = "med"
    HIGH = "high"
    CRITICAL = "critical"


class Source(Struct, frozen=True):
    """Where a cue came from. The same kind and ref twice is the same task."""

    kind: SourceKind
    ref: str


class TaskBudget(Struct, frozen=True):
    """Tokens and money (in cents); None: no limit."""

    tokens: int | None = None
    cents: int | None = None


class Cue(Struct, frozen=True, kw_only=True):
    """What a trigger saw, before anyone decided that it is work."""

    source: Source
    title: str
    text: str
    instructions: str | None = None
    work: tuple[WorkItem, ...] = ()
    delivery: tuple[Delivery, ...] = ()
    contract: Contract | None = None
    context: JsonMap = field(default_factory=dict)
    priority: Priority | None = None
    scheduled_for: datetime | None = None
    repeats: Repeats | None = None
    session_id: SessionId | None = None
    series_id: SeriesId | None = None
    slot: datetime | None = None  # its slot in the series; it may be in the past
    retry_of: TaskId | None = None
    assigned_agent: str | None = None
    created_by: Creator = Creator.USER
    taint: Taint = Taint.OWNER
    veto: tuple[VetoCue, ...] = ()  # words that hold it back from everybody but the owner
    conditions: tuple[Condition, ...] = ()  # limits that the owner set
    said_at: datetime | None = None  # when the request came in, if that may be long ago


class PendingReading(Struct, frozen=True, kw_only=True):
    """Arguments given with a message that a model has yet to read."""

    priority: Priority | None = None
    scheduled_for: datetime | None = None
    repeats: Repeats | None = None
    home: str | None = None
    said_at: datetime | None = None
    conditions: tuple[Condition, ...] = ()


class RunFindings(TypedDict, total=False):
    """What a run found out about its task."""

    work: tuple[WorkItem, ...] | None
    tool_output: str | None
    contract: Contract | None
    verdict: Verdict | None
    taint: Taint | None
    spent: TaskBudget | None
    files: tuple[TaskFile, ...] | None


class Task(Struct, frozen=True, kw_only=True):
    id: TaskId
    type: TaskType
    source: Source
    title: str
    instructions: str
    status: Status = Status.NEW
    created_at: datetime
    last_updated: datetime
    created_by: Creator
    session_id: SessionId
    request: OwnerRequest | None = None
    gaps: tuple[Gap, ...] = ()
    repeats: Repeats | None = None
    work: tuple[WorkItem, ...] = ()
    delivery: tuple[Delivery, ...] = ()
    contract: Contract | None = None
    verdict: Verdict | None = None
    context: JsonMap = field(default_factory=dict)
    priority: Priority = Priority.LOW
    rule: RankingRule | None = None
    reason: Reason | None = None
    resume_to: Status | None = None
    series_id: SeriesId | None = None
    slot: datetime | None = None
    assigned_agent: str | None = None
    taint: Taint = Taint.OWNER
    veto: tuple[VetoCue, ...] = ()  # words that hold it back from everybody but the owner
    conditions: tuple[Condition, ...] = ()  # limits that the owner set
    pending_reading: PendingReading | None = None  # its words are stored, but not read yet
    budget: TaskBudget = TaskBudget()
    spent: TaskBudget = TaskBudget(0, 0)
    result_summary: str | None = None
    tool_output: str | None = None
    scheduled_for: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    retry_of: TaskId | None = None
    notes: tuple[str, ...] = ()  # the owner's later answers and corrections, and what checks found
    files: tuple[TaskFile, ...] = ()  # what came in with it, and what its messages carry
    cancel_requested: bool = False
    pause_requested: bool = False
    deleted_at: datetime | None = None
    seen_at: datetime | None = None  # when the owner looked at its end
    round: int = 0  # raised when the work is done again
    lease: int = 0  # raised by every claim
    attempts: int = 0  # failed attempts in this round
    crashes: int = 0  # legs that ended with their process

    def move(self, to: Status, by: Actor) -> "Task":
        """Return the task after a legal move by this actor, or raise.

        A pause remembers the status; before asking the owner, set `reason` and `resume_to`.
        """
        self.check_move(to, by)
        if to is Status.NEEDS_REVIEW:
            return replace(self, status=to)
        resume_to = self.status if to is Status.PAUSED else None
        return replace(self, status=to, reason=None, resume_to=resume_to)

    def check_move(self, to: Status, by: Actor) -> None:
        move = BY_PAIR.get((self.status, to))
        if move is None or not self._back_where_it_was(to):
            raise IllegalMove(self.id, self.status, to, self.allowed)
        if by not in move.by:
            # If the status itself is allowed, the actor is what is wrong; say so.
            whose = " or ".join(sorted(move.by))
            not_so = f"{to} by the {by}: that is for the {whose}"
            raise IllegalMove(self.id, self.status, not_so, self.allowed)

    @property
    def allowed(self) -> frozenset[Status]:
        """The statuses this task may move to: a paused one only to where it was, or to its end."""
        return frozenset(to for to in ALLOWED[self.status] if self._back_where_it_was(to))

    def keeping(self, **found: Unpack[RunFindings]) -> "Task":
        """The task with what a run found out; what is None stays as it was."""
        new = {name: value for name, value in found.items() if value is not None}
        if (taint := found.get("taint")) is not None:
            new["taint"] = self.taint.joined(taint)
        if files := found.get("files"):
            new["files"] = tuple(dict.fromkeys((*self.files, *files)))
        return replace(self, **new)

    def with_parts(self, whole: Delivery, parts: Sequence[Delivery]) -> "Task":
        """Return the task with one delivery replaced by its parts."""
        cut = [
            part for each in self.delivery for part in (parts if each.id == whole.id else (each,))
        ]
        return replace(self, delivery=tuple(cut))

    def ticked(self, done: Collection[int]) -> "Task":
        """Return the task with some work items done, counted from 1."""
        work = tuple(
            WorkItem(item.description, ItemStatus.COMPLETED) if n in done else item
            for n, item in enumerate(self.work, 1)
        )
        return replace(self, work=work)

    @property
    def plan(self) -> Plan:
        looks_up = bool(self.only_if)
        return Plan(self.work, self.delivery, self.contract, conditional=looks_up)

    @property
    def only_if(self) -> tuple[Condition, ...]:
        """The conditions that must hold at each run before something goes to other people."""
        if not any(each.recipient is not None for each in self.delivery):
            return ()
        return tuple(each for each in self.conditions if each.kind is ConditionKind.ONLY_IF)

    @property
    def quiet(self) -> Condition | None:
        """The owner's words that a run may end without a message; only for the owner's tasks."""
        if any(each.recipient is not None for each in self.delivery):
            return None
        return next((each for each in self.conditions if each.kind is ConditionKind.QUIET), None)

    @property
    def watch(self) -> Condition | None:
        """Where each run looks first, to end without a model if nothing changed."""
        return next((each for each in self.conditions if each.kind is ConditionKind.WATCH), None)

    @property
    def was_silent(self) -> bool:
        """Whether it is completed without a message, as the owner had allowed."""
        allowed = self.quiet is not None or self.watch is not None
        unsent = all(each.status is DeliveryStatus.PENDING for each in self.delivery)
        return self.status is Status.COMPLETED and allowed and unsent and bool(self.delivery)

    @property
    def owner_notes(self) -> tuple[str, ...]:
        """What the owner said since it began."""
        return tuple(note for note in self.notes if not note.startswith(UNPROVEN))

    @property
    def check_notes(self) -> tuple[str, ...]:
        """What the checks of earlier rounds found. It may quote what a brain wrote."""
        return tuple(note for note in self.notes if note.startswith(UNPROVEN))

    @property
    def ended(self) -> bool:
        return self.status in TERMINAL

    @property
    def in_doubt(self) -> bool:
        """Whether one of its messages may have been sent without a record."""
        return any(each.in_doubt for each in self.delivery)

    @property
    def log_path(self) -> str:
        """The path of its log, derived from the id and never taken from outside."""
        return f"tasks/logs/{self.id}.jsonl"

    def _back_where_it_was(self, to: Status) -> bool:
        return self.status is not Status.PAUSED or to in (self.resume_to, Status.CANCELLED)


class Edit(Struct, frozen=True, kw_only=True):
    """Changes to a task; a field that is None stays as it is."""

    title: str | None = None
    instructions: str | None = None
    scheduled_for: datetime | None = None
    priority: Priority | None = None
    delivery: tuple[Delivery, ...] | None = None

    @property
    def is_empty(self) -> bool:
        return self == Edit()
