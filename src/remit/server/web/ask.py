"""The page of one waiting thing: the question, the exact text, the reason, and the history."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit import gate
from remit.gate import HoldReason, Objection, eye, pair
from remit.intake.card import OpenLine, RequestCard, make_card
from remit.intake.extraction import QuestionTopic
from remit.journal import tries
from remit.journal.tries import TryHistory
from remit.language.sentences import sentences
from remit.model.codec import from_json
from remit.model.contract import Finding, Result
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import ReviewId, TaskId
from remit.model.permit import Permission
from remit.model.review import SEND, Review
from remit.model.status import Status
from remit.model.task import Task
from remit.server.call import Call
from remit.server.page_language import retell, say
from remit.server.web import letter, markup, review_kinds, shell, task_sections, trail
from remit.server.web.letter import ChannelLabel, LetterPreview
from remit.server.web.markup import PatchView
from remit.server.web.review_kinds import ReviewButton, ReviewKind
from remit.server.web.trail import ReviewState, TaskTrail, TryRow
from remit.store import events, inbox, reviews, runs, spending, tasks
from remit.store.database import Tx
from remit.store.inbox import WaitingReview

_NO_TEXT: Final = (HoldReason.DECLINE, HoldReason.EMPTY)  # holds without a usable draft
_MOST_NAMES: Final = 8  # contacts to click
_EVENTS: Final = 200  # the last ones; the task's page has all


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
    review: Review | None = None  # None: an ended task
    asked_at: datetime
    title: str
    lead: str = ""
    why: str
    digest: str  # of what is shown: exactly this is approved
    acts: tuple[ReviewButton, ...] = ()
    draft: str = ""  # the editor's initial text
    text: str = ""  # its current text
    edited: bool = False  # the owner changed it after it was checked
    shown: str = ""  # its subject, if that is no letter
    to: RecipientLabel | None = None
    goes_to: tuple[str, str] | None = None  # recipient and channel, if they can be changed
    called: Mapping[str, str] = {}  # every channel that a text can go to
    people: tuple[str, ...] = ()
    look: LetterPreview | None = None
    always: RecipientLabel | None = None  # whom "always" would apply to
    options: tuple[tuple[str, str], ...] = ()  # each, and its text as an answer
    new_contact: tuple[str, ...] = ()  # on which channels the answer may be a new contact
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
    def skipped(self) -> int:
        return sum(each.result is Result.SKIPPED for each in self.findings)

    @property
    def passed(self) -> int:
        return sum(each.result is Result.PASS for each in self.findings)


async def of_review(call: Call, review_id: ReviewId) -> ReviewPage:
    waiting, past, known, on_card = await call.app.db.read(_review, review_id)
    asked = _asked(call, waiting, past)
    asked = replace(asked, tried=trail.rows(known.attempts, call.app.zone), edited=past.edited)
    shown = [call.app.permits.addressed(task) for task in on_card]
    if shown:
        return _with_card(call, asked, make_card(shown, call.app.zone))
    if asked.kind is not ReviewKind.WHOM:
        return asked
    channel = channel_of(waiting.review, waiting.task)
    names = call.app.permits.names(channel)[:_MOST_NAMES]
    options = tuple((name, name) for name in names)
    return replace(asked, options=options, new_contact=(channel,))


async def of_task(call: Call, task_id: TaskId) -> ReviewPage | ReviewId | None:
    """Return an ended task, or its open question; None if there is nothing to show."""
    task, asked, past = await call.app.db.read(_task, task_id)
    if asked is not None or not task.ended:
        return asked.id if asked else None
    return replace(_ended(call, task, past), edited=past.edited)


def draft_of(review: Review) -> str:
    """Return the editor's initial text, as a browser will send it back."""
    text = review.evidence
    if review.about_reply:
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


def goes_to(review: Review, task: Task) -> tuple[str, str]:
    """Return who gets a text, and on which channel; the owner is an empty name."""
    to, channel = permission(review), channel_of(review, task)
    named = next((each.recipient for each in task.delivery if each.channel == channel), None)
    return (to.contact if to else named or ""), channel


def digest_of(review: Review) -> str:
    """Return the digest; a question without one is bound by its own words."""
    whole = f"{review.question}\x1f{review.evidence}"
    return review.digest or hashlib.sha256(whole.encode()).hexdigest()


def _with_card(call: Call, asked: ReviewPage, card: RequestCard) -> ReviewPage:
    """Add the card of a message; with several open lines an answer starts with a number."""
    lines = tuple(replace(line, options=_offered(call, line, card.language)) for line in card.open)
    card, many = replace(card, open=lines), len(lines) > 1
    options = tuple(
        (option, f"{line.number}: {option}" if many else option)
        for line in lines
        for option in line.options
        if asked.kind is ReviewKind.REQUEST
    )
    if not many and lines and lines[0].about == QuestionTopic.RECIPIENT:
        asked = replace(asked, new_contact=tuple(call.app.settings.channels) or ("dashboard",))
    if not many or asked.kind is not ReviewKind.REQUEST:
        return replace(asked, card=card, options=options)
    title = sentences(card.language)["several"].format(len(card.open))
    problem, _, _ = asked.lead.partition(title)  # why the last answer was not accepted
    return replace(
        asked, card=card, options=options, title=retell(title).rstrip("."), lead=problem.strip()
    )


def _offered(call: Call, line: OpenLine, language: str) -> tuple[str, ...]:
    """Return answers to click: those of the question, or else usual ones."""
    if line.options:
        return line.options
    if line.about == QuestionTopic.RECIPIENT:
        return tuple(call.app.permits.names()[:_MOST_NAMES])
    say = sentences(language)
    return (say["soon"], say["tomorrow"]) if line.about == QuestionTopic.TIME else ()


def _review(tx: Tx, review_id: ReviewId) -> tuple[WaitingReview, TaskTrail, TryHistory, list[Task]]:
    waiting = inbox.question(tx, review_id)
    past = _past(tx, waiting.task, waiting.used.cents)
    of_work = review_kinds.SORTS[review_kinds.kind_of(waiting.review)].facts
    of_request = review_kinds.kind_of(waiting.review) in (ReviewKind.REQUEST, ReviewKind.CONFIRM)
    named = waiting.review.card_tasks or (waiting.task.id,)
    shown = of_request and waiting.review.decision is None
    on_card = [tasks.get(tx, each) for each in named] if shown else []
    known = tries.read(tx, waiting.task) if of_work else TryHistory()
    return waiting, past, known, [task for task in on_card if not task.ended]


def _task(tx: Tx, task_id: TaskId) -> tuple[Task, Review | None, TaskTrail]:
    task, asked = tasks.get(tx, task_id), reviews.waiting_of(tx, task_id)
    return task, asked, _past(tx, task, spending.of_task(tx, task_id).cents)


def _past(tx: Tx, task: Task, cents: int) -> TaskTrail:
    events_found = events.last_of_task(tx, task.id, _EVENTS)
    past = trail.trail(events_found, runs.steps(tx, task), cents)
    return replace(past, edited=review_kinds.was_edited(reviews.of_task(tx, task.id)))


def _asked(call: Call, waiting: WaitingReview, past: TaskTrail) -> ReviewPage:
    review, task, zone = waiting.review, waiting.task, call.app.zone
    kind = review_kinds.kind_of(review)
    look = review_kinds.SORTS[kind]
    title, rest = review_kinds.headline(retell(review.question))
    # For a text the reason is shown; for anything else the facts.
    rule = (
        review_kinds.question_text(review.question)
        if look.title and not look.facts
        else rest
        if kind is ReviewKind.SEND
        else ""
    )
    draft = draft_of(review)
    made = ReviewPage(
        id=str(review.id),
        kind=kind,
        task=task,
        review=review,
        asked_at=task.created_at.astimezone(zone),
        title=say(look.title) if look.title else title,
        lead=_lead(review, kind, rest),
        why=rule or look.why,
        digest=digest_of(review),
        acts=review_kinds.acts_of(review, kind),
        draft=draft,
        text=review.draft or draft,
        shown=review.evidence,
        stand=trail.of_review(review, task, call.app.inbox.undo_window, shell.local(call)),
        trail=_local(past, call),
    )
    if kind is ReviewKind.LESSON:
        named = tuple(re.findall(r"task-\w{26}", review.evidence.partition("\n")[0]))
        return replace(made, patch=markup.read_patch(review.evidence), learned_from=named)
    if kind is ReviewKind.INTENDED:
        return replace(made, patch=markup.read_patch(review.evidence))
    if kind is ReviewKind.MERGE:
        branch = (review.about or "").partition(":")[2]
        return replace(made, patch=markup.read_patch(review.evidence), branch=branch)
    return _with(call, made, review)


def _lead(review: Review, kind: ReviewKind, rest: str) -> str:
    look = review_kinds.SORTS[kind]
    if look.facts:
        return review_kinds.question_text(review.question)
    return "" if look.title or kind is ReviewKind.SEND else rest


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
    title = (
        say("Send this to {0} {1}?", _you(to.name), way.by)
        if made.kind is ReviewKind.SEND
        else made.title
    )
    if made.kind is ReviewKind.SEND and to.name == "you" and channel == "dashboard":
        title = say("Keep this on your dashboard?")
    if len(made.task.delivery) == 1 and not made.stand.over:
        # A channel that is gone stays chosen, so that an approval does not change it.
        called = {channel: channel} | task_sections.called(call.app.settings.channels)
        made = replace(made, goes_to=goes_to(review, made.task), called=called)
        made = replace(made, people=tuple(call.app.permits.names()))
    return replace(
        made,
        title=title,
        to=to,
        look=letter.look(call, channel, made.text),
        always=to if allowed else None,
    )


def _you(name: str) -> str:
    return say("you") if name == "you" else name


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
    local = doubted.astimezone(call.app.zone) if doubted else None
    return replace(
        made,
        title=say("Did this reach {0} {1}?", _you(to.name), way.by),
        to=to,
        look=letter.look(call, delivery.channel, delivery.body or review.evidence),
        lead="",
        delivery=replace(delivery, doubted_at=local),
    )


def _ended(call: Call, task: Task, past: TaskTrail) -> ReviewPage:
    failed = task.status is Status.FAILED
    ended = (task.completed_at or task.last_updated).astimezone(call.app.zone)
    return ReviewPage(
        id=str(task.id),
        kind=ReviewKind.FIX if failed else ReviewKind.LOOK,
        task=task,
        asked_at=task.created_at.astimezone(call.app.zone),
        title=task.title,
        why=(past.end or say("It ended without a message.")) if failed else "",
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


def permission(review: Review) -> Permission | None:
    kind, _, address = (review.about or "").partition(":")
    return from_json(Permission, json.loads(address)) if kind == SEND else None


def _local(past: TaskTrail, call: Call) -> TaskTrail:
    zone = call.app.zone
    return replace(
        past, lines=tuple(replace(each, at=each.at.astimezone(zone)) for each in past.lines)
    )
