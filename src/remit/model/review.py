"""A review: a question to the owner, and the decision."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.model.ids import ReviewId, TaskId
from remit.model.status import Reason, Status


class ReviewAnswer(StrEnum):
    """The words an owner may decide with."""

    APPROVE = "approve"  # go on as shown
    EDIT = "edit"  # send this text instead
    BACK = "back"  # do it again, with a word
    ANSWER = "answer"  # here is what you asked
    ARRIVED = "arrived"  # the doubtful send got there; the work was done by hand
    RESEND = "resend"  # send it again, I accept the risk
    DROP = "drop"  # leave this delivery, this call or this check out
    DECLINE = "decline"  # stop the task


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

# What a question is about may leave other ways to answer it.
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

WORK: Final = "work"  # everybody who could do it has tried
MERGE: Final = "merge"  # `merge:<branch>`: proven work, on its way to the owner's own folder
INTENDED: Final = "intended"  # `intended:…`: tests that the work changed; was that meant
FIX: Final = "fix"  # what was checked when its group ended failed; shall it be mended
LESSON: Final = "lesson"  # `lesson:<key>`: a change of the owner's own rules or guidelines
CONDITION: Final = "condition"  # whether something holds that a message depends on
CONTACT_RULE: Final = "rule"  # a rule about a contact, as the owner wished for it
CARD: Final = "card"  # `card:<task id> …`: what is open about a message, and the tasks that wait
RESTORED: Final = "restored"  # it may have run before a backup was restored
SEND: Final = "send"  # `send:{…}`: to whom it would go, as it is kept if he says always

NEEDS_TEXT: Final = frozenset({ReviewAnswer.EDIT, ReviewAnswer.BACK, ReviewAnswer.ANSWER})


class Decision(Struct, frozen=True):
    answer: ReviewAnswer
    text: str | None = None
    by: str = "owner"
    decided_at: datetime | None = None
    always: bool = False  # from now on this person may be written to there, unasked


class Review(Struct, frozen=True, kw_only=True):
    """One question. `key` names the place in the run that asks, so that it is asked once."""

    task_id: TaskId
    key: str
    reason: Reason
    question: str
    resume_to: Status
    evidence: str = ""
    # The delivery, or `call:…`, `send:…`, `budget`, `merge:…`, `work`, `fix`, `lesson:…`,
    # `intended:…`, `restored`, `card:…`, `condition`, `rule`.
    about: str | None = None
    digest: str | None = None  # what exactly would be approved
    id: ReviewId | None = None
    opened_at: datetime | None = None
    later_until: datetime | None = None  # the owner has put it off till then
    decision: Decision | None = None
    draft: str | None = None  # after he called a yes back: what he had written with it, or nothing

    def needs_text(self, answer: ReviewAnswer) -> bool:
        """Whether an answer says nothing without a text: what is not checked needs a reason."""
        return answer in NEEDS_TEXT or (self.about == WORK and answer is ReviewAnswer.DROP)

    @property
    def card_tasks(self) -> tuple[TaskId, ...]:
        """The tasks that wait for the same card; none if the question is no card."""
        kind, _, named = (self.about or "").partition(":")
        return tuple(map(TaskId, named.split())) if kind == CARD else ()

    @property
    def options(self) -> tuple[ReviewAnswer, ...]:
        kind, _, _ = (self.about or "").partition(":")
        if self.reason in (Reason.APPROVAL, Reason.VERIFICATION):
            return ABOUT.get(kind, OPTIONS[self.reason])
        return OPTIONS[self.reason]
