"""The undo window: an approved message is not claimed before it ends."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.model.delivery import DeliveryStatus
from remit.model.review import Decision, Review, ReviewAnswer
from remit.model.status import Reason, Status
from remit.model.task import Task

_YES: Final = (ReviewAnswer.APPROVE, ReviewAnswer.EDIT)
_ABOUT_A_TEXT: Final = (Reason.APPROVAL, Reason.DELIVERABLE)


class Undo(Struct, frozen=True):
    seconds: int = 0
    at_once: tuple[str, ...] = ()  # channels on which nothing leaves this machine

    def due(self, task: Task, review: Review, decision: Decision, now: datetime) -> datetime:
        """Return when a task continues after a decision: later, if that releases a message."""
        lets_out = decision.answer in _YES and review.reason in _ABOUT_A_TEXT
        leaves = any(
            each.status is DeliveryStatus.PENDING and each.channel not in self.at_once
            for each in task.delivery
        )
        waits = lets_out and leaves and review.resume_to is Status.DELIVERING
        return now + timedelta(seconds=self.seconds) if waits else now


AT_ONCE: Final = Undo()
