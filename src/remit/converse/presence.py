"""Where the owner is told the result of a task."""

from datetime import datetime, timedelta
from typing import Final

from remit.model.conversation import SCHEDULED, Conversation, Turn
from remit.model.ids import ConversationId
from remit.model.task import Task, TaskType
from remit.store import conversations, meta
from remit.store.database import Tx

PRESENT: Final = timedelta(minutes=15)
DASHBOARD: Final = "dashboard"


def place(tx: Tx, task: Task, fresh: ConversationId, now: datetime) -> Conversation | None:
    """Return the conversation a task reports into; None: nowhere.

    An immediate task reports where it was asked for. A planned one reports in its own conversation,
    unless the owner has just written where it was planned.
    """
    born = conversations.birthplace(tx, task.id)
    if task.type is TaskType.IMMEDIATE:
        return born
    here = present(tx, now)
    if born is not None and here is not None and here.conversation_id == born.id:
        return born
    return planned(tx, fresh, now)


def planned(tx: Tx, fresh: ConversationId, now: datetime) -> Conversation:
    """Return the conversation about planned tasks."""
    return conversations.called(tx, SCHEDULED) or Conversation(fresh, SCHEDULED, now, now)


def present(tx: Tx, now: datetime) -> Turn | None:
    """Return the owner's last turn, if recent and not followed by dashboard activity."""
    turn, acted = conversations.last_of_owner(tx, now - PRESENT), _acted(tx, now)
    if turn is None or (acted and acted > turn.said_at and turn.channel != DASHBOARD):
        return None
    return turn


def channel(tx: Tx, now: datetime) -> str | None:
    """Return where the owner is: where the last turn was, or on the dashboard.

    Only a click counts as presence there, not an open page.
    """
    turn = present(tx, now)
    if turn is not None:
        return turn.channel
    return DASHBOARD if _acted(tx, now) else None


def _acted(tx: Tx, now: datetime) -> datetime | None:
    last = meta.last(tx)
    return last if last is not None and now - PRESENT < last <= now else None
