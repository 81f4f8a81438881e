"""Inbox groups: what the owner must do about a waiting thing: decide, look or fix."""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final

from remit.model.review import Review
from remit.model.status import Reason


class InboxGroup(StrEnum):
    DECIDE = "decide"  # it waits for the owner's decision
    LOOK = "look"  # it is done; the owner has not seen it
    FIX = "fix"  # something must be fixed before it can continue


GROUPS: Final[Mapping[Reason, InboxGroup]] = {
    Reason.APPROVAL: InboxGroup.DECIDE,
    Reason.INPUT: InboxGroup.DECIDE,
    Reason.DELIVERABLE: InboxGroup.DECIDE,
    Reason.VERIFICATION: InboxGroup.DECIDE,
    Reason.AMBIGUOUS: InboxGroup.DECIDE,
    Reason.AUTH: InboxGroup.FIX,
    Reason.POISON: InboxGroup.FIX,
}
FRESH: Final = timedelta(days=7)  # how long an ended task stays in the inbox unseen


def group_of(review: Review) -> InboxGroup:
    return GROUPS[review.reason]
