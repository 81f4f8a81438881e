"""The values between run and brain: prompt, tools, reply, deliverable, hold."""

import hashlib
from enum import StrEnum

from msgspec import Struct, field

from remit.model.codec import JsonMap, text_of
from remit.model.status import Reason
from remit.model.task import Taint


class Policy(StrEnum):
    """What a tool may do without the owner."""

    DENY = "deny"
    ASK = "ask"
    ALLOW = "allow"


class Tool(Struct, frozen=True):
    """Something the brain may call; `schema` is the JSON Schema of its arguments."""

    name: str
    says: str
    schema: JsonMap = field(default_factory=dict)


class ToolCall(Struct, frozen=True):
    """What the brain wants done. It is only a wish: code decides whether it is."""

    id: str
    tool: str
    args: JsonMap = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """What exactly is approved: this tool with these arguments."""
        return hashlib.sha256(text_of([self.tool, self.args]).encode()).hexdigest()


class ToolResult(Struct, frozen=True):
    """What came of a call, in the words the brain is told; and how far they can be trusted."""

    call: str
    text: str
    failed: bool = False
    taint: Taint = Taint.OWNER
    done: tuple[int, ...] = ()  # work items that were ticked by it
    raw: bool = False  # code reads it to the letter; it is told to no brain
    doubt: bool = False  # nobody knows whether it was done: the owner is asked, not the brain told


class Prompt(Struct, frozen=True):
    """All that the brain is told for one turn of a task.

    What holds for every task stands in `rules`, first, so that a vendor's cache hits. What is
    `recalled` is told anew in every turn and left in none: else each run would hand on to the next
    all that was ever recalled. A turn that goes on after calls has no text of its own, only their
    results.
    """

    text: str
    rules: str = ""
    recalled: str = ""
    tools: tuple[Tool, ...] = ()
    earlier: tuple[str, ...] = ()  # what earlier turns left behind, oldest first; opaque
    results: tuple[ToolResult, ...] = ()

    @property
    def whole(self) -> str:
        """Everything that is said in this turn, in order."""
        parts = (self.rules, self.recalled, self.text, *(result.text for result in self.results))
        return "\n\n".join(part for part in parts if part)


class Ask(Struct, frozen=True):
    """The brain cannot go on without the owner."""

    reason: Reason
    question: str
    about: str | None = None  # `budget:…`, if that is what is used up


class Usage(Struct, frozen=True):
    tokens: int = 0
    cents: int = 0
    requests: int = 0
    context: int = 0  # tokens that the last request and its answer held together
    asked: int = 0  # of the tokens those that went in, as far as the vendor tells them apart
    answered: int = 0
    cached: int = 0  # of those that went in: what the vendor had from before, and charges less for


class Reply(Struct, frozen=True):
    """The brain's whole answer, reasoning and all. Never delivered."""

    text: str
    done: tuple[int, ...] = ()  # work items it ticked, counted from 1
    ask: Ask | None = None
    usage: Usage = Usage()
    flaw: str | None = None  # why it is no answer: cut off, refused, or ended oddly
    calls: tuple[ToolCall, ...] = ()  # what must be done before it can go on
    state: str = ""  # what the next turn must be handed back; opaque
    asks_first: bool = False  # whether the owner must see what comes of it, even if it is for him


class Deliverable(Struct, frozen=True):
    """The only text that may reach a channel."""

    text: str


class Hold(Struct, frozen=True):
    """Nothing may be sent until a human has looked."""

    reason: str


class Snippet(Struct, frozen=True):
    """A remembered piece of an earlier task."""

    task_id: str
    title: str
    text: str
    taint: Taint = Taint.OWNER


class Memory(Struct, frozen=True):
    """What is recalled before the brain starts."""

    snippets: tuple[Snippet, ...] = ()
    runs: tuple[str, ...] = ()  # earlier tasks of the session that are told whole, oldest first
    summary: str = ""  # what the runs before those came to
    facts: tuple[str, ...] = ()  # what the owner said about the work, in his own words
    reported: tuple[str, ...] = ()  # what was sent already, a line each, oldest first
    taint: Taint = Taint.OWNER  # of the least trusted thing that any of it has read
    alike: tuple[Snippet, ...] = ()  # other work like this, the best first


class Exchange(Struct, frozen=True):
    """One turn of a run that is behind us: what the brain said, and what came of its calls."""

    reply: Reply
    results: tuple[ToolResult, ...] = ()
