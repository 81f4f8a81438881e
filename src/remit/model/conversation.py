"""Talk: conversations, their turns, and the notices that come back into them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from remit.model.ids import ConversationId, TaskId


class Action(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    DISCUSSED = "discussed"
    COMPLETED = "completed"


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class TaskRef:
    task_id: TaskId
    action: Action


@dataclass(frozen=True, slots=True)
class Conversation:
    id: ConversationId
    title: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Turn:
    conversation_id: ConversationId
    n: int
    role: Role
    content: str
    said_at: datetime
    task_ref: TaskRef | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """One line to the owner about a task."""

    task_id: TaskId
    text: str
    urgent: bool = False
