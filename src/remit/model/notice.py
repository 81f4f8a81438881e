"""A notice: one thing the owner is told once, on one channel."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.model.ids import TaskId

# Ways that are no channel. `none` means no notice and is not stored.
CONVERSATION: Final = "conversation"
PUSH: Final = "push"
DIGEST: Final = "digest"
NONE: Final = "none"
WAYS: Final = (CONVERSATION, PUSH, DIGEST)


class NoticeKind(StrEnum):
    """The kinds of notices."""

    QUESTION = "question"  # a task needs the owner
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"  # a message did not arrive
    MISSED = "missed"  # a run was missed, or skipped by a rule
    REFUSED = "refused"  # a calendar event that cannot start work
    TEST = "test"  # the owner tests a way


KINDS: Final = tuple(
    news for news in NoticeKind if news is not NoticeKind.TEST
)  # the owner can set these


class NoticeState(StrEnum):
    NEW = "new"
    CLAIMED = "claimed"  # nobody may send it again without asking
    SENT = "sent"
    UNKNOWN = "unknown"  # interrupted between send and record; it is not sent again
    FAILED = "failed"
    DROPPED = "dropped"  # no longer needed


class NoticeContent(Struct, frozen=True, kw_only=True):
    """The content of a notice about an event.

    Notices with the same `about` are one: it is sent once per way, whichever event repeats it.
    """

    news: NoticeKind
    about: str
    title: str
    line: str  # one line beside the title
    href: str  # the dashboard page where the owner can act
    text: str = ""  # the text in a conversation
    seq: int | None = None
    task_id: TaskId | None = None

    @property
    def asks(self) -> bool:
        """Whether it is one question, which its page answers."""
        return self.news is NoticeKind.QUESTION and self.href.startswith("/inbox/rev-")


class PlannedNotice(Struct, frozen=True):
    """One way to send a notice and its due time; held notices go out together.

    `instead`: it replaces another way because the owner is active here.
    """

    way: str
    due: datetime
    held: bool = False
    instead: bool = False


class Notice(Struct, frozen=True, kw_only=True):
    """A notice on one way, and how far it has come."""

    id: str
    telling: NoticeContent
    way: str
    made: datetime
    due: datetime | None  # None: nothing more to do
    held: bool = False
    state: NoticeState = NoticeState.NEW
    attempts: int = 0
    claimed: datetime | None = None
    told: datetime | None = None
    parcel: str | None = None  # the notice whose id the message was sent under
    over: str | None = None  # the channel it was sent on
    body: str | None = None
    receipt: str | None = None
    why: str | None = None

    @property
    def news(self) -> NoticeKind:
        return self.telling.news
