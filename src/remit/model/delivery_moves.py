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
    """What can happen to a delivery."""

    CLAIM = "claim"  # a send begins; it is committed before the first byte leaves
    POST = "post"  # it is put on the dashboard: sent and written down are one transaction
    SETTLE = "settle"  # the channel answered
    DOUBT = "doubt"  # the send was cut before its answer was written down
    RESOLVE = "resolve"  # the channel found out what became of it, or it may not go out at all
    DECIDE = "decide"  # the owner said what became of it, or what shall


class DeliveryMove(Struct, frozen=True):
    """From which statuses a step may start, and where it may end."""

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

# By the word under which an answer is kept. A locked account has not sent, like a retry.
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
    """The word under which an answer is kept."""
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
    """A delivery once what its channel answered, or found out, is written down."""
    status = status_after(answer)
    if isinstance(answer, Accepted):
        return replace(delivery, status=status, receipt=answer.ref, sent_at=now)
    doubted_at = now if isinstance(answer, Unknown) else delivery.doubted_at
    return replace(delivery, status=status, reason=answer.why, doubted_at=doubted_at)
