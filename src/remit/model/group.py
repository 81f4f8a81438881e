"""What the owner must do about something that waits for him: decide it, look at it, or fix it."""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final

from remit.model.review import Review
from remit.model.status import Reason


class Group(StrEnum):
    DECIDE = "decide"  # it goes on once he has said how
    LOOK = "look"  # it is done; he has not seen it
    FIX = "fix"  # something must be put right before it can go on


GROUPS: Final[Mapping[Reason, Group]] = {
    Reason.APPROVAL: Group.DECIDE,
    Reason.INPUT: Group.DECIDE,
    Reason.DELIVERABLE: Group.DECIDE,
    Reason.VERIFICATION: Group.DECIDE,
    Reason.AMBIGUOUS: Group.DECIDE,
    Reason.AUTH: Group.FIX,
    Reason.POISON: Group.FIX,
}
FRESH: Final = timedelta(days=7)  # so long an ended task waits to be seen; then it is history


def group_of(review: Review) -> Group:
    return GROUPS[review.reason]
