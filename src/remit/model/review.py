"""A review: a question to the owner, why it is asked, its inbox group, the decision, the undo.

Also what an answer about the request changes in tasks that have not begun, and a rule for a contact
that the owner's words ask for: a proposal until it is accepted.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, TypeAlias, cast

from msgspec import Struct

from remit.model.codec import JsonMap, from_json, sha256, text_of
from remit.model.delivery import DeliveryStatus
from remit.model.ids import ReviewId, TaskId
from remit.model.permit import Permission, QuietTimes
from remit.model.status import Reason, Status
from remit.model.task import Task


class ReviewAnswer(StrEnum):
    """The words an owner may decide with."""

    APPROVE = "approve"  # continue as shown
    EDIT = "edit"  # send this text instead
    BACK = "back"  # do it again, with a remark
    ANSWER = "answer"  # the answer to the question
    ARRIVED = "arrived"  # the unknown send arrived; or the work was done by hand
    RESEND = "resend"  # send it again and accept the risk
    DROP = "drop"  # leave out this delivery, call or check
    DECLINE = "decline"  # stop the task
    READDRESS = "readdress"  # the text goes to somebody else, who is asked about next


_APPROVE, _EDIT, _BACK, _ANSWER = (
    ReviewAnswer.APPROVE,
    ReviewAnswer.EDIT,
    ReviewAnswer.BACK,
    ReviewAnswer.ANSWER,
)
_ARRIVED, _RESEND, _DROP, _DECLINE = (
    ReviewAnswer.ARRIVED,
    ReviewAnswer.RESEND,
    ReviewAnswer.DROP,
    ReviewAnswer.DECLINE,
)

OPTIONS: Final[dict[Reason, tuple[ReviewAnswer, ...]]] = {
    Reason.APPROVAL: (_APPROVE, _EDIT, _BACK, _DECLINE),
    Reason.INPUT: (_ANSWER, _DECLINE),
    Reason.AUTH: (_APPROVE, _DECLINE),
    Reason.DELIVERABLE: (_EDIT, _BACK, _DECLINE),
    Reason.VERIFICATION: (_APPROVE, _BACK, _DECLINE),
    Reason.AMBIGUOUS: (_ARRIVED, _RESEND, _DROP, _DECLINE),
    Reason.POISON: (_APPROVE, _DECLINE),
}

# Some subjects allow other answers.
ABOUT: Final[dict[str, tuple[ReviewAnswer, ...]]] = {
    "call": (_APPROVE, _EDIT, _DROP, _DECLINE),
    "budget": (_APPROVE, _DECLINE),
    "merge": (_APPROVE, _BACK, _DROP, _DECLINE),
    "work": (_BACK, _ARRIVED, _DROP, _DECLINE),
    "fix": (_APPROVE, _DECLINE),
    "intended": (_APPROVE, _DROP, _DECLINE),
    "lesson": (_APPROVE, _DROP, _DECLINE),
    "restored": (_APPROVE, _DECLINE),
    "card": (_APPROVE, _ANSWER, _DECLINE),
    "condition": (_APPROVE, _DROP, _DECLINE),
    "rule": (_APPROVE, _DECLINE),
}

WORK: Final = "work"  # every specialist has tried
MERGE: Final = "merge"  # `merge:<branch>`: verified work to merge into the owner's folder
INTENDED: Final = "intended"  # `intended:…`: tests that the work changed; was that intended
FIX: Final = "fix"  # a deferred check failed; shall it be fixed
LESSON: Final = "lesson"  # `lesson:<key>`: a change of the owner's rules or guidelines
CONDITION: Final = "condition"  # whether the condition of a message is true
CONTACT_RULE: Final = "rule"  # a contact rule that the owner asked for
CARD: Final = "card"  # `card:<task id> …`: open points of a message, and the tasks that wait
RESTORED: Final = "restored"  # it may have run before a backup was restored
SEND: Final = "send"  # `send:{…}`: the permission that is stored if the owner says always

NEEDS_TEXT: Final = frozenset({ReviewAnswer.EDIT, ReviewAnswer.BACK, ReviewAnswer.ANSWER})


class Decision(Struct, frozen=True):
    answer: ReviewAnswer
    text: str | None = None
    by: str = "owner"
    decided_at: datetime | None = None
    always: bool = False  # from now on this person may be written to there without asking


class Review(Struct, frozen=True, kw_only=True):
    """One question. `key` names the place in the run that asks it, so that it is asked once."""

    task_id: TaskId
    key: str
    reason: Reason
    question: str
    resume_to: Status
    evidence: str = ""
    # The delivery, or `call:…`, `send:…`, `budget`, `merge:…`, `work`, `fix`, `lesson:…`,
    # `intended:…`, `restored`, `card:…`, `condition`, `rule`.
    about: str | None = None
    digest: str | None = None  # the digest of exactly what would be approved
    id: ReviewId | None = None
    opened_at: datetime | None = None
    later_until: datetime | None = None  # postponed by the owner until then
    decision: Decision | None = None
    draft: str | None = None  # after an undone approval: the owner's text, if any

    def needs_text(self, answer: ReviewAnswer) -> bool:
        """Whether an answer needs a text: skipping a check needs a reason."""
        return answer in NEEDS_TEXT or (self.about == WORK and answer is ReviewAnswer.DROP)

    @property
    def about_text(self) -> bool:
        """Whether it is about a text to send, which is its evidence."""
        sends = self.reason in _ABOUT_A_TEXT and self.resume_to is Status.DELIVERING
        return sends and bool(self.evidence)

    @property
    def about_reply(self) -> bool:
        """Whether it is about a whole reply that the gate held."""
        return ":held:reply:" in self.key

    @property
    def card_tasks(self) -> tuple[TaskId, ...]:
        """The tasks that wait for the same card; empty if the review is no card."""
        kind, _, named = (self.about or "").partition(":")
        return tuple(map(TaskId, named.split())) if kind == CARD else ()

    @property
    def options(self) -> tuple[ReviewAnswer, ...]:
        kind, _, _ = (self.about or "").partition(":")
        if self.reason in (Reason.APPROVAL, Reason.VERIFICATION):
            return ABOUT.get(kind, OPTIONS[self.reason])
        return OPTIONS[self.reason]


class ApprovalRule(Struct, frozen=True):
    """The rule that asks, by name, and what it says."""

    name: str
    says: str


class SendTarget(Struct, frozen=True):
    """Where a message would go: the channel, the recipient, and the address that was shown."""

    channel: str
    recipient: str | None = None  # None: the owner
    address: str | None = None


_ABOUT: Final[Mapping[str, ApprovalRule]] = {
    SEND: ApprovalRule("send-to-person", "A message to somebody else needs your approval."),
    "call": ApprovalRule("use-a-tool", "This tool needs your approval."),
    MERGE: ApprovalRule("merge", "Changes come into your folder only with your approval."),
    INTENDED: ApprovalRule("intended", "Tests that check the work change only with your approval."),
    FIX: ApprovalRule("fix", "A check failed later; it is fixed only with your approval."),
    LESSON: ApprovalRule("lesson", "Your rules and guidelines change only with your approval."),
    RESTORED: ApprovalRule(
        "restored", "It may have run before the restore; it runs again only with your approval."
    ),
    "budget": ApprovalRule("budget", "It would cost more than the settings allow."),
}
_REASONS: Final[Mapping[Reason, ApprovalRule]] = {
    Reason.APPROVAL: ApprovalRule("approval", "This needs your approval."),
    Reason.INPUT: ApprovalRule("question", "It cannot go on without an answer of yours."),
    Reason.AUTH: ApprovalRule("account", "An account must be fixed before it goes on."),
    Reason.DELIVERABLE: ApprovalRule("gate", "What was written is not fit to be sent."),
    Reason.VERIFICATION: ApprovalRule("contract", "The work is not proven by its contract."),
    Reason.AMBIGUOUS: ApprovalRule(
        "no-second-send", "Nobody knows whether it was done; it is not redone."
    ),
    Reason.POISON: ApprovalRule(
        "crashes", "Remit ended more than once while this was at work, or could not save it."
    ),
}


def rule_of(review: Review) -> ApprovalRule:
    """Why the owner is asked."""
    kind = (review.about or "").partition(":")[0]
    plain = _REASONS[review.reason]
    return _ABOUT.get(kind, plain) if review.reason is Reason.APPROVAL else plain


def place_of(review: Review, task: Task) -> SendTarget | None:
    """Return where the reviewed text would be sent; None if nothing would be sent."""
    about = review.about or ""
    if about.startswith(f"{SEND}:"):
        to = from_json(Permission, json.loads(about.removeprefix(f"{SEND}:")))
        return SendTarget(to.channel, to.contact, to.address or None)
    for each in task.delivery:
        if each.id and str(each.id) in (about, *review.key.split(":")):
            return SendTarget(each.channel, each.recipient, each.address)
    waits = [each for each in task.delivery if each.status is DeliveryStatus.PENDING]
    if review.resume_to is Status.DELIVERING and waits:
        return SendTarget(waits[0].channel, waits[0].recipient, waits[0].address)
    return None


class InboxGroup(StrEnum):
    DECIDE = "decide"  # a question waits for the owner's decision
    LOOK = "look"  # it is done; the owner has not seen it
    FIX = "fix"  # it failed; the owner has not seen it


FRESH: Final = timedelta(days=7)  # how long an ended task stays in the inbox unseen
DECLINE_UNDO_SECONDS: Final = 10  # where messages leave at once
_YES: Final = (ReviewAnswer.APPROVE, ReviewAnswer.EDIT)
_ABOUT_A_TEXT: Final = (Reason.APPROVAL, Reason.DELIVERABLE)


class Undo(Struct, frozen=True):
    """How long an approval that sends something, or a decline, can be undone."""

    seconds: int = 0
    at_once: tuple[str, ...] = ()  # channels on which nothing leaves this machine
    declines: bool = False  # whether a decline can be undone too: the task ends only then

    def due(self, task: Task, review: Review, decision: Decision, now: datetime) -> datetime:
        """Return when a task continues after a decision: later, if that can be undone."""
        return now + timedelta(seconds=self.seconds_for(task, review, decision.answer))

    def seconds_for(self, task: Task, review: Review, answer: ReviewAnswer) -> int:
        """Return how long an answer can be undone; 0: not at all."""
        if answer is ReviewAnswer.DECLINE:
            doubted = review.reason is Reason.AMBIGUOUS  # what was sent may have arrived
            return 0 if doubted or not self.declines else self.seconds or DECLINE_UNDO_SECONDS
        sends = review.reason in _ABOUT_A_TEXT and review.resume_to is Status.DELIVERING
        leaves = any(
            each.status is DeliveryStatus.PENDING and each.channel not in self.at_once
            for each in task.delivery
        )
        return self.seconds if sends and leaves and answer in _YES else 0


AT_ONCE: Final = Undo()


class SettledTask(Struct, frozen=True):
    """One task after an answer; `problem` says why the answer was not accepted.

    A task that is `over` has nothing left to do: the owner left everything out.
    """

    task: Task
    problem: str = ""
    over: bool = False


class SettledCard(Struct, frozen=True):
    """The tasks of a card that an answer changed, and the next card if something is open.

    `approved` are the approvals that a yes gives, each bound to the text shown on the card.
    """

    tasks: tuple[SettledTask, ...]
    ask: Review | None = None
    approved: tuple[Review, ...] = ()
    understood: bool = True


# Pure: it runs inside the transaction that stores the decision. The first task is the one with the
# review; the others wait for the same answer.
Settle: TypeAlias = Callable[[Sequence[Task], Review, str, datetime], SettledCard]


RULE: Final = "rule"  # the agent of a task that only writes a rule into the contact book
_CONTEXT: Final = "contact_rule"


class ContactRule(Struct, frozen=True):
    """A person gets no messages at these times."""

    name: str
    quiet: QuietTimes

    @property
    def context(self) -> JsonMap:
        """The rule as the task's context stores it."""
        return {_CONTEXT: {"name": self.name, "quiet": [*self.quiet.texts]}}

    @property
    def digest(self) -> str:
        """The digest of exactly what is accepted."""
        return sha256(text_of(self.context).encode()).hex()


def contact_rule_of(task: Task) -> ContactRule | None:
    """Return the rule that a task proposes; None if it proposes none."""
    kept = task.context.get(_CONTEXT)
    if task.assigned_agent != RULE or not isinstance(kept, dict):
        return None
    texts = cast("list[str]", kept["quiet"])
    return ContactRule(str(kept["name"]), QuietTimes.parse(texts))


def rule_review(task: Task, rule: ContactRule, sentence: str = "") -> Review:
    """Make the review for a rule the owner asked for; the answer is bound to its digest."""
    times = ", ".join(rule.quiet.texts)
    return Review(
        task_id=task.id,
        key=f"{task.round}:rule:{rule.digest}",
        reason=Reason.APPROVAL,
        question=sentence or f"Shall this be a rule from now on: {rule.name} gets nothing {times}?",
        evidence=f"contacts.yaml, {rule.name}: quiet: {times}",
        about=CONTACT_RULE,
        digest=rule.digest,
        resume_to=Status.RUNNING,
    )
