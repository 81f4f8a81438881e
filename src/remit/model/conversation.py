"""Conversations and their turns; a notice is one thing the owner is told once, on one channel."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct, field

from remit.errors import BadInput
from remit.model.codec import JsonMap
from remit.model.ids import ConversationId, ReviewId, TaskId

MAX_TITLE: Final = 120  # characters
MAX_TURN: Final = 20_000
SCHEDULED: Final = "Scheduled Events"  # the conversation about what was planned


class Action(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    DISCUSSED = "discussed"
    COMPLETED = "completed"


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class TaskRef(Struct, frozen=True):
    task_id: TaskId
    action: Action


class Conversation(Struct, frozen=True):
    """A conversation.

    `channel` is where it began: the dashboard, the terminal, or a message channel.
    """

    id: ConversationId
    title: str
    created_at: datetime
    updated_at: datetime
    channel: str = "dashboard"


class Turn(Struct, frozen=True, kw_only=True):
    """One message in a conversation. A turn of the owner is `owed` an answer until it has one."""

    conversation_id: ConversationId
    n: int
    role: Role
    content: str
    said_at: datetime
    channel: str = "dashboard"
    task_refs: tuple[TaskRef, ...] = ()
    answers: int | None = None  # the turn this one answers
    owed: bool = False
    about: TaskId | None = None  # the task the owner had open while writing it
    meant: JsonMap = field(default_factory=dict)  # the intent, stored before it is executed
    receipt: JsonMap = field(default_factory=dict)  # what was understood, clause by clause
    asks: JsonMap = field(default_factory=dict)  # the question that the next turn may answer
    context: JsonMap = field(default_factory=dict)  # what came with it: files, a mail's thread
    notes: tuple[str, ...] = ()  # claims in it that are not on record


class ListedThing(Struct, frozen=True):
    """A task by its title, or a question by its sentence."""

    id: str
    words: str


class TalkContext(Struct, frozen=True):
    """What a turn of the owner may refer to: earlier turns, tasks, and open questions."""

    turns: tuple[str, ...] = ()  # oldest first
    tasks: tuple[ListedThing, ...] = ()
    questions: tuple[ListedThing, ...] = ()
    channel: str = "dashboard"  # where the owner said it


class OrderKind(StrEnum):
    """What a turn may ask about an existing task or an open question."""

    APPROVE = "approve"
    CANCEL = "cancel"
    PAUSE = "pause"
    RESUME = "resume"
    SKIP = "skip"
    MOVE = "move"
    ANSWER = "answer"


class TurnOrder(Struct, frozen=True):
    """A command that a model found in a turn. `certain`: the owner's words confirm it."""

    kind: OrderKind
    task: TaskId | None = None
    question: ReviewId | None = None
    words: str = ""
    certain: bool = False


def check_title(title: str) -> str:
    """Return a title on one line; raises `BadInput` if it is empty or too long."""
    named = " ".join(title.split())
    if not named or len(named) > MAX_TITLE:
        sentence = f"title must have 1 to {MAX_TITLE} characters, not {len(named)}."
        raise BadInput(sentence, field="title")
    return named


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
