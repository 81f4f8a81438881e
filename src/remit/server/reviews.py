"""Reviews: the questions to the owner, and the decision that settles one."""

from typing import Final

from remit.model.codec import Json
from remit.model.ids import ReviewId
from remit.model.review import Decision, Review
from remit.server import shapes
from remit.server.bodies import NewDecision
from remit.server.call import VIEW, Answer, Call, Route, numbers, task_answer
from remit.store import reviews, rows, tasks
from remit.store.database import Tx


async def waiting(call: Call) -> Answer:
    """Open questions, oldest first."""
    limit = call.number("limit", 100, least=1, most=500)
    found = await call.house.db.read(_waiting, limit)
    told: list[Json] = [shapes.review(review, title) for review, title in found]
    return Answer({"reviews": told})


async def look(call: Call) -> Answer:
    review, title = await call.house.db.read(_get, call.review_id)
    return Answer(shapes.review(review, title))


async def decide(call: Call) -> Answer:
    body = call.read(NewDecision)
    decision = Decision(body.answer, body.text, always=body.always)
    return task_answer(call, await call.house.inbox.decide(call.review_id, decision))


def _waiting(tx: Tx, limit: int) -> list[tuple[Review, str]]:
    return [(review, _title(tx, review)) for review in reviews.waiting(tx, limit)]


def _get(tx: Tx, review_id: ReviewId) -> tuple[Review, str]:
    review = reviews.get(tx, review_id)
    return review, _title(tx, review)


def _title(tx: Tx, review: Review) -> str:
    return rows.text(tasks.find_row(tx, review.task_id)["title"]) or ""


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/reviews",
        does=waiting,
        says="Questions that wait for the owner, oldest first",
        gives="Reviews",
        query=(numbers("limit", "How many.", 100, 1, 500),),
    ),
    Route(
        method="GET",
        path="/api/reviews/{id}",
        does=look,
        says="One question, open or decided",
        gives="Review",
    ),
    Route(
        method="POST",
        path="/api/reviews/{id}/decision",
        does=decide,
        says="Decide it; the task goes on from there",
        gives="Task",
        query=(VIEW,),
        body=NewDecision,
    ),
)
