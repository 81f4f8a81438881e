"""The page of one waiting thing: the question, the exact text, the reason, and the history."""

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit import gate
from remit.gate import HoldReason, Objection, eye, pair
from remit.intake.card import RequestCard, make_card
from remit.journal import tries
from remit.journal.tries import TryHistory
from remit.language.sentences import sentences
from remit.model.codec import from_json
from remit.model.contract import Finding, Result
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import ReviewId, TaskId
from remit.model.permit import Permission
from remit.model.review import SEND, Review, Undo
from remit.model.status import Status
from remit.model.task import Task
from remit.server.call import Call
from remit.server.web import letter, patch, review_kinds, shell, trail
from remit.server.web.letter import ChannelLabel, LetterPreview
from remit.server.web.patch import PatchView
from remit.server.web.review_kinds import ReviewButton, ReviewKind
from remit.server.web.trail import ReviewState, TaskTrail, TryRow
from remit.store import events, inbox, reviews, runs, spending, tasks
from remit.store.database import Tx
from remit.store.inbox import WaitingReview

_NO_TEXT: Final = (HoldReason.DECLINE, HoldReason.EMPTY)  # holds without a usable draft
_EVENTS: Final = 200  # the last ones; the task's page has all


_TITLES: Final = {
    ReviewKind.HELD: "This was held. What shall be sent?",
    ReviewKind.UNPROVEN: "This is not proven. Accept it as it is?",
}
# For these the facts come first.
_LED: Final = {
    ReviewKind.MERGE: "Merge this into your folder?",
    ReviewKind.INTENDED: "Is this change of tests intended?",
    ReviewKind.WORK: "Nobody could prove this. What now?",
    ReviewKind.MEND: "What was merged does not hold. Fix it?",
    ReviewKind.LESSON: "Shall this be learned?",
    ReviewKind.RESTORED: "A backup was restored. Run this once now?",
}


class RecipientLabel(Struct, frozen=True):
    """Who gets a text, and where."""

    name: str
    way: ChannelLabel
    address: str = ""


class SentText(Struct, frozen=True):
    """A text of an ended task, as it was or would have been sent."""

    to: RecipientLabel
    look: LetterPreview
    status: DeliveryStatus
    reason: str


class ReviewPage(Struct, frozen=True, kw_only=True):
    id: str
    kind: ReviewKind
    task: Task
    asked_at: datetime
    title: str
    lead: str = ""
    why: str
    digest: str  # of what is shown: exactly this is approved
    acts: tuple[ReviewButton, ...] = ()
    draft: str = ""  # the editor's initial text
    text: str = ""  # its current text
    shown: str = ""  # its subject, if that is no letter
    to: RecipientLabel | None = None
    look: LetterPreview | None = None
    always: RecipientLabel | None = None  # whom "always" would apply to
    options: tuple[tuple[str, str], ...] = ()  # each, and its text as an answer
    card: RequestCard | None = None  # what was understood of a message, and what is open
    delivery: Delivery | None = None  # the unknown one
    sent: tuple[SentText, ...] = ()
    tried: tuple[TryRow, ...] = ()  # by specialists
    patch: PatchView | None = None  # what would be merged
    branch: str = ""
    learned_from: tuple[str, ...] = ()  # the evidence for a lesson
    stand: ReviewState
    trail: TaskTrail

    @property
    def findings(self) -> Sequence[Finding]:
        verdict = self.task.verdict
        return verdict.findings if verdict else ()

    @property
    def checked(self) -> Sequence[tuple[str, Finding]]:
        """Each finding with its criterion, in the contract's words."""
        contract = self.task.contract
        criteria = contract.criteria if contract else ()
        if len(criteria) != len(self.findings):
            return [(each.activity, each) for each in self.findings]
        pairs = zip(criteria, self.findings, strict=True)
        return [(each.description or found.activity, found) for each, found in pairs]

    @property
    def passed(self) -> int:
        return sum(each.result is Result.PASS for each in self.findings)


async def of_review(call: Call, review_id: ReviewId) -> ReviewPage:
    waiting, past, known, on_card = await call.house.db.read(_review, review_id)
    asked = replace(_asked(call, waiting, past), tried=trail.rows(known.attempts, call.house.zone))
    shown = [call.house.permits.addressed(task) for task in on_card]
    return _with_card(asked, make_card(shown, call.house.zone)) if shown else asked


async def of_task(call: Call, task_id: TaskId) -> ReviewPage | ReviewId | None:
    """Return an ended task, or its open question; None if there is nothing to show."""
    task, open_, past = await call.house.db.read(_task, task_id)
    if open_ is not None:
        return open_
    return _ended(call, task, past) if task.ended else None


def draft_of(review: Review) -> str:
    """Return the editor's initial text, as a browser will send it back."""
    text = review.evidence
    if review_kinds.kind_of(review) is ReviewKind.HELD and ":held:reply:" in review.key:
        # A whole reply contains the reasoning; only the part between the tags is meant.
        found = pair.find(text, eye.fold(text))
        text = "" if isinstance(found, Objection) else found[0].strip()
        judged = gate.judge_text(text, most=len(text) + 1)
        text = "" if isinstance(judged, Objection) and judged.why in _NO_TEXT else text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def channel_of(review: Review, task: Task) -> str:
    """Return where a text would go: by the question, or else the first pending delivery."""
    to = permission(review)
    left = [each for each in task.delivery if each.status is DeliveryStatus.PENDING]
    named = [each for each in task.delivery if str(each.id) in review.key.split(":")]
    first = next(iter((*named, *left, *task.delivery)), None)
    return to.channel if to else first.channel if first else "dashboard"


def digest_of(review: Review) -> str:
    """Return the digest; a question without one is bound by its own words."""
    whole = f"{review.question}\x1f{review.evidence}"
    return review.digest or hashlib.sha256(whole.encode()).hexdigest()


def _with_card(asked: ReviewPage, card: RequestCard) -> ReviewPage:
    """Add the card of a message; with several open lines an answer starts with a number."""
    many = len(card.open) > 1
    options = tuple(
        (option, f"{line.number}: {option}" if many else option)
        for line in card.open
        for option in line.options
        if asked.kind is ReviewKind.REQUEST
    )
    if not many or asked.kind is not ReviewKind.REQUEST:
        return replace(asked, card=card, options=options)
    title = sentences(card.language)["several"].format(len(card.open))
    problem, _, _ = asked.lead.partition(title)  # why the last answer was not accepted
    return replace(asked, card=card, options=options, title=title.rstrip("."), lead=problem.strip())


def _review(tx: Tx, review_id: ReviewId) -> tuple[WaitingReview, TaskTrail, TryHistory, list[Task]]:
    waiting = inbox.question(tx, review_id)
    past = _past(tx, waiting.task, waiting.used.cents)
    of_work = review_kinds.kind_of(waiting.review) in _LED
    of_request = review_kinds.kind_of(waiting.review) in (ReviewKind.REQUEST, ReviewKind.CONFIRM)
    named = waiting.review.card_tasks or (waiting.task.id,)
    shown = of_request and waiting.review.decision is None
    on_card = [tasks.get(tx, each) for each in named] if shown else []
    known = tries.read(tx, waiting.task) if of_work else TryHistory()
    return waiting, past, known, [task for task in on_card if not task.ended]


def _task(tx: Tx, task_id: TaskId) -> tuple[Task, ReviewId | None, TaskTrail]:
    task = tasks.get(tx, task_id)
    asked = (each.id for each in reviews.of_task(tx, task_id) if each.decision is None)
    return task, next(asked, None), _past(tx, task, spending.of_task(tx, task_id).cents)


def _past(tx: Tx, task: Task, cents: int) -> TaskTrail:
    told = events.last_of_task(tx, task.id, _EVENTS)
    return trail.trail(told, runs.steps(tx, task), cents)


def _asked(call: Call, waiting: WaitingReview, past: TaskTrail) -> ReviewPage:
    review, task, zone = waiting.review, waiting.task, call.house.zone
    kind = review_kinds.kind_of(review)
    title, rest = review_kinds.headline(review.question)
    # For a text the reason is shown; for anything else the facts.
    rule = (
        review_kinds.question_text(review.question)
        if kind in _TITLES
        else rest
        if kind is ReviewKind.SEND
        else ""
    )
    draft = draft_of(review)
    made = ReviewPage(
        id=str(review.id),
        kind=kind,
        task=task,
        asked_at=task.created_at.astimezone(zone),
        title=(_TITLES | _LED).get(kind, title),
        lead=_lead(review, kind, rest),
        why=review_kinds.why(kind, rule),
        digest=digest_of(review),
        acts=review_kinds.acts_of(review, kind),
        draft=draft,
        text=review.draft or draft,
        shown=review.evidence,
        stand=trail.of_review(review, task, undo_of(call), shell.local(call)),
        trail=_local(past, call),
    )
    if kind is ReviewKind.LESSON:
        named = tuple(re.findall(r"task-\w{26}", review.evidence.partition("\n")[0]))
        return replace(made, patch=patch.read(review.evidence), learned_from=named)
    if kind is ReviewKind.INTENDED:
        return replace(made, patch=patch.read(review.evidence))
    if kind is ReviewKind.MERGE:
        branch = (review.about or "").partition(":")[2]
        return replace(made, patch=patch.read(review.evidence), branch=branch)
    return _with(call, made, review)


def _lead(review: Review, kind: ReviewKind, rest: str) -> str:
    if kind in _LED:
        return review_kinds.question_text(review.question)
    return "" if kind in _TITLES or kind is ReviewKind.SEND else rest


def _with(call: Call, made: ReviewPage, review: Review) -> ReviewPage:
    """Add what only this kind of question has."""
    match made.kind:
        case ReviewKind.SEND | ReviewKind.HELD:
            return _letter(call, made, review)
        case ReviewKind.UNPROVEN if made.task.delivery:
            look = letter.look(call, channel_of(review, made.task), review.evidence)
            return replace(made, look=look)
        case ReviewKind.DOUBT:
            return _doubt(call, made, review)
        case _:
            return made


def _letter(call: Call, made: ReviewPage, review: Review) -> ReviewPage:
    channel, allowed = channel_of(review, made.task), permission(review)
    way = letter.way(call, channel)
    to = (
        RecipientLabel(allowed.contact, way, allowed.address)
        if allowed
        else _first_to(made.task, way)
    )
    title = f"Send this to {to.name} {way.by}?" if made.kind is ReviewKind.SEND else made.title
    return replace(
        made,
        title=title,
        to=to,
        look=letter.look(call, channel, made.text),
        always=to if allowed else None,
    )


def _first_to(task: Task, way: ChannelLabel) -> RecipientLabel:
    named = [each.recipient for each in task.delivery if each.channel == way.name]
    return RecipientLabel((named[0] if named else None) or "you", way)


def _doubt(call: Call, made: ReviewPage, review: Review) -> ReviewPage:
    delivery = next((each for each in made.task.delivery if each.id == review.about), None)
    if delivery is None:
        return made
    way = letter.way(call, delivery.channel)
    to = RecipientLabel(delivery.recipient or "you", way, delivery.address or "")
    doubted = delivery.doubted_at
    local = doubted.astimezone(call.house.zone) if doubted else None
    return replace(
        made,
        title=f"Did this reach {to.name} {way.by}?",
        to=to,
        look=letter.look(call, delivery.channel, delivery.body or review.evidence),
        lead="",
        delivery=replace(delivery, doubted_at=local),
    )


def _ended(call: Call, task: Task, past: TaskTrail) -> ReviewPage:
    failed = task.status is Status.FAILED
    ended = (task.completed_at or task.last_updated).astimezone(call.house.zone)
    return ReviewPage(
        id=str(task.id),
        kind=ReviewKind.FIX if failed else ReviewKind.LOOK,
        task=task,
        asked_at=task.created_at.astimezone(call.house.zone),
        title=task.title,
        why=(past.end or "It ended without a word.") if failed else "",
        digest="",
        shown=task.tool_output or task.result_summary or "",
        sent=tuple(_sent(call, each) for each in task.delivery if each.body and not each.part),
        stand=trail.of_task(task, ended),
        trail=_local(past, call),
    )


def _sent(call: Call, delivery: Delivery) -> SentText:
    to = RecipientLabel(
        delivery.recipient or "you", letter.way(call, delivery.channel), delivery.address or ""
    )
    look = letter.look(call, delivery.channel, delivery.body or "")
    return SentText(to, look, delivery.status, delivery.reason or "")


def undo_of(call: Call) -> Undo:
    return Undo(call.house.settings.deliver.undo, ("dashboard",))


def permission(review: Review) -> Permission | None:
    kind, _, said = (review.about or "").partition(":")
    return from_json(Permission, json.loads(said)) if kind == SEND else None


def _local(past: TaskTrail, call: Call) -> TaskTrail:
    zone = call.house.zone
    return replace(
        past, lines=tuple(replace(each, at=each.at.astimezone(zone)) for each in past.lines)
    )
