"""Reviews: the questions to the owner, and what else waits."""

from datetime import datetime
from typing import Final

from remit.errors import BadInput, NotFound, UnknownName
from remit.model import ids
from remit.model.codec import Json, JsonMap, picked
from remit.model.ids import ReviewId
from remit.model.review import InboxGroup
from remit.model.view import show
from remit.operations import reviews as operations
from remit.operations.shapes import review_receipt, review_to_json
from remit.server.call import Call, CallResult, result_of
from remit.server.routes import CURSOR, VIEW, QueryParameter, numbers, read
from remit.store import inbox
from remit.store.database import Tx
from remit.store.inbox import InboxCounts, WaitingReview

MOST: Final = 500


@read(
    "/api/reviews",
    "Reviews",
    QueryParameter(
        "group",
        "Every question is one to decide; the inbox has what failed.",
        {"enum": [InboxGroup.DECIDE.value, InboxGroup.FIX.value]},
    ),
    QueryParameter("later", "Those that are put off, and only those.", {"enum": ["true", "false"]}),
    CURSOR,
    numbers("limit", "How many.", 100, 1, MOST),
)
async def waiting(call: Call) -> CallResult:
    """Questions that wait for the owner, oldest first."""
    limit = call.number("limit", 100, least=1, most=MOST)
    try:
        found, needs = await call.app.db.read(
            _page,
            call.app.clock.now(),
            call.flag("later"),
            _cursor(call),
            limit + 1,
        )
    except NotFound:
        raise _bad_cursor(call) from None
    if call.word("group", InboxGroup) not in (None, InboxGroup.DECIDE):
        found = []  # every question is to be decided
    shown: list[Json] = [_shown(call, each) for each in found[:limit]]
    more = found[limit - 1].review.id if len(found) > limit else None
    return CallResult({"reviews": shown, "next": more, "needs": inbox_counts_to_json(needs)})


@read("/api/inbox", "Inbox", numbers("limit", "How many of each.", 50, 1, MOST), VIEW)
async def everything(call: Call) -> CallResult:
    """All that waits for the owner: to decide, to look at, to fix."""
    limit = call.number("limit", 50, least=1, most=MOST)
    now = call.app.clock.now()
    asked, needs = await call.app.db.read(_page, now, False, None, limit)
    look = await call.app.db.read(inbox.look, now, limit)
    fix = await call.app.db.read(inbox.fix, now, limit)
    shown: list[Json] = [_shown(call, each) for each in asked]
    return CallResult(
        {
            "reviews": shown,
            "look": [show(task, call.view) for task in look],
            "fix": [show(task, call.view) for task in fix],
            "needs": inbox_counts_to_json(needs),
        }
    )


@read("/api/reviews/{id}", "Review", tagged=True)
async def look(call: Call) -> CallResult:
    """One question, open or decided."""
    return result_of(await operations.look(call, call.review_id))


def inbox_counts_to_json(needs: InboxCounts) -> JsonMap:
    return picked(needs, "total decide look fix later decisions")


def _shown(call: Call, found: WaitingReview) -> JsonMap:
    content = review_to_json(found, call.app.settings.deliver.undo)
    return content if call.access.reads else review_receipt(content)


def _cursor(call: Call) -> ReviewId | None:
    text = call.text("cursor")
    try:
        return None if text is None else ids.review_id(text)
    except BadInput:
        raise _bad_cursor(call) from None


def _bad_cursor(call: Call) -> BadInput:
    sentence = f"{call.text('cursor')!r:.60} is no cursor of ours; give `next` of the page before."
    return UnknownName(sentence, field="cursor")


def _page(
    tx: Tx,
    now: datetime,
    put_off: bool,
    after: ReviewId | None,
    limit: int,
) -> tuple[list[WaitingReview], InboxCounts]:
    found = inbox.questions(tx, now, later=put_off, after=after, limit=limit)
    return found, inbox.needs(tx, now)
