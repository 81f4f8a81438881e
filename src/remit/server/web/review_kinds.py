"""A question on the pages: its kind, its headline, the possible answers, and how it stands."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Final

from msgspec import Struct, convert

from remit import review
from remit.journal import event_words
from remit.language.files import read_toml
from remit.language.sentences import TRANSLATED, in_language
from remit.model.delivery import DeliveryStatus
from remit.model.review import (
    CARD,
    CONDITION,
    CONTACT_RULE,
    FIX,
    INTENDED,
    LESSON,
    MERGE,
    RESTORED,
    SEND,
    WORK,
    Review,
    ReviewAnswer,
    Undo,
)
from remit.model.status import Reason, Status
from remit.model.task import Task
from remit.server.page_language import retell, say
from remit.server.web import words


class ReviewKind(StrEnum):
    SEND = "send"  # may this text be sent
    HELD = "held"  # the gate held the text
    QUESTION = "question"  # the work needs an answer
    WHOM = "whom"  # the recipient is unclear
    REQUEST = "request"  # the request is incomplete
    CONFIRM = "confirm"  # a message's card only needs a yes
    CONDITION = "condition"  # is the condition of a message true
    RULE = "rule"  # shall a wish become a contact rule
    CALL = "call"  # may a tool be used
    BEGUN = "begun"  # was a tool used
    DOUBT = "doubt"  # did a message arrive
    UNPROVEN = "unproven"  # the work does not meet its contract
    WORK = "work"  # every specialist has tried
    MERGE = "merge"  # may verified work be merged
    INTENDED = "intended"  # was a change of tests intended
    LESSON = "lesson"  # may the owner's rules or guidelines be changed
    MEND = "mend"  # a deferred check failed; shall it be fixed
    RESTORED = "restored"  # it may have run before a backup was restored
    LOCKED = "locked"  # an account must be fixed
    BUDGET = "budget"  # it would exceed the budget
    POISON = "poison"  # it crashed Remit several times
    LOOK = "look"  # an unseen result
    FIX = "fix"  # a failed task


class ReviewButton(Struct, frozen=True):
    """One possible answer. `asks` is a confirmation before it is sent, if any."""

    answer: ReviewAnswer
    word: str
    icon: str
    key: str = ""
    asks: str = ""
    needs: bool = False  # whether it needs a text
    danger: bool = False


class ReviewStyle(Struct, frozen=True):
    """How a kind of question looks and is answered; the first answer is the primary one."""

    icon: str
    colour: str = "you"
    title: str = ""  # its headline, if that is not the question
    facts: bool = False  # what was found stands under the headline
    why: str = ""
    first: ReviewButton | None = None
    buttons: tuple[str, ...] = ()

    @property
    def acts(self) -> tuple[ReviewButton, ...]:
        first = (self.first,) if self.first else ()
        return (*first, *(_KINDS.buttons[name] for name in self.buttons))


class _ReviewKinds(Struct, frozen=True):
    buttons: Mapping[str, ReviewButton]
    kinds: Mapping[ReviewKind, ReviewStyle]


_KINDS: Final = convert(read_toml("review_kinds", __package__), _ReviewKinds)
SORTS: Final = _KINDS.kinds
_OF_REASON: Final = {
    Reason.INPUT: ReviewKind.QUESTION,
    Reason.AUTH: ReviewKind.LOCKED,
    Reason.DELIVERABLE: ReviewKind.HELD,
    Reason.VERIFICATION: ReviewKind.UNPROVEN,
    Reason.AMBIGUOUS: ReviewKind.DOUBT,
    Reason.POISON: ReviewKind.POISON,
    Reason.APPROVAL: ReviewKind.QUESTION,
}
_OF_ABOUT: Final = {
    "call": ReviewKind.CALL,
    "budget": ReviewKind.BUDGET,
    MERGE: ReviewKind.MERGE,
    FIX: ReviewKind.MEND,
    INTENDED: ReviewKind.INTENDED,
    LESSON: ReviewKind.LESSON,
    RESTORED: ReviewKind.RESTORED,
    CARD: ReviewKind.CONFIRM,
    CONDITION: ReviewKind.CONDITION,
    CONTACT_RULE: ReviewKind.RULE,
}
_ENDS: Final = re.compile(r"(?<=[.?!])\s+")
_MOST: Final = 140  # characters of a headline


# What the page's buttons say, so that it is not repeated; {} is what differs.
_ENDINGS: Final = (
    review.ASKS_TEXT,
    review.ASKS_RECIPIENT,
    review.ASKS_REPAIR,
    review.ASKS_UNPROVEN,
    review.ASKS_WORK,
    review.ASKS_FIX,
    "Remit will not send it again unless you say so.",
    "Remit will not do it again unless you say so.",
    'Or say "leave it out".',
    "Merge {} into your folder, send it back, or leave it there?",
    "Put this into {}, or leave it out?",
)


@cache
def _endings() -> re.Pattern[str]:
    """The endings in every language that questions are asked in."""
    endings = (*_ENDINGS, *(in_language(end, each) for each in TRANSLATED for end in _ENDINGS))
    patterns = (r"\S+".join(map(re.escape, end.split("{}"))) for end in dict.fromkeys(endings))
    return re.compile(rf"\s*(?:{'|'.join(patterns)})$")


def kind_of(review: Review) -> ReviewKind:
    """Return the kind by reason, subject, and the place in the run."""
    about, place = (review.about or "").partition(":")[0], review.key.partition(":")[2]
    if review.reason is Reason.APPROVAL:
        send = about == SEND or place.startswith("send:")
        return ReviewKind.SEND if send else _OF_ABOUT.get(about, ReviewKind.QUESTION)
    special = {
        ReviewKind.REQUEST: review.reason is Reason.INPUT
        and (about == CARD or review.key.startswith("clause:")),
        ReviewKind.WHOM: review.reason is Reason.INPUT and place.startswith("whom:"),
        ReviewKind.BEGUN: review.reason is Reason.AMBIGUOUS and place.startswith("begun:"),
        ReviewKind.WORK: review.reason is Reason.VERIFICATION and about == WORK,
    }
    return next((kind for kind, is_it in special.items() if is_it), _OF_REASON[review.reason])


def acts_of(review: Review, kind: ReviewKind) -> tuple[ReviewButton, ...]:
    """Return the possible answers to this question."""
    return tuple(act for act in SORTS[kind].acts if act.answer in review.options)


def question_text(question: str) -> str:
    """Return the question without what the buttons below it say."""
    return _endings().sub("", question.strip())


def headline(question: str) -> tuple[str, str]:
    """Return the question in one line, and the rest of the text."""
    sentences = _ENDS.split(question_text(question))
    asked = next((each for each in reversed(sentences) if each.endswith("?")), sentences[0])
    if len(asked) > _MOST:
        return "It asks you something", " ".join(sentences)
    return asked, " ".join(each for each in sentences if each is not asked)


def was_edited(asked: Iterable[Review]) -> bool:
    """Whether the owner changed the text, or where it goes, after it was checked."""
    return any(map(_changes_what_was_checked, asked))


def _changes_what_was_checked(review: Review) -> bool:
    answer = review.decision.answer if review.decision else None
    # What the owner writes instead of a held reply is checked after that.
    edited = answer is ReviewAnswer.EDIT and review.about_text and not review.about_reply
    return edited or answer is ReviewAnswer.READDRESS


# How it stands ------------------------------------------------------------------------------------


class ReviewState(Struct, frozen=True):
    """`left` is how many seconds it can be undone; `back`: it was undone."""

    over: bool
    words: str = ""
    kind: str = "idle"
    icon: str = "done"
    left: int = 0
    back: bool = False


def review_state(review: Review, task: Task, undo: Undo, now: datetime) -> ReviewState:
    """Return the state of a question, in a sentence for whoever has it open."""
    decision = review.decision
    if decision is None:
        return _open(review, task, now)
    at = (decision.decided_at or now).astimezone(now.tzinfo)
    who = event_words.decision(decision.answer, decision.by)
    text = f"{retell(who)}, {words.moment(at, now)}."
    if task.status is Status.PAUSED and task.resume_to is Status.DELIVERING:
        return ReviewState(
            True, f"{text} {say('You called it back: nothing was sent.')}", "you", "back", back=True
        )
    due = undo.due(task, review, decision, at)
    waits = task.status is Status.DELIVERING or task.cancel_requested
    left = round((due - now).total_seconds()) if waits else 0
    if decision.answer is ReviewAnswer.DECLINE:
        return ReviewState(
            True, f"{text} {say('Nothing was sent.')}", "idle", "x", left=max(0, left)
        )
    since = "It goes out in a moment." if left > 0 else _since(task)
    return ReviewState(True, f"{text} {say(since)}", "ok", left=max(0, left))


def ended_state(task: Task, ended: datetime) -> ReviewState:
    """Return the state of an ended task: it waits to be seen."""
    seen = task.seen_at is not None
    return ReviewState(
        seen, say("You have seen this. It ended {0}.", f"{ended:%H:%M}") if seen else ""
    )


def _open(review: Review, task: Task, now: datetime) -> ReviewState:
    if task.ended:
        return ReviewState(
            True, say("The task is {0}; nothing is asked any more.", task.status.value)
        )
    later = review.later_until
    if later is not None and later > now:
        back = words.moment(later.astimezone(now.tzinfo), now)
        return ReviewState(False, say("Postponed. It comes back: {0}.", back), "plan", "snooze")
    if review.draft is not None:
        return ReviewState(False, say("You called it back: nothing was sent."), "you", "back")
    return ReviewState(False)


_SINCE: Final = {
    Status.FAILED: "The task failed since.",
    Status.DELIVERING: "It is on its way.",
    Status.CANCELLED: "The task was cancelled since.",
}


def _since(task: Task) -> str:
    """Return what came of it since."""
    if task.status is Status.COMPLETED:
        sent = any(each.status is DeliveryStatus.SENT for each in task.delivery)
        return "It was sent." if sent else "The task is completed."
    return _SINCE.get(task.status, "The task goes on.")
