"""The owner's open questions, and the decision that settles one."""

from remit.model.ids import ReviewId, TaskId
from remit.model.review import Decision, Review
from remit.model.task import Task
from remit.ports import Clock
from remit.store import reviews
from remit.store.database import Database


class Inbox:
    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def waiting(self) -> list[Review]:
        return await self._db.read(reviews.waiting)

    async def of_task(self, task_id: TaskId) -> list[Review]:
        return await self._db.read(reviews.of_task, task_id)

    async def decide(self, review_id: ReviewId, decision: Decision) -> Task:
        """Settle a question, once; the task goes on from there."""
        return await self._db.write(reviews.decide, review_id, decision, self._clock.now())
