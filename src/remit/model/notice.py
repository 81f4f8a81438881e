"""A notice: one thing the owner is told once, on one channel."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.model.ids import TaskId

# Ways that are no channel. `none` is no way at all, and is kept nowhere.
CONVERSATION: Final = "conversation"
PUSH: Final = "push"
DIGEST: Final = "digest"
NONE: Final = "none"
WAYS: Final = (CONVERSATION, PUSH, DIGEST)


class NoticeKind(StrEnum):
    """What sort of thing is told."""

    QUESTION = "question"  # a task needs its owner
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"  # a message did not arrive after all
    MISSED = "missed"  # a run was missed, or left out by a rule
    REFUSED = "refused"  # an event of a calendar that starts nothing
    TEST = "test"  # the owner wants to see a way work


KINDS: Final = tuple(
    news for news in NoticeKind if news is not NoticeKind.TEST
)  # with a wish of the owner's


class NoticeState(StrEnum):
    NEW = "new"
    CLAIMED = "claimed"  # from here on nobody may tell it again unasked
    SENT = "sent"
    UNKNOWN = "unknown"  # cut between "taken" and "written down"; it is not told again
    FAILED = "failed"
    DROPPED = "dropped"  # nobody needs to be told any more


class NoticeContent(Struct, frozen=True, kw_only=True):
    """What is told of an event, in whatever words a way has for it.

    What has one `about` is one thing: it is told once over a way, whatever event says it again.
    """

    news: NoticeKind
    about: str
    title: str
    line: str  # one line, beside the title
    href: str  # where in the dashboard it is seen to
    text: str = ""  # as a conversation has it
    seq: int | None = None
    task_id: TaskId | None = None


class PlannedNotice(Struct, frozen=True):
    """One way that something is told, and from when on; what is held goes together.

    `instead` says that it would have gone by another way, but its owner is here.
    """

    way: str
    due: datetime
    held: bool = False
    instead: bool = False


class Notice(Struct, frozen=True, kw_only=True):
    """Something told over one way, as far as it is."""

    id: str
    telling: NoticeContent
    way: str
    made: datetime
    due: datetime | None  # nothing more is to be done without one
    held: bool = False
    state: NoticeState = NoticeState.NEW
    attempts: int = 0
    claimed: datetime | None = None
    told: datetime | None = None
    parcel: str | None = None  # the notice under whose id the message went that this one is in
    over: str | None = None  # the channel that it went by
    body: str | None = None
    receipt: str | None = None
    why: str | None = None

    @property
    def news(self) -> NoticeKind:
        return self.telling.news
