"""What a review is about: which rule asks, and what would be sent where."""

import json
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from remit.model.codec import from_json
from remit.model.delivery import DeliveryStatus
from remit.model.permit import Permission
from remit.model.review import FIX, INTENDED, LESSON, MERGE, RESTORED, SEND, Review
from remit.model.status import Reason, Status
from remit.model.task import Task


class ApprovalRule(Struct, frozen=True):
    """The rule that asks, by name, and what it says."""

    name: str
    says: str


class SendTarget(Struct, frozen=True):
    """Where a message would go: the channel, the recipient, and the address that was shown."""

    channel: str
    recipient: str | None = None  # None: the owner
    address: str | None = None


_ABOUT: Final[Mapping[str, ApprovalRule]] = {
    SEND: ApprovalRule("send-to-person", "A message to a person needs your yes."),
    "call": ApprovalRule("use-a-tool", "This tool is used only with your yes."),
    MERGE: ApprovalRule("merge", "What others wrote comes into your folder only with your yes."),
    INTENDED: ApprovalRule("intended", "Tests that judge the work change only with your yes."),
    FIX: ApprovalRule("fix", "What was checked last failed; it is mended only with your yes."),
    LESSON: ApprovalRule("lesson", "Your rules and guidelines change only with your yes."),
    RESTORED: ApprovalRule(
        "restored", "What may have run before a restore runs only with your yes."
    ),
    "budget": ApprovalRule("budget", "It would cost more than the settings allow."),
}
_REASONS: Final[Mapping[Reason, ApprovalRule]] = {
    Reason.APPROVAL: ApprovalRule("approval", "This is done only with your yes."),
    Reason.INPUT: ApprovalRule("question", "It cannot go on without an answer of yours."),
    Reason.AUTH: ApprovalRule("account", "Something must be put right outside before it goes on."),
    Reason.DELIVERABLE: ApprovalRule("gate", "What was written is not fit to be sent."),
    Reason.VERIFICATION: ApprovalRule("contract", "The work is not proven by its contract."),
    Reason.AMBIGUOUS: ApprovalRule(
        "no-second-send", "Nobody knows whether it was done; it is not redone."
    ),
    Reason.POISON: ApprovalRule(
        "crashes", "Remit ended more than once while this was at work, or could not save it."
    ),
}


def rule_of(review: Review) -> ApprovalRule:
    """Why the owner is asked."""
    kind = (review.about or "").partition(":")[0]
    plain = _REASONS[review.reason]
    return _ABOUT.get(kind, plain) if review.reason is Reason.APPROVAL else plain


def place_of(review: Review, task: Task) -> SendTarget | None:
    """Return where the reviewed text would be sent; None if nothing would be sent."""
    about = review.about or ""
    if about.startswith(f"{SEND}:"):
        to = from_json(Permission, json.loads(about.removeprefix(f"{SEND}:")))
        return SendTarget(to.channel, to.contact, to.address or None)
    for each in task.delivery:
        if each.id and str(each.id) in (about, *review.key.split(":")):
            return SendTarget(each.channel, each.recipient, each.address)
    waits = [each for each in task.delivery if each.status is DeliveryStatus.PENDING]
    if review.resume_to is Status.DELIVERING and waits:
        return SendTarget(waits[0].channel, waits[0].recipient, waits[0].address)
    return None
