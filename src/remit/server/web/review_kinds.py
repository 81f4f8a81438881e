"""The kind of a question, its headline, and the possible answers."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from typing import Final

from msgspec import Struct

from remit.language.sentences import TRANSLATED, in_language
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
)
from remit.model.status import Reason
from remit.review import ask


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

    answer: str
    word: str
    icon: str
    key: str = ""
    asks: str = ""
    needs: bool = False  # whether it needs a text
    danger: bool = False


class ReviewStyle(Struct, frozen=True):
    """How a kind of question looks and is answered; the first answer is the primary one."""

    icon: str
    acts: tuple[ReviewButton, ...]
    colour: str = "you"


_A = ReviewAnswer
_WHAT_CHANGES: Final = "What is to change: a time, a person, a channel, or a text in quotes"
_BACK: Final = ReviewButton(
    _A.BACK, "Send back", "back", "r", "What shall be different?", needs=True
)
_DECLINE: Final = ReviewButton(_A.DECLINE, "Decline", "x", "x", "Why, if you like", danger=True)
_RESEND: Final = ReviewButton(_A.RESEND, "Send again", "send", "r")
_AGAIN: Final = ReviewButton(_A.RESEND, "Do it again", "repeat", "r")
_DROP: Final = ReviewButton(_A.DROP, "Leave it out", "back", "o")
_NO_CALL: Final = ReviewButton(
    _A.DROP, "Leave it out", "back", "r", "What it is told instead, if you like"
)
_OTHER_WAY: Final = ReviewButton(
    _A.BACK, "Try again", "repeat", "r", "What shall be different?", needs=True
)
_MYSELF: Final = ReviewButton(_A.ARRIVED, "I did it myself", "check", "m")
_UNCHECKED: Final = ReviewButton(
    _A.DROP, "Accept without proof", "back", "o", "Why, for the record", needs=True
)
_NOT_SO: Final = ReviewButton(_A.DROP, "Not true", "back", "o")
_APART: Final = ReviewButton(_A.DROP, "Leave on branch", "back", "o")
_NOT_MEANT: Final = ReviewButton(_A.DROP, "Not intended, fix it", "back", "o")
_UNLEARNED: Final = ReviewButton(_A.DROP, "Leave it out", "back", "o")
_LEAVE: Final = ReviewButton(_A.DECLINE, "Leave it", "x", "x", "Why, if you like", danger=True)
_ANSWER: Final = ReviewButton(_A.ANSWER, "Answer", "send")
_CHANGE: Final = ReviewButton(_A.ANSWER, "Change a line", "edit", "e", _WHAT_CHANGES, needs=True)

SORTS: Final[Mapping[ReviewKind, ReviewStyle]] = {
    ReviewKind.SEND: ReviewStyle(
        "send", (ReviewButton(_A.APPROVE, "Approve and send", "send"), _BACK, _DECLINE)
    ),
    ReviewKind.HELD: ReviewStyle(
        "doc", (ReviewButton(_A.EDIT, "Send this text", "send"), _BACK, _DECLINE)
    ),
    ReviewKind.QUESTION: ReviewStyle("ask", (_ANSWER, _DECLINE)),
    ReviewKind.WHOM: ReviewStyle("user", (_ANSWER, _DECLINE)),
    ReviewKind.REQUEST: ReviewStyle("ask", (_ANSWER, _DECLINE)),
    ReviewKind.CONFIRM: ReviewStyle(
        "ask", (ReviewButton(_A.APPROVE, "Yes, as shown", "check"), _CHANGE, _DECLINE)
    ),
    ReviewKind.CONDITION: ReviewStyle(
        "ask", (ReviewButton(_A.APPROVE, "True, continue", "check"), _NOT_SO, _DECLINE)
    ),
    ReviewKind.RULE: ReviewStyle(
        "shield", (ReviewButton(_A.APPROVE, "Make it a rule", "check"), _LEAVE)
    ),
    ReviewKind.CALL: ReviewStyle(
        "term", (ReviewButton(_A.APPROVE, "Allow this call", "check"), _NO_CALL, _DECLINE)
    ),
    ReviewKind.BEGUN: ReviewStyle(
        "alert", (ReviewButton(_A.ARRIVED, "It was done", "check"), _AGAIN, _DROP, _DECLINE)
    ),
    ReviewKind.DOUBT: ReviewStyle(
        "alert", (ReviewButton(_A.ARRIVED, "It arrived", "check"), _RESEND, _DROP, _DECLINE)
    ),
    ReviewKind.UNPROVEN: ReviewStyle(
        "shield", (ReviewButton(_A.APPROVE, "Accept anyway", "check"), _BACK, _DECLINE)
    ),
    ReviewKind.WORK: ReviewStyle("shield", (_OTHER_WAY, _MYSELF, _UNCHECKED, _DECLINE)),
    ReviewKind.MERGE: ReviewStyle(
        "repeat", (ReviewButton(_A.APPROVE, "Merge it", "check"), _BACK, _APART, _DECLINE)
    ),
    ReviewKind.INTENDED: ReviewStyle(
        "shield", (ReviewButton(_A.APPROVE, "It is intended", "check"), _NOT_MEANT, _DECLINE)
    ),
    ReviewKind.LESSON: ReviewStyle(
        "history", (ReviewButton(_A.APPROVE, "Apply it", "check"), _UNLEARNED, _DECLINE)
    ),
    ReviewKind.MEND: ReviewStyle(
        "shield", (ReviewButton(_A.APPROVE, "Fix it", "check"), _LEAVE), "bad"
    ),
    ReviewKind.RESTORED: ReviewStyle(
        "history", (ReviewButton(_A.APPROVE, "Run it once", "check"), _LEAVE)
    ),
    ReviewKind.LOCKED: ReviewStyle(
        "alert", (ReviewButton(_A.APPROVE, "Fixed, continue", "check"), _DECLINE), "bad"
    ),
    ReviewKind.BUDGET: ReviewStyle(
        "coin", (ReviewButton(_A.APPROVE, "Continue", "check"), _DECLINE)
    ),
    ReviewKind.POISON: ReviewStyle(
        "alert", (ReviewButton(_A.APPROVE, "Try once more", "repeat"), _DECLINE), "bad"
    ),
    ReviewKind.LOOK: ReviewStyle("eye", (), "plan"),
    ReviewKind.FIX: ReviewStyle("fail", (), "bad"),
}
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
_WHY: Final = {
    ReviewKind.SEND: "A message to somebody else needs your approval.",
    ReviewKind.QUESTION: "The work needs your answer to continue.",
    ReviewKind.WHOM: "It is not clear who should get this message.",
    ReviewKind.REQUEST: "The task starts when every part of your request is clear.",
    ReviewKind.CONFIRM: "You asked to be asked first: nobody else gets it without your approval.",
    ReviewKind.CONDITION: "It goes out only if this holds, and no model is set that could look it "
    "up.",
    ReviewKind.RULE: "Your contacts change only with your approval.",
    ReviewKind.CALL: "This tool needs your approval.",
    ReviewKind.BEGUN: "It may have been done already; it is not repeated without your approval.",
    ReviewKind.DOUBT: "It may have arrived already; it is not sent again without your approval.",
    ReviewKind.UNPROVEN: "Some checks still fail after all attempts to fix them.",
    ReviewKind.WORK: "Every specialist has tried, and the checks still fail.",
    ReviewKind.MERGE: "Changes come into your folder only with your approval.",
    ReviewKind.INTENDED: "Tests that check the work change only with your approval.",
    ReviewKind.LESSON: "Your rules and guidelines change only with your approval.",
    ReviewKind.MEND: "The merged work failed a check; it is fixed only with your approval.",
    ReviewKind.RESTORED: "It may have run before the restore; it runs again only if you approve.",
    ReviewKind.LOCKED: "Only you can fix this account.",
    ReviewKind.BUDGET: "It would cost more than your budget allows.",
    ReviewKind.POISON: "This task stopped Remit several times.",
}
_ENDS: Final = re.compile(r"(?<=[.?!])\s+")
_MOST: Final = 140  # characters of a headline


# What the page's buttons say, so that it is not repeated; {} is what differs.
_ENDINGS: Final = (
    ask.ASKS_TEXT,
    ask.ASKS_RECIPIENT,
    ask.ASKS_REPAIR,
    ask.ASKS_UNPROVEN,
    ask.ASKS_WORK,
    ask.ASKS_FIX,
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


def why(kind: ReviewKind, rest: str) -> str:
    """Return why the owner is asked: for this case, or else the general rule."""
    return rest or _WHY.get(kind, "")


def was_edited(asked: Iterable[Review]) -> bool:
    """Whether the owner changed the text, or where it goes, after it was checked."""
    return any(map(_changes_what_was_checked, asked))


def _changes_what_was_checked(review: Review) -> bool:
    answer = review.decision.answer if review.decision else None
    # What the owner writes instead of a held reply is checked after that.
    edited = answer is ReviewAnswer.EDIT and review.about_text and not review.about_reply
    return edited or answer is ReviewAnswer.READDRESS
