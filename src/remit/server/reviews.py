"""Review routes: open questions, decisions, and what else waits for the owner."""

from datetime import datetime, timedelta
from typing import Final

from remit.errors import BadInput, NotFound
from remit.model import ids
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap
from remit.model.group import InboxGroup
from remit.model.ids import ReviewId
from remit.model.review import Decision
from remit.model.view import show
from remit.server import shapes
from remit.server.bodies import NewDecision, Postponement
from remit.server.call import VIEW, Call, CallResult, QueryParameter, Route, numbers, task_answer
from remit.server.tasks import moment
from remit.store import inbox, tasks
from remit.store.database import Tx
from remit.store.inbox import InboxCounts, WaitingReview

MOST: Final = 500


async def waiting(call: Call) -> CallResult:
    """Return open questions, oldest first, page by page."""
    limit = call.number("limit", 100, least=1, most=MOST)
    try:
        found, needs = await call.house.db.read(
            _page,
            call.house.clock.now(),
            call.word("group", InboxGroup),
            call.flag("later"),
            _cursor(call),
            limit + 1,
        )
    except NotFound:
        raise _bad_cursor(call) from None
    shown: list[Json] = [_shown(call, each) for each in found[:limit]]
    more = found[limit - 1].review.id if len(found) > limit else None
    return CallResult({"reviews": shown, "next": more, "needs": inbox_counts_to_json(needs)})


async def everything(call: Call) -> CallResult:
    """Return everything that waits for the owner: to decide, to look at, to fix."""
    limit = call.number("limit", 50, least=1, most=MOST)
    now = call.house.clock.now()
    asked, needs = await call.house.db.read(_page, now, None, False, None, limit)
    look = await call.house.db.read(inbox.look, now, limit)
    fix = await call.house.db.read(inbox.fix, now, limit)
    shown: list[Json] = [_shown(call, each) for each in asked]
    return CallResult(
        {
            "reviews": shown,
            "look": [show(task, call.view) for task in look],
            "fix": [show(task, call.view) for task in fix],
            "needs": inbox_counts_to_json(needs),
        }
    )


async def look(call: Call) -> CallResult:
    version, found = await call.house.db.read(_get, call.review_id)
    return CallResult(_shown(call, found), headers={"ETag": f'"{version}"'})


async def decide(call: Call) -> CallResult:
    body = call.read(NewDecision)
    by = call.caller.name
    decision = Decision(body.answer, body.text, by=by, always=body.always)
    return await task_answer(call, await call.house.inbox.decide(call.review_id, decision))


async def later(call: Call) -> CallResult:
    """Postpone a question: it stays open and comes back by itself."""
    body = call.read(Postponement)
    until = _until(call, body)
    await call.house.inbox.later(call.review_id, until)
    version, found = await call.house.db.read(_get, call.review_id)
    return CallResult(_shown(call, found), headers={"ETag": f'"{version}"'})


def inbox_counts_to_json(needs: InboxCounts) -> JsonMap:
    return {
        "total": needs.total,
        "decide": needs.decide,
        "look": needs.look,
        "fix": needs.fix,
        "later": needs.later,
    }


def _until(call: Call, body: Postponement) -> datetime:
    if (body.until is None) == (body.hours is None):
        raise BadInput("Give until (a time) or hours (a number), one of them.", field="until")
    at = moment(body.until, "until")
    return at or call.house.clock.now() + timedelta(hours=body.hours or 0)


def _shown(call: Call, found: WaitingReview) -> JsonMap:
    told = shapes.review(found, call.house.settings.deliver.undo)
    return told if call.access.reads else shapes.review_receipt(told)


def _cursor(call: Call) -> ReviewId | None:
    text = call.text("cursor")
    try:
        return None if text is None else ids.review_id(text)
    except BadInput:
        raise _bad_cursor(call) from None


def _bad_cursor(call: Call) -> BadInput:
    sentence = f"{call.text('cursor')!r:.60} is no cursor of ours; give `next` of the page before."
    return BadInput(sentence, field="cursor")


def _page(
    tx: Tx,
    now: datetime,
    group: InboxGroup | None,
    put_off: bool,
    after: ReviewId | None,
    limit: int,
) -> tuple[list[WaitingReview], InboxCounts]:
    found = inbox.questions(tx, now, group, later=put_off, after=after, limit=limit)
    return found, inbox.needs(tx, now)


def _get(tx: Tx, review_id: ReviewId) -> tuple[str, WaitingReview]:
    found = inbox.question(tx, review_id)
    # Every change of a question is an event of its task.
    return tasks.version(tx, found.task.id), found


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/inbox",
        does=everything,
        says="All that waits for the owner: to decide, to look at, to fix",
        gives="Inbox",
        query=(numbers("limit", "How many of each.", 50, 1, MOST), VIEW),
    ),
    Route(
        method="GET",
        path="/api/reviews",
        does=waiting,
        says="Questions that wait for the owner, oldest first",
        gives="Reviews",
        query=(
            QueryParameter(
                "group",
                "What he must do.",
                {"enum": [InboxGroup.DECIDE.value, InboxGroup.FIX.value]},
            ),
            QueryParameter(
                "later", "Those that are put off, and only those.", {"enum": ["true", "false"]}
            ),
            QueryParameter("cursor", "`next` of the page before.", {"type": "string"}),
            numbers("limit", "How many.", 100, 1, MOST),
        ),
    ),
    Route(
        method="GET",
        path="/api/reviews/{id}",
        does=look,
        says="One question, open or decided",
        gives="Review",
        tagged=True,
    ),
    Route(
        method="POST",
        path="/api/reviews/{id}/decision",
        does=decide,
        says="Decide it; the task goes on from there",
        gives="Task",
        query=(VIEW,),
        body=NewDecision,
        scope=Scope.APPROVE,
    ),
    Route(
        method="POST",
        path="/api/reviews/{id}/later",
        does=later,
        says="Put it off; it stays open, and comes back by itself",
        gives="Review",
        body=Postponement,
        scope=Scope.APPROVE,
    ),
)
