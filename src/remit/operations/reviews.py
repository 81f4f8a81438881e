"""Operations on questions: decide one, and postpone one."""

from datetime import timedelta
from typing import Final

from remit.errors import BadInput
from remit.model.caller import Scope
from remit.model.ids import ReviewId
from remit.model.review import Decision
from remit.operations import arguments as args
from remit.operations.operation import Answer, Operation, OperationRequest
from remit.operations.review_json import review_receipt, review_to_json
from remit.operations.tasks import moment
from remit.store import inbox, tasks
from remit.store.database import Tx
from remit.store.inbox import WaitingReview


async def decide(request: OperationRequest, said: args.NewDecision) -> Answer:
    decision = Decision(said.answer, said.text, by=request.caller.name, always=said.always)
    return Answer(await request.told(await request.house.inbox.decide(ReviewId(said.id), decision)))


async def later(request: OperationRequest, said: args.Postponement) -> Answer:
    if (said.until is None) == (said.hours is None):
        raise BadInput("Give until (a time) or hours (a number), one of them.", field="until")
    until = moment(said.until, "until")
    until = until or request.house.clock.now() + timedelta(hours=said.hours or 0)
    await request.house.inbox.later(ReviewId(said.id), until)
    return await look(request, ReviewId(said.id))


async def look(request: OperationRequest, review_id: ReviewId) -> Answer:
    """Return one question, as far as the caller may see it."""
    version, found = await request.house.db.read(_get, review_id)
    told = review_to_json(found, request.house.settings.deliver.undo)
    return Answer(told if request.access.reads else review_receipt(told), etag=version)


def _get(tx: Tx, review_id: ReviewId) -> tuple[str, WaitingReview]:
    found = inbox.question(tx, review_id)
    # Whatever happens to a question is an event of its task.
    return tasks.version(tx, found.task.id), found


DECIDE: Final = Operation(
    name="decide_review",
    arguments=args.NewDecision,
    scope=Scope.APPROVE,
    effect=decide,
    summary="Decide it; the task goes on from there",
    result="Task",
    sentence="It is decided.",
    view=True,
)
LATER: Final = Operation(
    name="put_review_off",
    arguments=args.Postponement,
    scope=Scope.APPROVE,
    effect=later,
    summary="Put it off; it stays open, and comes back by itself",
    result="Review",
    sentence="It is put off, and comes back by itself.",
)
OPERATIONS: Final = (DECIDE, LATER)
