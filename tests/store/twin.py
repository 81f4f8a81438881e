"""A stored task beside what the lifecycle model says it should be."""

from dataclasses import dataclass, field
from datetime import datetime

from remit.model.delivery import DeliveryStatus
from remit.model.ids import ReviewId, TaskId
from remit.model.status import MOVES, TERMINAL, Actor, Reason, Status
from remit.model.task import Task
from remit.model.view import s3_status, s4_status
from remit.store.queue import POISON, ClaimedTask
from tests.model.lifecycle_checks import S3_EDGES, S4_EDGES
from tests.model.lifecycle_model import _after
from tests.model.lifecycle_situations import SITUATIONS, Config, Situation

ROWS = frozenset((move.was, move.to, by) for move in MOVES for by in move.by)
OPEN_ENDED = (Status.NEW, Status.READY, Status.PAUSED)


@dataclass
class Twin:
    """The model's configuration, and what the model leaves out: leases, requests, times."""

    id: TaskId
    config: Config
    due_at: datetime  # before it nothing happens by itself
    claim: ClaimedTask | None = None  # the leg that holds it
    review: ReviewId | None = None  # the question that is open
    pausing: bool = False  # the owner's request, until a boundary comes
    hiding: bool = False  # to be deleted once it has ended
    crashes: int = 0
    doubts: int = 0  # deliveries whose result is unknown
    torn: bool = False  # its process died mid-send, and no leg has recorded it yet
    attempt: int = 0
    seen: Task | None = None  # as it stood after the last step
    happened: set[Situation] = field(default_factory=set)

    @property
    def ended(self) -> bool:
        return self.config.status in TERMINAL

    def may(self, name: str, to: Status | None = None) -> bool:
        return bool(self._enabled(name, to))

    def happens(self, name: str, to: Status | None = None) -> None:
        """Let the model make the store's move; it must be a known one."""
        found = self._enabled(name, to)
        assert len(found) == 1, f"the model has {len(found)} ways for {name!r} from {self.config}"
        (why,) = found
        assert not why.moves or why.row in ROWS, f"the table has no row for {why.row}"
        self.config = _after(self.config, why)
        self.happened.add(why)

    def adjust(self, **changes: object) -> None:
        """Set what the model counts differently."""
        self.config = self.config._replace(**changes)  # type: ignore[arg-type]

    def leg_ends(self) -> None:
        """The lease is released, and the owner's request is handled."""
        self.claim, self.crashes, self.pausing = None, 0, False
        self.settled()

    def settled(self) -> None:
        """Apply what follows from an end: hidden if requested, and nothing interrupted."""
        if self.ended:
            self.pausing = False
            self.review = None
            if self.torn:
                self.torn, self.doubts = False, self.doubts + 1
            if self.hiding:
                self.adjust(deleted=True)

    def crash(self) -> None:
        """Its process is gone; what was being sent is unknown."""
        self.claim = None
        poison = self.crashes + 1 >= POISON and not self.config.cancel
        self.crashes += 1
        if self.config.sending:
            self.torn = True
            self.adjust(sending=False, unknown=True)
        if poison:
            self.adjust(tries=0)
            self.happens("crashes again and again")
            self.pausing = False
        elif not self.config.cancel:
            self.adjust(tries=1)
            self.happens("tries again")

    def differences(self, task: Task) -> list[str]:
        """Return where the store and the model differ."""
        config, alive = self.config, not self.ended
        count = [delivery.status for delivery in task.delivery].count
        pairs: dict[str, tuple[object, object]] = {
            "status": (task.status, config.status),
            "resume_to": (task.resume_to, config.resume_to),
            "reason": (task.reason, config.reason),
            "cancel_requested": (task.cancel_requested, alive and config.cancel),
            "pause_requested": (task.pause_requested, self.pausing),
            "deleted": (task.deleted_at is not None, config.deleted),
            "completed_at": (task.completed_at is not None, self.ended),
            "crashes": (task.crashes, self.crashes),
            "unsent": (count(DeliveryStatus.PENDING), config.unsent),
            "sending": (count(DeliveryStatus.SENDING), int(config.sending or self.torn)),
            "unknown": (count(DeliveryStatus.UNKNOWN), self.doubts),
            "refused": (count(DeliveryStatus.REFUSED) > 0, config.refused),
        }
        return [
            f"{name}: the store says {ours}, the model {theirs}"
            for name, (ours, theirs) in pairs.items()
            if ours != theirs
        ]

    def _enabled(self, name: str, to: Status | None) -> list[Situation]:
        return [
            why
            for why in SITUATIONS
            if (why.name, why.was) == (name, self.config.status)
            and to in (None, why.to)
            and why.when(self.config)
        ]


def unlawful(before: Task, after: Task, by: Actor) -> list[str]:
    """Return which published view makes a step that its own table does not have."""
    first, second = (s3_status(before), s3_status(after)), (s4_status(before), s4_status(after))
    found = []
    if first[0] != first[1] and first not in S3_EDGES:
        found.append(f"S3 knows no way from {first[0]} to {first[1]}")
    if second[0] != second[1] and by not in S4_EDGES.get(second, set()):
        found.append(f"S4 knows no way from {second[0]} to {second[1]} by {by}")
    return found


def questions(config: Config) -> list[tuple[str, Reason, Status]]:
    """Return what may be asked in this state: the model's name, why, and where it resumes."""
    match config.status:
        case Status.RUNNING:
            plain = (Reason.APPROVAL, Reason.INPUT, Reason.AUTH)
            found = [(f"asks for {reason}", reason, Status.RUNNING) for reason in plain]
            to = Status.RUNNING if config.checked else Status.DELIVERING
            held = ("the deliverable is held", Reason.DELIVERABLE, to)
            return [*found, held] if config.unsent else found
        case Status.VERIFYING:
            to = Status.DELIVERING if config.unsent else Status.RUNNING
            return [] if config.fixes else [("fails, no fixes left", Reason.VERIFICATION, to)]
        case Status.DELIVERING if config.unsent and not config.sending:
            stops = (Reason.APPROVAL, Reason.AUTH, Reason.DELIVERABLE)
            return [(f"may not go out: {why}", why, Status.DELIVERING) for why in stops]
        case _:
            return []
