"""Operations on questions and results: decide, undo, postpone; mark results as seen."""

from datetime import timedelta

from remit.errors import BadInput, Conflict
from remit.model import ids
from remit.model.caller import Scope
from remit.model.delivery import Delivery
from remit.model.ids import ReviewId
from remit.model.review import Decision, ReviewAnswer
from remit.operations import arguments as args
from remit.operations.operation import Answer, OperationRequest, operation
from remit.operations.shapes import review_receipt, review_to_json
from remit.operations.tasks import moment
from remit.store import inbox, messages, reviews, tasks
from remit.store.database import Tx
from remit.store.inbox import WaitingReview


@operation(Scope.APPROVE, "Task", "It is decided.", view=True)
async def decide_review(request: OperationRequest, arguments: args.NewDecision) -> Answer:
    """Decide it; the task goes on from there."""
    decision = Decision(
        arguments.answer, arguments.text, by=request.caller.name, always=arguments.always
    )
    task = await request.app.inbox.decide(ReviewId(arguments.id), decision, grace=arguments.grace)
    return Answer(await request.task_json(task))


@operation(Scope.APPROVE, "Task", "It goes elsewhere once you approve that.", view=True)
async def readdress_review(request: OperationRequest, arguments: args.ReaddressReview) -> Answer:
    """Send the text to somebody else or on another channel; you are asked about that anew."""
    app, by = request.app, request.caller.name
    to = app.intake.addressed(Delivery(arguments.channel, arguments.to, arguments.text))
    task = await app.db.write(messages.readdress, ReviewId(arguments.id), to, by, app.clock.now())
    review = await app.db.read(reviews.get, ReviewId(arguments.id))
    if arguments.text and review.decision is None:
        task = await app.inbox.decide(
            ReviewId(arguments.id), Decision(ReviewAnswer.EDIT, arguments.text, by=by)
        )
    return Answer(await request.task_json(task))


@operation(Scope.APPROVE, "Task", "It is undone; nothing was sent.", view=True)
async def undo_decision(request: OperationRequest, asked: args.UndoDecision) -> Answer:
    """Take a decision back while nothing was sent; the question is open again."""
    found = await request.app.db.read(inbox.question, ReviewId(asked.id))
    if found.review.decision is None:
        raise Conflict(f"Review {asked.id} is open; there is nothing to undo.")
    return Answer(await request.task_json(await request.owner.undo(found.task.id)))


@operation(Scope.APPROVE, "SeenResults", "Marked as seen.")
async def see_results(request: OperationRequest, arguments: args.SeeResults) -> Answer:
    """You have looked at these results: those named, or all."""
    now, named = request.app.clock.now(), arguments.ids
    wanted = None if named is None else [ids.task_id(each) for each in named]
    count = await request.app.db.write(inbox.see_all, wanted, now)
    return Answer({"seen": count})


@operation(Scope.APPROVE, "Review", "It is put off, and comes back by itself.")
async def put_review_off(request: OperationRequest, arguments: args.Postponement) -> Answer:
    """Put it off; it stays open, and comes back by itself."""
    if (arguments.until is None) == (arguments.hours is None):
        raise BadInput("Give until (a time) or hours (a number), one of them.", field="until")
    until = moment(arguments.until, "until")
    until = until or request.app.clock.now() + timedelta(hours=arguments.hours or 0)
    await request.app.inbox.later(ReviewId(arguments.id), until)
    return await look(request, ReviewId(arguments.id))


async def look(request: OperationRequest, review_id: ReviewId) -> Answer:
    """Return one question, as far as the caller may see it."""
    version, found = await request.app.db.read(_get, review_id)
    content = review_to_json(found, request.app.settings.deliver.undo)
    return Answer(content if request.access.reads else review_receipt(content), etag=version)


def _get(tx: Tx, review_id: ReviewId) -> tuple[str, WaitingReview]:
    found = inbox.question(tx, review_id)
    # Whatever happens to a question is an event of its task.
    return tasks.version(tx, found.task.id), found
