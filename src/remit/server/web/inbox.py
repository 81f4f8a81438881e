"""The inbox page: what waits for the owner, one thing opened, and the answers to it."""

import json
import re
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

from msgspec.structs import replace
from pydantic import Field, model_validator

from remit.errors import AlreadyDecided, BadInput, Conflict
from remit.model.caller import Scope
from remit.model.codec import stamp
from remit.model.ids import ReviewId
from remit.model.review import Review, ReviewAnswer
from remit.operations import reviews, tasks
from remit.operations.arguments import (
    NewDecision,
    Postponement,
    ResumeTask,
    RetryTask,
    SeeTask,
    UndoTask,
)
from remit.operations.table import perform
from remit.server.bodies import EmptyBody, RequestBody
from remit.server.call import Call, CallResult, QueryParameter, form, page
from remit.server.web import ask, inbox_listing, letter, review_kinds, shell, trail
from remit.server.web.ask import ReviewPage
from remit.server.web.review_kinds import ReviewKind
from remit.store import inbox as store
from remit.store.inbox import WaitingReview

_MOST: Final = 100_000
_MOST_LINES: Final = 100
_LINE: Final = re.compile(r"line-[0-9]{1,3}")
_EVENING, _MORNING = 18, 8  # o'clock
_DONE: Final = QueryParameter("done", "What was just decided.", {"type": "string"})
_AT: Final = QueryParameter("at", "What is open beside the list.", {"type": "string"})


class NewAnswer(RequestBody):
    """A form of the inbox. Approving a text that differs from the draft is an edit."""

    answer: Annotated[ReviewAnswer, Field(strict=False)] = ReviewAnswer.APPROVE
    text: Annotated[str, Field(max_length=_MOST)] = ""
    choice: Annotated[str, Field(max_length=_MOST)] = ""
    always: bool = False
    digest: Annotated[str, Field(max_length=64)] = ""
    lines: dict[int, str] = Field(default_factory=dict, max_length=_MOST_LINES)

    @model_validator(mode="before")
    @classmethod
    def _with_lines(cls, form: dict[str, object]) -> dict[str, object]:
        """The form with its fields `line-1`, `line-2`, … as one."""
        lines = {name[5:]: words for name, words in form.items() if _LINE.fullmatch(name)}
        rest = {name: words for name, words in form.items() if not _LINE.fullmatch(name)}
        return {**rest, "lines": lines} if lines else rest

    @property
    def words(self) -> str:
        """What is answered: a choice, the lines of the card that were filled in, or the text."""
        filled = {n: " ".join(words.split()) for n, words in self.lines.items()}
        lines = "\n".join(f"{n}: {words}" for n, words in sorted(filled.items()) if words)
        if lines and self.text.strip():
            raise BadInput("Answer line by line, or all in one text, not both.", field="text")
        return self.choice or lines or self.text


class NewText(RequestBody):
    text: Annotated[str, Field(max_length=_MOST)] = ""


class NewLater(RequestBody):
    until: Literal["hour", "evening", "morning"] | None = None
    at: Annotated[str, Field(max_length=40)] = ""


class NewTry(RequestBody):
    instructions: Annotated[str, Field(max_length=_MOST)] = ""


# Looking ------------------------------------------------------------------------------------------


async def front(call: Call) -> CallResult:
    """Show the list, and on a wide screen its first item."""
    listed = await inbox_listing.listed(call)
    first = next((row.id for row in listed.rows if not row.elsewhere), None)
    opened = await _open(call, first) if first else None
    return await _page(call, opened, listed=listed)


async def review_page(call: Call) -> CallResult:
    opened = await _open(call, call.path["id"])
    if opened is None:
        return shell.elsewhere(f"/tasks/{call.task_id}")
    return await _page(call, opened, chosen=True)


async def rows(call: Call) -> CallResult:
    """Return the list alone, as it is now."""
    values = {"listed": await inbox_listing.listed(call), "at": call.text("at") or ""}
    return shell.part("parts/ilist.html", {**values, "now": shell.local(call)})


async def stand(call: Call) -> CallResult:
    """Return the current state of a question, in one sentence."""
    opened = await _open(call, call.path["id"])
    return shell.part("parts/stand.html", {"ask": opened})


async def preview(call: Call) -> CallResult:
    """Return the typed text as it would arrive."""
    text = call.read(NewText).text
    found = await _waiting(call)
    channel, draft = ask.channel_of(found.review, found.task), ask.draft_of(found.review)
    values = {"look": letter.look(call, channel, text, draft), "now": shell.local(call)}
    opened = replace(await ask.of_review(call, call.review_id), text=text)
    return shell.part("parts/preview.html", {**values, "ask": opened})


# Deciding -----------------------------------------------------------------------------------------


async def decide(call: Call) -> CallResult:
    """Decide a question by what the owner saw; a second decision is told the first."""
    said, found = call.read(NewAnswer), await _waiting(call)
    listed = await inbox_listing.listed(call)
    try:
        decision = _decision(found.review, said)
        _check_seen(found.review, said)
        await perform(call, decision)
    except (AlreadyDecided, BadInput, Conflict) as wrong:
        return await _not_done(call, said, wrong)
    return _onward(listed, str(call.review_id))


async def later(call: Call) -> CallResult:
    """Postpone a question; it comes back by itself."""
    said, listed = call.read(NewLater), await inbox_listing.listed(call)
    try:
        until = stamp(_until(said, shell.local(call)))
        await perform(call, Postponement(call.review_id, until))
    except (AlreadyDecided, BadInput) as wrong:
        return await _not_done(call, NewAnswer(answer=ReviewAnswer.DECLINE), wrong)
    return _onward(listed, str(call.review_id))


async def undo(call: Call) -> CallResult:
    """Undo an approval, while nothing was sent."""
    call.read(EmptyBody)
    found = await _waiting(call)
    await perform(call, UndoTask(found.task.id))
    return shell.elsewhere(f"/inbox/{call.review_id}")


async def resume(call: Call) -> CallResult:
    """Send what was undone after all."""
    call.read(EmptyBody)
    found = await _waiting(call)
    await perform(call, ResumeTask(found.task.id))
    return shell.elsewhere(f"/inbox/{call.review_id}")


async def mark_seen(call: Call) -> CallResult:
    """Record that the owner has looked at an ended task."""
    call.read(EmptyBody)
    listed = await inbox_listing.listed(call)
    await perform(call, SeeTask(call.task_id))
    return _onward(listed, str(call.task_id))


async def retry(call: Call) -> CallResult:
    """Retry an ended task as a new one; the old one counts as seen."""
    instructions, listed = call.read(NewTry).instructions, await inbox_listing.listed(call)
    await perform(call, RetryTask(call.task_id, instructions))
    return _onward(listed, str(call.task_id))


# Beneath ------------------------------------------------------------------------------------------


async def _open(call: Call, ident: str) -> ReviewPage | None:
    """Return what an address of the inbox names: a question, or an ended task."""
    at = replace(call, path={"id": ident})
    if ident.lower().startswith("task-"):
        found = await ask.of_task(at, at.task_id)
        if found is None or isinstance(found, ReviewPage):
            return found
        return await ask.of_review(call, found)
    return await ask.of_review(at, at.review_id)


async def _page(
    call: Call,
    opened: ReviewPage | None,
    *,
    listed: inbox_listing.InboxListing | None = None,
    chosen: bool = False,
    wrong: str = "",
    status: int = 200,
) -> CallResult:
    values = {
        "listed": listed or await inbox_listing.listed(call),
        "ask": opened,
        "at": opened.id if opened else "",
        "chosen": chosen,
        "wrong": wrong,
        "done": await _just_done(call),
        "undo": call.house.settings.deliver.undo,
        "later": _laters(shell.local(call)),
        "sorts": review_kinds.SORTS,
    }
    return await shell.page(call, "pages/inbox.html", values, status)


async def _just_done(call: Call) -> dict[str, object] | None:
    """Return what the previous page did, and how long it can be undone."""
    ident = call.text("done") or ""
    if not ident.startswith("rev-"):
        return None
    found = await _waiting(replace(call, path={"id": ident}))
    now = shell.local(call)
    stand = trail.of_review(found.review, found.task, ask.undo_of(call), now)
    opened = await ask.of_review(call, ReviewId(ident))
    return {"id": ident, "stand": stand, "ask": opened} if stand.words else None


async def _waiting(call: Call) -> WaitingReview:
    return await call.house.db.read(store.question, call.review_id)


async def _not_done(call: Call, said: NewAnswer, wrong: Exception) -> CallResult:
    """Return the same page with what was typed, and why it failed."""
    opened = await ask.of_review(call, call.review_id)
    first = isinstance(wrong, AlreadyDecided)
    words = "Somebody was first. Nothing of yours was done, and nothing is sent twice."
    typed = said.text or said.words or opened.text
    kept = (
        opened
        if said.answer not in (ReviewAnswer.APPROVE, ReviewAnswer.EDIT, ReviewAnswer.ANSWER)
        else None
    )
    opened = kept or replace(opened, text=typed)
    status = 422 if isinstance(wrong, BadInput) else 409
    return await _page(
        call, opened, chosen=True, wrong=words if first else str(wrong), status=status
    )


def _decision(review: Review, said: NewAnswer) -> NewDecision:
    """What the form means: an approved text that is not the draft is one of the owner's own."""
    text = said.words
    if said.answer is ReviewAnswer.APPROVE:
        edited = bool(text) and text != ask.draft_of(review) and ReviewAnswer.EDIT in review.options
        answer = ReviewAnswer.EDIT if edited else ReviewAnswer.APPROVE
        text = _arguments(review, text) if edited else ""
        return NewDecision(str(review.id), answer, text or None, said.always)
    return NewDecision(str(review.id), said.answer, text or None, said.always)


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


def _check_seen(review: Review, said: NewAnswer) -> None:
    """Refuse an approval of something that was not shown."""
    if review.decision is None and said.digest != ask.digest_of(review):
        sentence = "What is asked here has changed since you saw it. Read it again, then decide."
        raise Conflict(sentence)


def _onward(listed: inbox_listing.InboxListing, ident: str) -> CallResult:
    after = listed.after(ident)
    place = f"/inbox/{after.id}" if after and not after.elsewhere else "/inbox"
    return shell.elsewhere(f"{place}?done={ident}")


def _laters(now: datetime) -> list[tuple[str, str, datetime]]:
    """Return the times a question can be postponed to with one click."""
    evening = now.replace(hour=_EVENING, minute=0, second=0, microsecond=0)
    morning = now.replace(hour=_MORNING, minute=0, second=0, microsecond=0) + timedelta(days=1)
    found = [("hour", "In an hour", now + timedelta(hours=1))]
    if now + timedelta(hours=1) < evening:
        found.append(("evening", "This evening", evening))
    return [*found, ("morning", "Tomorrow morning", morning)]


def _until(said: NewLater, now: datetime) -> datetime:
    if said.until is not None:
        times = {name: at for name, _, at in _laters(now)}
        return times.get(said.until, times["morning"])
    try:
        at = datetime.fromisoformat(said.at)
    except ValueError:
        raise BadInput("Say a time such as 2026-03-02T18:00.", field="at") from None
    at = at if at.tzinfo else at.replace(tzinfo=now.tzinfo)
    if at <= now:
        raise BadInput("That time is over; choose a later one.", field="at")
    return at


ROUTES: Final = (
    page("/inbox", front, "What waits for the owner", _DONE),
    page("/inbox/list", rows, "The list alone", _AT),
    page("/inbox/{id}", review_page, "One thing that waits", _DONE),
    page("/inbox/{id}/stand", stand, "How it stands by now"),
    form("/inbox/{id}/preview", preview, "How a text would arrive", NewText, scope=Scope.READ),
    form("/inbox/{id}", decide, "Decide it", NewAnswer, reviews.DECIDE),
    form("/inbox/{id}/later", later, "Put it off", NewLater, reviews.LATER),
    form("/inbox/{id}/undo", undo, "Call it back", EmptyBody, tasks.UNDO),
    # What was held back goes out: that takes what deciding takes.
    form(
        "/inbox/{id}/resume",
        resume,
        "Send it after all",
        EmptyBody,
        tasks.RESUME,
        scope=Scope.APPROVE,
    ),
    form("/inbox/{id}/seen", mark_seen, "It was seen", EmptyBody, tasks.SEE),
    form("/inbox/{id}/retry", retry, "Try it again", NewTry, tasks.RETRY),
)
