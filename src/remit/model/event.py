"""Events: what happened, in the past tense, each linked to the one before by a hash."""

import hashlib
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.model.status import Actor


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
    return hashlib.sha256(previous + "\x1f".join(map(str, row)).encode()).digest()
