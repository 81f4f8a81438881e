"""What the brain is told, what it says, and what of that may leave the house."""

from dataclasses import dataclass

from remit.model.status import Reason


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that the brain is told for one task."""

    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """The brain cannot go on without the owner."""

    reason: Reason
    question: str


@dataclass(frozen=True, slots=True)
class Usage:
    tokens: int = 0
    cents: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """The brain's whole answer, reasoning and all. Never delivered."""

    text: str
    done: tuple[int, ...] = ()  # work items it ticked, counted from 1
    ask: Ask | None = None
    usage: Usage = Usage()
    flaw: str | None = None  # why it is no answer: cut off, refused, or ended oddly


@dataclass(frozen=True, slots=True)
class Deliverable:
    """The only text that may reach a channel."""

    text: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Nothing may be sent until a human has looked."""

    reason: str


@dataclass(frozen=True, slots=True)
class Snippet:
    """A remembered piece of an earlier task."""

    task_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Memory:
    """What is recalled before the brain starts."""

    snippets: tuple[Snippet, ...] = ()
