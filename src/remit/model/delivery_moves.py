"""The transitions of a delivery, and what each answer makes of it.

This is the only definition. The store, the engine and the audit use it; a test compares the guards
in the store's SQL with it.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.model.delivery import (
    Accepted,
    Answer,
    Delivery,
    DeliveryStatus,
    Locked,
    Refused,
    SendRetry,
    Unknown,
)
from remit.model.review import ReviewAnswer


class DeliveryStep(StrEnum):
    """The steps that change a delivery's status."""

    CLAIM = "claim"  # a send begins; it is committed before the first byte leaves
    POST = "post"  # stored on the dashboard: sending and recording are one transaction
    SETTLE = "settle"  # the channel answered
    DOUBT = "doubt"  # the send was interrupted before its answer was recorded
    RESOLVE = "resolve"  # the channel looked it up, or it may not be sent at all
    DECIDE = "decide"  # the owner said what happened, or what to do


class DeliveryMove(Struct, frozen=True):
    """The statuses a step may start from, and those it may end in."""

    was: frozenset[DeliveryStatus]
    to: frozenset[DeliveryStatus]


_PENDING, _SENDING, _SENT, _REFUSED, _UNKNOWN = DeliveryStatus
_KNOWN: Final = frozenset({_SENT, _PENDING, _REFUSED})
DELIVERY_MOVES: Final[Mapping[DeliveryStep, DeliveryMove]] = {
    DeliveryStep.CLAIM: DeliveryMove(frozenset({_PENDING}), frozenset({_SENDING})),
    DeliveryStep.POST: DeliveryMove(frozenset({_PENDING}), frozenset({_SENT})),
    DeliveryStep.SETTLE: DeliveryMove(frozenset({_SENDING}), _KNOWN | {_UNKNOWN}),
    DeliveryStep.DOUBT: DeliveryMove(frozenset({_SENDING}), frozenset({_UNKNOWN})),
    DeliveryStep.RESOLVE: DeliveryMove(frozenset({_UNKNOWN, _PENDING}), _KNOWN),
    DeliveryStep.DECIDE: DeliveryMove(frozenset({_UNKNOWN}), _KNOWN),
}

# By the stored word of an answer. A locked account has not sent, like a retry.
STATUS_AFTER_ANSWER: Final[Mapping[str, DeliveryStatus]] = {
    "accepted": _SENT,
    "retry": _PENDING,
    "refused": _REFUSED,
    "unknown": _UNKNOWN,
}
# Any other decision leaves a delivery as it is.
STATUS_AFTER_DECISION: Final[Mapping[str, DeliveryStatus]] = {
    ReviewAnswer.ARRIVED: _SENT,
    ReviewAnswer.RESEND: _PENDING,
    ReviewAnswer.DROP: _REFUSED,
}


def answer_word(answer: Answer) -> str:
    """Return the word under which an answer is stored."""
    match answer:
        case Accepted():
            return "accepted"
        case SendRetry() | Locked():
            return "retry"
        case Refused():
            return "refused"
        case Unknown():  # pragma: no branch - there is no other
            return "unknown"


def status_after(answer: Answer) -> DeliveryStatus:
    return STATUS_AFTER_ANSWER[answer_word(answer)]


def after_answer(delivery: Delivery, answer: Answer, now: datetime | None = None) -> Delivery:
    """Return the delivery after an answer or a lookup."""
    status = status_after(answer)
    if isinstance(answer, Accepted):
        return replace(delivery, status=status, receipt=answer.ref, sent_at=now)
    doubted_at = now if isinstance(answer, Unknown) else delivery.doubted_at
    return replace(delivery, status=status, reason=answer.why, doubted_at=doubted_at)
