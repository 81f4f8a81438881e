"""A run, which is one leg of a task: its holder, its steps, its outcome and its events."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.model.codec import JsonMap, sha256
from remit.model.ids import RunId, TaskId, WorkerId
from remit.model.review import Review
from remit.model.status import Actor


class Lease(Struct, frozen=True):
    """The right to move a task; a higher number ends all lower ones."""

    task_id: TaskId
    number: int
    worker: WorkerId
    run_id: RunId


class Run(Struct, frozen=True):
    id: RunId
    task_id: TaskId
    lease: int
    worker: WorkerId
    started_at: datetime
    ended_at: datetime | None = None
    outcome: str | None = None
    note: str | None = None


class Done(Struct, frozen=True):
    summary: str
    quiet: bool = False  # nobody is told, because the owner asked for that
    still_watching: bool = False  # but after a week of silence one note says that it runs


class Wait(Struct, frozen=True):
    review: Review


class Retry(Struct, frozen=True):
    """Try again later; `anew` discards this round's steps, and says what was wrong."""

    why: str
    after: float | None = None
    anew: bool = False


class Later(Struct, frozen=True):
    """Nothing failed and nobody is asked: check again after this many seconds."""

    why: str
    after: float


class Fail(Struct, frozen=True):
    why: str


Outcome = Done | Wait | Retry | Later | Fail


def first_line(text: str) -> str:
    """Return the first line of a text, shortened for a list of tasks."""
    lines = text.strip().splitlines() or [""]
    return lines[0] if len(lines[0]) <= 200 else lines[0][:197] + "..."  # noqa: PLR2004


class EventKind(StrEnum):
    TASK_CREATED = "task.created"
    TASK_MOVED = "task.moved"
    TASK_UPDATED = "task.updated"
    RUN_STARTED = "run.started"
    RUN_ENDED = "run.ended"
    RUN_SAID = "run.said"
    STEP_DONE = "step.done"
    DELIVERY_CLAIMED = "delivery.claimed"
    DELIVERY_SETTLED = "delivery.settled"
    DELIVERY_SPLIT = "delivery.split"
    DELIVERY_REPORTED = "delivery.reported"
    REVIEW_OPENED = "review.opened"
    REVIEW_DECIDED = "review.decided"
    TURN_SAID = "turn.said"
    STORE_RESTORED = "store.restored"
    PERMISSION_GIVEN = "permission.given"
    CHANNEL_OFF = "channel.off"
    CHANNEL_ON = "channel.on"
    CALENDAR_NOTED = "calendar.noted"
    RULES_CHANGED = "rules.changed"
    LOOP_FAILED = "loop.failed"


GENESIS: Final = bytes(32)


class NewEvent(Struct, frozen=True):
    """An event to append; the journal assigns its place."""

    kind: EventKind
    actor: Actor
    data: JsonMap


class Event(Struct, frozen=True):
    seq: int  # in the whole journal, without gaps
    task_id: TaskId | None
    n: int  # within its task, without gaps
    kind: EventKind
    actor: Actor
    at: datetime
    data: JsonMap
    hash: str


def chain(previous: bytes, row: tuple[object, ...]) -> bytes:
    """Return the hash that links a row to everything before it.

    The data is the last part, and no earlier part can contain the separator, so two different rows
    never give the same input.
    """
    return sha256(previous + "\x1f".join(map(str, row)).encode())
