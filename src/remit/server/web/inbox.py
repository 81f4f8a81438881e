"""The inbox page: what waits for the owner, one thing opened, and the answers to it."""

import asyncio
import json
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from remit.errors import AlreadyDecided, BadInput, Conflict
from remit.model.caller import Scope
from remit.model.codec import stamp
from remit.model.ids import ReviewId, TaskId
from remit.model.review import Review, ReviewAnswer
from remit.operations import reviews, tasks
from remit.operations.arguments import (
    NewDecision,
    Postponement,
    ReaddressReview,
    ResumeTask,
    RetryTask,
    SeeResults,
    SeeTask,
    UndoDecision,
)
from remit.operations.settings_arguments import NewContact
from remit.operations.table import perform
from remit.server.call import Call, CallResult
from remit.server.routes import form, page
from remit.server.web import inbox_listing, message_preview, review_kinds, review_page, shell, words
from remit.server.web.inbox_listing import (
    ContactAnswer,
    NewAnswer,
    NewLater,
    NewText,
    NewTry,
    SeenForm,
)
from remit.server.web.review_kinds import ReviewKind
from remit.server.web.review_page import ReviewPage
from remit.store import inbox as store
from remit.store import reviews as stored_reviews
from remit.store.inbox import WaitingReview

_MOST_NAME: Final = 100
_EVENING, _MORNING = 18, 8  # o'clock
_LOOKS, _LOOK_SECONDS = 40, 0.05
_WITH_TEXT: Final = (ReviewAnswer.APPROVE, ReviewAnswer.EDIT, ReviewAnswer.ANSWER)


# Looking ------------------------------------------------------------------------------------------


@page("/inbox", "done")
async def front(call: Call) -> CallResult:
    """Show the list, and on a wide screen its first item."""
    listed = await inbox_listing.inbox_listing(call)
    first = next((row.id for row in listed.rows if not row.elsewhere), None)
    opened = await _open(call, first) if first else None
    return await _page(call, opened, listed=listed)


@page("/inbox/{id}", "done", "answer", "by")
async def show_review(call: Call) -> CallResult:
    opened = await _open(call, call.path["id"])
    if opened is None:
        return shell.redirect(f"/tasks/{call.task_id}")
    return await _page(call, opened, chosen=True)


@page("/inbox/list", "at")
async def rows(call: Call) -> CallResult:
    """Return the list alone, as it is now."""
    values = {"listed": await inbox_listing.inbox_listing(call), "at": call.text("at") or ""}
    return shell.part("parts/ilist.html", {**values, "now": shell.local_now(call)})


@page("/inbox/{id}/stand")
async def stand(call: Call) -> CallResult:
    """Return the current state of a question, in one sentence."""
    opened = await _open(call, call.path["id"])
    return shell.part(
        "parts/stand.html", {"ask": opened, "listed": await inbox_listing.inbox_listing(call)}
    )


@form("/inbox/{id}/preview", scope=Scope.READ)
async def preview(call: Call, typed: NewText) -> CallResult:
    """Return the typed text as it would arrive."""
    found = await _waiting(call)
    channel, draft = (
        review_page.channel_of(found.review, found.task),
        review_page.draft_of(found.review),
    )
    values = {
        "look": message_preview.preview(call, channel, typed.text, draft),
        "now": shell.local_now(call),
    }
    opened = replace(await review_page.read_review(call, call.review_id), text=typed.text)
    return shell.part("parts/preview.html", {**values, "ask": opened})


# Deciding -----------------------------------------------------------------------------------------


async def _shown_again(
    call: Call, sent: NewAnswer | ContactAnswer | NewLater, wrong: BadInput | Conflict
) -> CallResult:
    """Return the same page with what was typed, and why it was not taken."""
    opened, why = await review_page.read_review(call, call.review_id), str(wrong)
    if isinstance(sent, NewAnswer) and sent.answer in _WITH_TEXT:
        opened = replace(opened, text=sent.text or sent.words or opened.text)
    if isinstance(wrong, AlreadyDecided):
        why = "This was decided in another window meanwhile. Your answer was not used."
    status = 422 if isinstance(wrong, BadInput) else 409
    person = sent if isinstance(sent, ContactAnswer) else None
    return await _page(call, opened, chosen=True, wrong=why, person=person, status=status)


@form("/inbox/{id}", reviews.decide_review, refused=_shown_again)
async def decide(call: Call, answer: NewAnswer) -> CallResult:
    """Decide a question by what the owner saw; a second decision is told the first."""
    found, listed = await _waiting(call), await inbox_listing.inbox_listing(call)
    decision = _decision(found.review, answer)
    _check_seen(found.review, answer)
    elsewhere = _elsewhere(found, answer)
    await perform(call, elsewhere or decision)
    if elsewhere:
        return await _next_question(call, found.task.id)
    return await _asked_again(call, found, answer.answer) or _to_next(listed, str(call.review_id))


def _elsewhere(found: WaitingReview, answer: NewAnswer) -> ReaddressReview | None:
    """Return where an approved text goes instead, if recipient or channel were changed."""
    if answer.answer not in (ReviewAnswer.APPROVE, ReviewAnswer.EDIT) or answer.to is None:
        return None
    name, channel = review_page.goes_to(found.review, found.task)
    to, over = answer.to.strip(), answer.channel or channel
    if (to, over) == (name, channel):
        return None
    text = answer.text.replace("\r\n", "\n")
    if not text.strip():
        raise BadInput("Write the message first.", field="text")
    edited = text != review_page.draft_of(found.review)
    return ReaddressReview(str(found.review.id), over, to or None, text if edited else None)


async def _next_question(call: Call, task: TaskId) -> CallResult:
    """Go to what a task asks next; its run may take a moment to ask."""
    for _ in range(_LOOKS):
        if left := await _open_question(call, task):
            return shell.redirect(f"/inbox/{left}")
        await asyncio.sleep(_LOOK_SECONDS)
    return shell.redirect(f"/tasks/{task}")


async def _asked_again(call: Call, found: WaitingReview, answer: ReviewAnswer) -> CallResult | None:
    """Stay with a request whose answer could not be read: its next question says why."""
    left = await _open_question(call, found.task.id) if answer is ReviewAnswer.ANSWER else None
    return shell.redirect(f"/inbox/{left}") if left else None


async def _open_question(call: Call, task: TaskId) -> ReviewId | None:
    asked = await call.app.db.read(stored_reviews.waiting_of, task)
    return asked.id if asked else None


@form("/inbox/{id}/contact", reviews.decide_review, refused=_shown_again)
async def answer_with_contact(call: Call, given: ContactAnswer) -> CallResult:
    """Put someone into the contacts, and answer a question with them."""
    found, listed = await _waiting(call), await inbox_listing.inbox_listing(call)
    name = given.name.strip()
    channels = {given.channel: given.address.strip() or name}
    await perform(call, NewContact(name=name, channels=channels))
    await perform(call, NewDecision(str(found.review.id), ReviewAnswer.ANSWER, name))
    return _to_next(listed, str(call.review_id))


@form("/inbox/{id}/later", reviews.put_review_off, refused=_shown_again)
async def postpone(call: Call, wish: NewLater) -> CallResult:
    """Postpone a question; it comes back by itself."""
    listed = await inbox_listing.inbox_listing(call)
    await perform(call, Postponement(call.review_id, stamp(_postponed_until(call, wish))))
    return _to_next(listed, str(call.review_id))


@form("/inbox/{id}/undo", reviews.undo_decision)
async def undo(call: Call) -> CallResult:
    """Undo a decision, while nothing was sent."""
    await perform(call, UndoDecision(str(call.review_id)))
    return shell.redirect(f"/inbox/{call.review_id}")


# What was held back goes out: that takes what deciding takes.
@form("/inbox/{id}/resume", tasks.resume_task, scope=Scope.APPROVE)
async def resume(call: Call) -> CallResult:
    """Send what was undone after all."""
    found = await _waiting(call)
    await perform(call, ResumeTask(found.task.id))
    return shell.redirect(f"/inbox/{call.review_id}")


@form("/inbox/{id}/seen", tasks.see_task)
async def mark_seen(call: Call) -> CallResult:
    """Record that the owner has looked at an ended task."""
    listed = await inbox_listing.inbox_listing(call)
    await perform(call, SeeTask(call.task_id))
    return _to_next(listed, str(call.task_id))


@form("/inbox/seen", reviews.see_results)
async def mark_all_seen(call: Call, given: SeenForm) -> CallResult:
    """Record that the owner has looked at some results, or at all."""
    await perform(call, SeeResults(list(given.ids) or None))
    return shell.redirect("/inbox")


@form("/inbox/{id}/retry", tasks.retry_task)
async def retry(call: Call, given: NewTry) -> CallResult:
    """Retry an ended task as a new one; the old one counts as seen."""
    listed = await inbox_listing.inbox_listing(call)
    await perform(call, RetryTask(call.task_id, given.instructions))
    return _to_next(listed, str(call.task_id))


# Beneath ------------------------------------------------------------------------------------------


async def _open(call: Call, ident: str) -> ReviewPage | None:
    """Return what an address of the inbox names: a question, or an ended task."""
    at = replace(call, path={"id": ident})
    if ident.lower().startswith("task-"):
        found = await review_page.read_task(at, at.task_id)
        if found is None or isinstance(found, ReviewPage):
            return found
        return await review_page.read_review(call, found)
    return await review_page.read_review(at, at.review_id)


async def _page(
    call: Call,
    opened: ReviewPage | None,
    *,
    listed: inbox_listing.InboxListing | None = None,
    chosen: bool = False,
    status: int = 200,
    **refused: object,
) -> CallResult:
    """Draw the page; `refused` is why an answer was not taken, and what was typed."""
    values = {
        "listed": listed or await inbox_listing.inbox_listing(call),
        "ask": opened,
        "at": opened.id if opened else "",
        "chosen": chosen,
        "chose": await _answer_from_mail(call) if chosen else None,
        "done": await _just_done(call),
        "undo": _undo_seconds(call, opened),
        "later": _times_to_postpone(shell.local_now(call)),
        "sorts": review_kinds.SORTS,
        "wrong": "",
        "person": None,
        **refused,
    }
    return await shell.page(call, "pages/inbox.html", values, status)


def _undo_seconds(call: Call, opened: ReviewPage | None) -> int:
    """Return how long the first answer of a question can be undone; 0: not at all."""
    undo = call.app.inbox.undo_window
    review = opened.review if opened else None
    if opened is None or review is None or not opened.acts:
        return 0
    first = ReviewAnswer(opened.acts[0].answer)
    return undo.seconds_for(opened.task, review, first)


async def _answer_from_mail(call: Call) -> dict[str, str] | None:
    """Return what a link in a mail chose. Opening it decides nothing; the form below does."""
    data, by = call.text("answer"), call.text("by") or ""
    if data is None or not data.startswith(f"{call.path['id']}:"):
        return None
    answer = await call.app.doors.chosen(by[:_MOST_NAME], data[:_MOST_NAME])
    return {"answer": answer or ""}


async def _just_done(call: Call) -> dict[str, object] | None:
    """Return what the previous page did, and how long it can be undone."""
    ident = call.text("done") or ""
    if not ident.startswith("rev-"):
        return None
    found = await _waiting(replace(call, path={"id": ident}))
    now = shell.local_now(call)
    stand = review_kinds.review_state(found.review, found.task, call.app.inbox.undo_window, now)
    opened = await review_page.read_review(call, ReviewId(ident))
    decided = found.review.decision
    declined = decided is not None and decided.answer is ReviewAnswer.DECLINE
    shown = {"id": ident, "stand": stand, "ask": opened, "declined": declined}
    return shown if stand.words else None


async def _waiting(call: Call) -> WaitingReview:
    return await call.app.db.read(store.question, call.review_id)


def _decision(review: Review, reply: NewAnswer) -> NewDecision:
    """Return the decision; an approved text that differs from the draft is an edit."""
    text = reply.words
    if reply.answer is ReviewAnswer.APPROVE:
        edited = (
            bool(text)
            and text != review_page.draft_of(review)
            and ReviewAnswer.EDIT in review.options
        )
        answer = ReviewAnswer.EDIT if edited else ReviewAnswer.APPROVE
        text = _arguments(review, text) if edited else ""
        return NewDecision(str(review.id), answer, text or None, reply.always)
    return NewDecision(str(review.id), reply.answer, text or None, reply.always, grace=True)


def _arguments(review: Review, text: str) -> str:
    """Check that tool arguments are an object; otherwise the question would only return."""
    if review_kinds.kind_of(review) is not ReviewKind.CALL:
        return text
    try:
        fits = isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        fits = False
    if not fits:
        sentence = 'The arguments are no JSON object; write them like {"name": "value"}.'
        raise BadInput(sentence, field="text")
    return text


def _check_seen(review: Review, answer: NewAnswer) -> None:
    """Refuse an approval of something that was not shown."""
    if review.decision is None and answer.digest != review_page.digest_of(review):
        sentence = "What is asked here has changed since you saw it. Read it again, then decide."
        raise Conflict(sentence)


def _to_next(listed: inbox_listing.InboxListing, ident: str) -> CallResult:
    after = listed.after(ident)
    place = f"/inbox/{after.id}" if after and not after.elsewhere else "/inbox"
    return shell.redirect(f"{place}?done={ident}")


def _times_to_postpone(now: datetime) -> list[tuple[str, str, datetime]]:
    """Return the times a question can be postponed to with one click."""
    evening = now.replace(hour=_EVENING, minute=0, second=0, microsecond=0)
    morning = now.replace(hour=_MORNING, minute=0, second=0, microsecond=0) + timedelta(days=1)
    found = [("hour", "In an hour", now + timedelta(hours=1))]
    if now + timedelta(hours=1) < evening:
        found.append(("evening", "This evening", evening))
    return [*found, ("morning", "Tomorrow morning", morning)]


def _postponed_until(call: Call, wish: NewLater) -> datetime:
    if wish.until is not None:
        times = {name: at for name, _, at in _times_to_postpone(shell.local_now(call))}
        return times.get(wish.until, times["morning"])
    at = words.wall(wish.at, call.app.zone, "at")
    words.check_to_come(at, shell.local_now(call), "at")
    return at
