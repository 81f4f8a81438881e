"""A review: a question to the owner, and the decision."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.model.ids import ReviewId, TaskId
from remit.model.status import Reason, Status


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
