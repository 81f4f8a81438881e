"""Conversations and their turns."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct, field

from remit.model.codec import JsonMap
from remit.model.ids import ConversationId, ReviewId, TaskId

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
    """`channel` is where it began: the dashboard, the terminal, or a way that messages come by."""

    id: ConversationId
    title: str
    created_at: datetime
    updated_at: datetime
    channel: str = "dashboard"


class Turn(Struct, frozen=True, kw_only=True):
    """One thing that was said. A turn of the owner is `owed` an answer until it has one."""

    conversation_id: ConversationId
    n: int
    role: Role
    content: str
    said_at: datetime
    channel: str = "dashboard"
    task_refs: tuple[TaskRef, ...] = ()
    answers: int | None = None  # the turn that it answers
    owed: bool = False
    about: TaskId | None = None  # the task that the owner pointed at while he said it
    meant: JsonMap = field(default_factory=dict)  # what it was taken for, before it was acted on
    receipt: JsonMap = field(default_factory=dict)  # what was understood, clause by clause
    asks: JsonMap = field(default_factory=dict)  # what the next turn may settle
    notes: tuple[str, ...] = ()  # what of it is not on record


class ListedThing(Struct, frozen=True):
    """A task by its title, or a question by its sentence."""

    id: str
    words: str


class TalkContext(Struct, frozen=True):
    """What a turn of the owner may be about: his own last words, tasks, and open questions."""

    turns: tuple[str, ...] = ()  # oldest first
    tasks: tuple[ListedThing, ...] = ()
    questions: tuple[ListedThing, ...] = ()


class OrderKind(StrEnum):
    """What a turn may want of a task that is there, or of an open question."""

    APPROVE = "approve"
    CANCEL = "cancel"
    PAUSE = "pause"
    RESUME = "resume"
    SKIP = "skip"
    MOVE = "move"
    ANSWER = "answer"


class TurnOrder(Struct, frozen=True):
    """An order that a model found in a turn. `certain`: words of the owner bear it out."""

    kind: OrderKind
    task: TaskId | None = None
    question: ReviewId | None = None
    words: str = ""
    certain: bool = False
