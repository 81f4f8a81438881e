"""The page of one waiting thing: the question, the exact text, the reason, and the history."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
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
from remit.server.web import (
    markup,
    message_preview,
    review_kinds,
    shell,
    task_history,
    task_sections,
)
from remit.server.web.markup import PatchView
from remit.server.web.message_preview import ChannelLabel, LetterPreview
from remit.server.web.review_kinds import ReviewButton, ReviewKind, ReviewState
from remit.server.web.task_history import TaskTrail, TryRow
from remit.store import events, inbox, reviews, runs, spending, tasks
from remit.store.database import Tx
from remit.store.inbox import WaitingReview

_NO_TEXT: Final = (HoldReason.DECLINE, HoldReason.EMPTY)  # holds without a usable draft
_MOST_NAMES: Final = 8  # contacts to click
_EVENTS: Final = 200  # the last ones; the task's page has all
_DIFFS: Final = (ReviewKind.LESSON, ReviewKind.INTENDED, ReviewKind.MERGE)


class RecipientLabel(Struct, frozen=True):
    """Who gets a text, and where."""

    name: str
    way: ChannelLabel
    address: str = ""

    @property
    def spoken(self) -> str:
        """The name inside a sentence."""
        return say("you") if self.name == "you" else self.name


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
    def edited(self) -> bool:
        """Whether the owner changed it after it was checked."""
        return self.trail.edited

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


async def read_review(call: Call, review_id: ReviewId) -> ReviewPage:
    zone = call.app.zone
    waiting, past, known, on_card = await call.app.db.read(_review, review_id, zone)
    asked = replace(
        _review_page(call, waiting, past), tried=task_history.rows(known.attempts, zone)
    )
    if shown := [call.app.permits.addressed(task) for task in on_card]:
        return _with_card(call, asked, make_card(shown, zone))
    if asked.kind is not ReviewKind.WHOM:
        return asked
    channel = channel_of(waiting.review, waiting.task)
    options = tuple((name, name) for name in call.app.permits.names(channel)[:_MOST_NAMES])
    return replace(asked, options=options, new_contact=(channel,))


async def read_task(call: Call, task_id: TaskId) -> ReviewPage | ReviewId | None:
    """Return an ended task, or its open question; None if there is nothing to show."""
    task, asked, past = await call.app.db.read(_task, task_id, call.app.zone)
    if asked is not None or not task.ended:
        return asked.id if asked else None
    return _ended_page(call, task, past)


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
    lines = tuple(
        replace(line, options=_offered_answers(call, line, card.language)) for line in card.open
    )
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


def _offered_answers(call: Call, line: OpenLine, language: str) -> tuple[str, ...]:
    """Return answers to click: those of the question, or else usual ones."""
    if line.options:
        return line.options
    if line.about == QuestionTopic.RECIPIENT:
        return tuple(call.app.permits.names()[:_MOST_NAMES])
    say = sentences(language)
    return (say["soon"], say["tomorrow"]) if line.about == QuestionTopic.TIME else ()


def _review(
    tx: Tx, review_id: ReviewId, zone: tzinfo
) -> tuple[WaitingReview, TaskTrail, TryHistory, list[Task]]:
    waiting = inbox.question(tx, review_id)
    kind = review_kinds.kind_of(waiting.review)
    on_card = list[Task]()
    if kind in (ReviewKind.REQUEST, ReviewKind.CONFIRM) and waiting.review.decision is None:
        named = waiting.review.card_tasks or (waiting.task.id,)
        on_card = [task for each in named if not (task := tasks.get(tx, each)).ended]
    known = tries.read(tx, waiting.task) if review_kinds.SORTS[kind].facts else TryHistory()
    return waiting, _past(tx, waiting.task, waiting.used.cents, zone), known, on_card


def _task(tx: Tx, task_id: TaskId, zone: tzinfo) -> tuple[Task, Review | None, TaskTrail]:
    task, asked = tasks.get(tx, task_id), reviews.waiting_of(tx, task_id)
    return task, asked, _past(tx, task, spending.of_task(tx, task_id).cents, zone)


def _past(tx: Tx, task: Task, cents: int, zone: tzinfo) -> TaskTrail:
    past = task_history.trail(
        events.last_of_task(tx, task.id, _EVENTS), runs.steps(tx, task), cents
    )
    return replace(
        past,
        lines=tuple(replace(each, at=each.at.astimezone(zone)) for each in past.lines),
        edited=review_kinds.was_edited(reviews.of_task(tx, task.id)),
    )


def _review_page(call: Call, waiting: WaitingReview, past: TaskTrail) -> ReviewPage:
    review, task = waiting.review, waiting.task
    kind = review_kinds.kind_of(review)
    look, draft = review_kinds.SORTS[kind], draft_of(review)
    title, rest = review_kinds.headline(retell(review.question))
    question = review_kinds.question_text(review.question)
    sends = kind is ReviewKind.SEND
    # For a text the reason is shown; for anything else the facts.
    rule = question if look.title and not look.facts else rest if sends else ""
    made = ReviewPage(
        id=str(review.id),
        kind=kind,
        task=task,
        review=review,
        asked_at=task.created_at.astimezone(call.app.zone),
        title=say(look.title) if look.title else title,
        lead=question if look.facts else "" if look.title or sends else rest,
        why=rule or look.why,
        digest=digest_of(review),
        acts=review_kinds.acts_of(review, kind),
        draft=draft,
        text=review.draft or draft,
        shown=review.evidence,
        patch=markup.read_patch(review.evidence) if kind in _DIFFS else None,
        branch=(review.about or "").partition(":")[2] if kind is ReviewKind.MERGE else "",
        stand=review_kinds.review_state(
            review, task, call.app.inbox.undo_window, shell.local_now(call)
        ),
        trail=past,
    )
    return _with_own_parts(call, made, review)


def _with_own_parts(call: Call, made: ReviewPage, review: Review) -> ReviewPage:
    """Add what only this kind of question has."""
    match made.kind:
        case ReviewKind.SEND | ReviewKind.HELD:
            return _letter(call, made, review)
        case ReviewKind.UNPROVEN if made.task.delivery:
            look = message_preview.preview(call, channel_of(review, made.task), review.evidence)
            return replace(made, look=look)
        case ReviewKind.DOUBT:
            return _doubt(call, made, review)
        case ReviewKind.LESSON:
            named = re.findall(r"task-\w{26}", review.evidence.partition("\n")[0])
            return replace(made, learned_from=tuple(named))
        case _:
            return made


def _letter(call: Call, made: ReviewPage, review: Review) -> ReviewPage:
    channel, allowed = channel_of(review, made.task), permission(review)
    named = [each.recipient for each in made.task.delivery if each.channel == channel]
    to = _recipient(call, channel, named[0] if named else None)
    if allowed:
        to = _recipient(call, channel, allowed.contact, allowed.address)
    title = made.title
    if made.kind is ReviewKind.SEND:
        title = say("Send this to {0} {1}?", to.spoken, to.way.by)
        if to.name == "you" and channel == "dashboard":
            title = say("Keep this on your dashboard?")
    if len(made.task.delivery) == 1 and not made.stand.over:
        # A channel that is gone stays chosen, so that an approval does not change it.
        called = {channel: channel} | task_sections.channel_labels(call.app.settings.channels)
        made = replace(made, goes_to=goes_to(review, made.task), called=called)
        made = replace(made, people=tuple(call.app.permits.names()))
    look = message_preview.preview(call, channel, made.text)
    return replace(made, title=title, to=to, look=look, always=to if allowed else None)


def _recipient(
    call: Call, channel: str, name: str | None, address: str | None = None
) -> RecipientLabel:
    return RecipientLabel(
        name or "you", message_preview.channel_label(call, channel), address or ""
    )


def _doubt(call: Call, made: ReviewPage, review: Review) -> ReviewPage:
    delivery = next((each for each in made.task.delivery if each.id == review.about), None)
    if delivery is None:
        return made
    to = _recipient(call, delivery.channel, delivery.recipient, delivery.address)
    doubted = delivery.doubted_at
    return replace(
        made,
        title=say("Did this reach {0} {1}?", to.spoken, to.way.by),
        to=to,
        look=message_preview.preview(call, delivery.channel, delivery.body or review.evidence),
        lead="",
        delivery=replace(
            delivery, doubted_at=doubted.astimezone(call.app.zone) if doubted else None
        ),
    )


def _ended_page(call: Call, task: Task, past: TaskTrail) -> ReviewPage:
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
        stand=review_kinds.ended_state(task, ended),
        trail=past,
    )


def _sent(call: Call, delivery: Delivery) -> SentText:
    to = _recipient(call, delivery.channel, delivery.recipient, delivery.address)
    look = message_preview.preview(call, delivery.channel, delivery.body or "")
    return SentText(to, look, delivery.status, delivery.reason or "")


def permission(review: Review) -> Permission | None:
    kind, _, address = (review.about or "").partition(":")
    return from_json(Permission, json.loads(address)) if kind == SEND else None
