"""The owner's open questions, and the decision that settles one."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from remit.errors import BadInput
from remit.model.codec import stamp
from remit.model.ids import ReviewId, TaskId
from remit.model.review import Decision, Review, ReviewAnswer
from remit.model.settled_task import Settle
from remit.model.status import Reason
from remit.model.task import Task
from remit.model.undo import AT_ONCE, Undo
from remit.ports import Clock
from remit.store import inbox, reviews
from remit.store.database import Database

MAX_LATER: Final = timedelta(days=90)


class Inbox:
    """`settling` returns the function that applies an answer about a request to its task.

    `undo` is how long an approval can be undone.
    """

    def __init__(
        self,
        db: Database,
        clock: Clock,
        settling: Callable[[], Settle] | None = None,
        undo: Undo = AT_ONCE,
    ) -> None:
        self._db = db
        self._clock = clock
        self._settling = settling
        self._undo = undo

    async def waiting(self) -> list[Review]:
        return await self._db.read(reviews.waiting)

    async def of_task(self, task_id: TaskId) -> list[Review]:
        return await self._db.read(reviews.of_task, task_id)

    async def grant(self, reason: Reason, what: str, about: str | None = None) -> int:
        """Settle every question that waited for something that exists now.

        It is recorded as the owner's decision.
        """
        open_ = await self._db.read(reviews.waiting_for, reason, about)
        for each in open_:
            assert each.id is not None  # noqa: S101 - what waits has been stored
            await self.decide(each.id, Decision(ReviewAnswer.APPROVE, by=f"owner: {what}"))
        return len(open_)

    async def later(self, review_id: ReviewId, until: datetime) -> Review:
        """Postpone a question; it stays open and comes back by itself."""
        now = self._clock.now()
        if not now < until <= now + MAX_LATER:
            sentence = f"Say a time to come within {MAX_LATER.days} days, not {stamp(until)}."
            raise BadInput(sentence, field="until")
        return await self._db.write(inbox.put_off, review_id, until, now)

    async def decide(self, review_id: ReviewId, decision: Decision) -> Task:
        """Settle a question, once; the task continues from there."""
        settle = self._settling() if self._settling else None
        now = self._clock.now()
        return await self._db.write(reviews.decide, review_id, decision, now, settle, self._undo)
