"""The form a model fills in about a message. All of it is bounded, and none of it is trusted."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from remit.model.plan import Became
from remit.model.task import TaskType

MOST_TEXT: Final = 4_000  # characters of a message that is shown to a model
MOST_CLAUSES: Final = 60
MOST_TASKS: Final = 12

# Without a bound a grammar may go on for ever, and what is cut at the token limit is no JSON.
_Short = Annotated[str, Field(max_length=120)]
_Long = Annotated[str, Field(max_length=1_000)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ProposedSend(_Part):
    """One message to one person. Without a recipient it goes to the owner."""

    channel: _Short
    recipient: _Short | None = None
    content: Annotated[str, Field(max_length=MOST_TEXT)] | None = None


class ProposedTask(_Part):
    """One task, in the owner's own words and language."""

    title: _Short
    instructions: Annotated[str, Field(max_length=MOST_TEXT)]
    work: Annotated[tuple[_Long, ...], Field(max_length=20)] = ()
    delivery: Annotated[tuple[ProposedSend, ...], Field(max_length=20)] = ()
    type: TaskType = TaskType.IMMEDIATE
    scheduled_for: datetime | None = None
    recurrence: _Short | None = None


class Mapped(_Part):
    """What becomes of one numbered clause, and the number of the task it belongs to."""

    clause: Annotated[int, Field(ge=1, le=MOST_CLAUSES)]
    became: Became
    task: Annotated[int, Field(ge=1, le=MOST_TASKS)] | None = None
    why: _Short | None = None


class Proposal(_Part):
    """The whole message: its tasks, what became of every clause, an answer where none is asked."""

    tasks: Annotated[tuple[ProposedTask, ...], Field(max_length=MOST_TASKS)] = ()
    clauses: Annotated[tuple[Mapped, ...], Field(max_length=2 * MOST_CLAUSES)] = ()
    answer: _Long | None = None
