"""The form in which a model returns its reading of a message.

Every field of the form is bounded and none is trusted. Every fact comes with the words of the
message it is taken from.
"""

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

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
    quiet: _Words | None = None


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
