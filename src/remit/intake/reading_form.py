"""The form in which a model returns its reading of a message, and the result types of reading.

Every field of the form is bounded and none is trusted. Every fact comes with the words of the
message it is taken from.
"""

from datetime import datetime
from typing import Annotated, Final, Literal

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from remit.intake.recipients import Question
from remit.language.order_words import SmallTalk
from remit.language.time.resolve import Recurrence
from remit.model.delivery import Delivery
from remit.model.plan import Clause, WorkItem
from remit.model.task import TaskType
from remit.model.veto import Condition, VetoCue

MAX_MESSAGE_CHARS: Final = 4_000
MAX_TASKS: Final = 12

# Without a bound a grammar may go on for ever, and what is cut at the token limit is no JSON.
_Short = Annotated[str, Field(max_length=120)]
_Words = Annotated[str, Field(max_length=300)]
_Text = Annotated[str, Field(max_length=MAX_MESSAGE_CHARS)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReadSend(_Part):
    """One message to one person; `to` is null for the owner."""

    to: _Short | None = None
    to_words: _Short | None = None
    channel: _Short | None = None
    text: _Text | None = None


class ReadTask(_Part):
    title: _Short
    instructions: _Text
    work: Annotated[tuple[_Words, ...], Field(max_length=20)] = ()
    sends: Annotated[tuple[ReadSend, ...], Field(max_length=20)] = ()
    time_words: Annotated[tuple[_Words, ...], Field(max_length=4)] = ()
    at: datetime | None = None
    rrule: _Short | None = None
    limits: Annotated[tuple[_Words, ...], Field(max_length=6)] = ()


class ReadQuestion(_Part):
    """Something that only the owner can say."""

    about: Literal["time", "channel", "recipient", "content", "task"]
    words: _Words
    question: _Words


class Reading(_Part):
    tasks: Annotated[tuple[ReadTask, ...], Field(max_length=MAX_TASKS)] = ()
    questions: Annotated[tuple[ReadQuestion, ...], Field(max_length=6)] = ()
    talk: Literal["question", "thanks", "greeting", "statement", "control", "chatter"] | None = None


class ReadOrder(_Part):
    """What a turn wants of a task or a question that is listed; each id is copied from there."""

    kind: Literal["approve", "cancel", "pause", "resume", "skip", "move", "answer"]
    task: _Short | None = None
    question: _Short | None = None
    words: _Words


class TurnReading(Reading):
    """How a model reads a turn of a conversation."""

    order: ReadOrder | None = None


class Draft(Struct, frozen=True, kw_only=True):
    """A task as the owner's words make it. Times are in UTC; `clauses` are its own."""

    title: str
    instructions: str
    work: tuple[WorkItem, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    type: TaskType = TaskType.IMMEDIATE
    scheduled_for: datetime | None = None
    recurrence: Recurrence | None = None
    needs_brain: bool = False
    stays: bool = False  # the same message says not to send it
    agent: str | None = None  # who does it, if no brain is to
    notes: tuple[str, ...] = ()
    clauses: tuple[Clause, ...] = ()


class Connective(Struct, frozen=True):
    """What is between clauses: blanks, marks, and words like "and" or "please"."""

    start: int
    end: int


class Extraction(Struct, frozen=True):
    """The result of reading. `answer` is the kind of talk in a message without a task."""

    tasks: tuple[Draft, ...]
    questions: tuple[Question, ...]
    answer: SmallTalk | None
    clauses: tuple[Clause, ...]
    connectives: tuple[Connective, ...]
    veto: tuple[VetoCue, ...] = ()  # words that hold it back from everybody but the owner
    conditions: tuple[Condition, ...] = ()  # limits that the owner set
    texts: tuple[tuple[int, int], ...] = ()  # where the message holds a text to somebody else

    def questions_about(self, draft: Draft) -> tuple[Question, ...]:
        """Return the questions that must be answered before a draft may run."""
        return tuple(q for q in self.questions if self.clauses[q.clause] in draft.clauses)


def connectives_between(clauses: tuple[Clause, ...], length: int) -> tuple[Connective, ...]:
    """Return what is between the clauses of a text of this length."""
    edges = [0, *(edge for clause in clauses for edge in (clause.start, clause.end)), length]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return tuple(Connective(start, end) for start, end in pairs if end > start)


def headed(title: str) -> str:
    """Return a title with a capital first letter; a first word that is no plain word stays."""
    first = title.partition(" ")[0].rstrip(",;:.!?")
    plain = first.replace("'", "").replace("’", "").replace("-", "")
    return title[:1].upper() + title[1:] if plain.isalpha() and plain.islower() else title
