"""The values between run and brain (prompt, tools, reply, hold), or specialist (job, claim)."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct, field

from remit.model.codec import JsonMap, sha256, text_of
from remit.model.ids import TaskId
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

    @classmethod
    def read(cls, name: str, table: JsonMap) -> "Tool":
        """Return a tool as tools.toml describes it: it takes these arguments and no others."""
        schema: JsonMap = {
            "type": "object",
            "properties": table.get("arguments", {}),
            "required": table["needs"],
            "additionalProperties": False,
        }
        return cls(name, str(table["says"]), schema)


class ToolCall(Struct, frozen=True):
    """A tool call the brain asks for. Code decides whether it runs."""

    id: str
    tool: str
    args: JsonMap = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The digest of exactly this tool with these arguments, for approval."""
        return sha256(text_of([self.tool, self.args]).encode()).hex()


class ToolResult(Struct, frozen=True):
    """The result of a call as the brain sees it, and how far it can be trusted."""

    call: str
    text: str
    failed: bool = False
    taint: Taint = Taint.OWNER
    done: tuple[int, ...] = ()  # work items it ticked
    raw: bool = False  # code parses it exactly; no brain sees it
    doubt: bool = False  # unknown whether it was done: the owner is asked
    read_from: str = ""  # the address of a page, or the words of a search
    read_bytes: int = 0  # of that page
    picture: "Picture | None" = None  # shown to a model that takes pictures


class Picture(Struct, frozen=True):
    """A picture for the brain: its type, and its bytes in base64."""

    type: str
    content: str


class Prompt(Struct, frozen=True):
    """Everything the brain gets for one turn of a task.

    `rules` are the same for every task and come first, so that a vendor's cache hits. `recalled` is
    sent in every turn but not stored in the history; otherwise each run would pass on everything
    ever recalled. A turn after tool calls has no text of its own, only their results.
    """

    text: str
    rules: str = ""
    recalled: str = ""
    tools: tuple[Tool, ...] = ()
    earlier: tuple[str, ...] = ()  # states of earlier turns, oldest first; opaque
    results: tuple[ToolResult, ...] = ()

    @property
    def whole(self) -> str:
        """The whole text of this turn, in order."""
        parts = (self.rules, self.recalled, self.text, *(result.text for result in self.results))
        return "\n\n".join(part for part in parts if part)


class Ask(Struct, frozen=True):
    """The brain cannot continue without the owner."""

    reason: Reason
    question: str
    about: str | None = None  # `budget:…`, if a budget is used up


class Usage(Struct, frozen=True):
    tokens: int = 0
    cents: int = 0
    requests: int = 0
    context: int = 0  # tokens in the last request and its answer together
    asked: int = 0  # input tokens, if the vendor reports them apart
    answered: int = 0
    cached: int = 0  # input tokens served from the vendor's cache at a lower price


class Reply(Struct, frozen=True):
    """The brain's whole answer with its reasoning. Never delivered."""

    text: str
    done: tuple[int, ...] = ()  # work items it ticked, counted from 1
    ask: Ask | None = None
    usage: Usage = Usage()
    flaw: str | None = None  # why it is no answer: cut off, refused, or ended unexpectedly
    calls: tuple[ToolCall, ...] = ()  # calls that must run before it can continue
    state: str = ""  # passed to the next turn; opaque
    asks_first: bool = False  # whether the owner must approve even what is for the owner
    fallback_note: str = ""  # why the second model answered, if it did


class Deliverable(Struct, frozen=True):
    """The only text that may reach a channel."""

    text: str


class Hold(Struct, frozen=True):
    """Nothing may be sent until the owner has looked."""

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
    runs: tuple[str, ...] = ()  # earlier runs of the session in full, oldest first
    summary: str = ""  # summary of the runs before those
    facts: tuple[str, ...] = ()  # what the owner said about the work
    reported: tuple[str, ...] = ()  # messages sent already, one line each, oldest first
    taint: Taint = Taint.OWNER  # the taint of the least trusted part
    alike: tuple[Snippet, ...] = ()  # similar tasks, best first


class Exchange(Struct, frozen=True):
    """One finished turn of a run: the brain's reply and the results of its calls."""

    reply: Reply
    results: tuple[ToolResult, ...] = ()


PROJECT: Final = "project:"  # prefix of a project's name in a task's agent


class AttemptOutcome(StrEnum):
    """How one attempt of a specialist ended."""

    SUCCESS = "success"
    NEEDS_OWNER = "needs_owner"  # it needs something that only the owner may allow
    RATE_LIMIT = "rate_limit"
    BAD_OUTPUT = "bad_output"  # it stopped and left nothing to check
    VERIFICATION_FAILED = "verification_failed"
    CONTEXT_OVERFLOW = "context_overflow"
    CRASH = "crash"
    TIMEOUT = "timeout"


class SpecialistJob(Struct, frozen=True):
    """One piece of work for a specialist, in its own folder."""

    task_id: TaskId
    prompt: str
    workspace: str
    session: str | None = None  # the session to continue; None starts one
    time_limit: float = 1800.0  # seconds
    allowed: tuple[str, ...] = ()  # digests of calls the owner allowed, each once


class SpecialistClaim(Struct, frozen=True):
    """What a specialist says it did. Only what is verified counts."""

    text: str
    outcome: AttemptOutcome = AttemptOutcome.SUCCESS
    session: str | None = None
    error: str | None = None  # a sentence, if it did not succeed
    needs: ToolCall | None = None  # the exact call the owner is asked to allow
    done: tuple[str, ...] = ()  # of its own plan
    pending: tuple[str, ...] = ()
    asks: Ask | None = None  # a question to the owner, if no call needs approval


class SpecialistAttempt(Struct, frozen=True):
    """One stored attempt of one specialist."""

    agent: str
    started_at: datetime
    ended_at: datetime
    outcome: AttemptOutcome
    error: str | None = None
    failed: tuple[str, ...] = ()  # criteria that were not met
    retries: int = 0  # earlier attempts of this specialist
