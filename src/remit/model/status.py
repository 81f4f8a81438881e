"""The statuses of a task, the moves between them, and who may make each move.

The table below is the only definition of the lifecycle. Tests compare the database trigger, the
documentation and the two published views with it.
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct


class Status(StrEnum):
    NEW = "new"  # stored, not yet ranked
    READY = "ready"  # may start once due
    RUNNING = "running"  # the brain works on it, or will try again
    VERIFYING = "verifying"  # checks compare the work with its contract
    DELIVERING = "delivering"  # the deliverable is being sent
    NEEDS_REVIEW = "needs_review"  # waits for the owner's answer
    PAUSED = "paused"  # the owner paused it
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Actor(StrEnum):
    INTAKE = "intake"
    PRIORITISE = "prioritise"
    ENGINE = "engine"
    EXECUTOR = "executor"
    VERIFIER = "verifier"
    COURIER = "courier"
    REAPER = "reaper"
    META = "meta"
    OWNER = "owner"
    AGENT = "agent"  # a program acting for the owner: it has no row of its own in the table


class Reason(StrEnum):
    """Why a task needs the owner."""

    APPROVAL = "approval"
    INPUT = "input"
    AUTH = "auth"
    DELIVERABLE = "deliverable"
    VERIFICATION = "verification"
    AMBIGUOUS = "ambiguous"
    POISON = "poison"


class Move(Struct, frozen=True):
    was: Status
    to: Status
    by: frozenset[Actor]
    when: str


TERMINAL: Final = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})
ACTIVE: Final = frozenset({Status.RUNNING, Status.VERIFYING, Status.DELIVERING})
PAUSABLE: Final = frozenset({Status.NEW, Status.READY}) | ACTIVE


def _move(was: Status, to: Status, when: str, *by: Actor) -> Move:
    return Move(was, to, frozenset(by), when)


def _pauses() -> tuple[Move, ...]:
    order = [status for status in Status if status in PAUSABLE]
    stop = (_move(s, Status.PAUSED, "at a boundary, never mid-send", Actor.OWNER) for s in order)
    go_on = (_move(Status.PAUSED, s, "where it was", Actor.OWNER) for s in order)
    return (*stop, *go_on)


_S, _A = Status, Actor
MOVES: Final[tuple[Move, ...]] = (
    _move(_S.NEW, _S.READY, "ranked, every clause covered, no review open", _A.PRIORITISE),
    _move(_S.NEW, _S.CANCELLED, "not wanted", _A.OWNER, _A.META, _A.PRIORITISE),
    _move(_S.READY, _S.RUNNING, "due, slot free, lease taken", _A.ENGINE),
    _move(_S.READY, _S.DELIVERING, "pre-composed content from the owner", _A.ENGINE),
    _move(_S.READY, _S.CANCELLED, "not wanted", _A.OWNER, _A.META),
    _move(_S.RUNNING, _S.VERIFYING, "contract is verifiable or skip", _A.EXECUTOR),
    _move(_S.RUNNING, _S.DELIVERING, "valid deliverable, advisory or no contract", _A.EXECUTOR),
    _move(_S.RUNNING, _S.COMPLETED, "nothing to deliver", _A.EXECUTOR),
    _move(
        _S.RUNNING,
        _S.NEEDS_REVIEW,
        "a human must look; a decline called back",
        *(_A.EXECUTOR, _A.REAPER, _A.OWNER),
    ),
    _move(_S.RUNNING, _S.FAILED, "permanent error, attempts used up", _A.EXECUTOR),
    _move(_S.RUNNING, _S.CANCELLED, "after the owner's request", _A.EXECUTOR),
    _move(_S.VERIFYING, _S.DELIVERING, "every criterion passed", _A.VERIFIER),
    _move(_S.VERIFYING, _S.COMPLETED, "every criterion passed", _A.VERIFIER),
    _move(_S.VERIFYING, _S.RUNNING, "failed, fixes left", _A.VERIFIER),
    _move(_S.VERIFYING, _S.NEEDS_REVIEW, "fixes used up, or poison", _A.VERIFIER, _A.REAPER),
    _move(_S.VERIFYING, _S.CANCELLED, "after the owner's request", _A.EXECUTOR),
    _move(_S.DELIVERING, _S.COMPLETED, "every delivery sent", _A.COURIER),
    _move(_S.DELIVERING, _S.FAILED, "one definitely refused", _A.COURIER),
    _move(
        _S.DELIVERING,
        _S.NEEDS_REVIEW,
        "ambiguous, or not allowed; a decision called back",
        *(_A.COURIER, _A.REAPER, _A.OWNER),
    ),
    _move(_S.DELIVERING, _S.CANCELLED, "request and something unsent", _A.COURIER),
    _move(_S.NEEDS_REVIEW, _S.RUNNING, "approved, answered, sent back", _A.OWNER),
    _move(_S.NEEDS_REVIEW, _S.DELIVERING, "approved, edited, it arrived, send again", _A.OWNER),
    _move(_S.NEEDS_REVIEW, _S.CANCELLED, "declined", _A.OWNER),
    *_pauses(),
    _move(_S.PAUSED, _S.CANCELLED, "not wanted", _A.OWNER),
)

BY_PAIR: Final = {(move.was, move.to): move for move in MOVES}
ALLOWED: Final = {
    status: frozenset(move.to for move in MOVES if move.was is status) for status in Status
}
