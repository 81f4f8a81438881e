"""Every port of the system, on one page."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import (
    Final,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeGuard,
    TypeVar,
    Unpack,
    runtime_checkable,
)

from remit.model.codec import JsonMap
from remit.model.contract import Criterion, Evidence, Finding
from remit.model.delivery import (
    Answer,
    Delivery,
    Found,
    Parcel,
    SendCap,
    SendGuarantee,
    SendHistory,
)
from remit.model.ids import SessionId, TaskId
from remit.model.likeness import IndexedTask, NearestTask
from remit.model.permit import Reach, UnclearRecipient
from remit.model.reply import Policy, Prompt, Reply, SpecialistClaim, SpecialistJob, ToolCall
from remit.model.review import Decision
from remit.model.status import Actor, Status
from remit.model.task import RunFindings, Task
from remit.model.task_file import FileLimits

P = ParamSpec("P")
T = TypeVar("T")

OnText: TypeAlias = Callable[[str], Awaitable[None]]  # called with each piece of text as it comes
Permit: TypeAlias = Callable[[ToolCall], Awaitable[Policy]]  # whether a specialist may do this
_IMPLEMENTS: Final[dict[tuple[type, type], bool]] = {}


def implements(value: object, protocol: type[T]) -> TypeGuard[T]:
    """Whether a value has all that a protocol asks for.

    It is looked at once for each class: before Python 3.12 a look costs 15 µs.
    """
    pair = type(value), protocol
    if pair not in _IMPLEMENTS:
        _IMPLEMENTS[pair] = isinstance(value, protocol)
    return _IMPLEMENTS[pair]


class Clock(Protocol):
    """Tells the time and waits for it."""

    def now(self) -> datetime: ...

    async def sleep(self, seconds: float) -> None: ...


class Brain(Protocol):
    """Answers prompts. The same session continues the same conversation.

    Raises `errors.Transient` or `errors.Permanent` when it cannot; returns a reply with an `ask`
    when only the owner can help.
    """

    async def think(self, prompt: Prompt, *, session: str) -> Reply: ...


@runtime_checkable
class LiveBrain(Brain, Protocol):
    """A brain that streams its reply."""

    async def think_aloud(self, prompt: Prompt, *, session: str, on_text: OnText) -> Reply: ...


class Specialist(Protocol):
    """Does code work in the folder of a job, and reports the result.

    It never raises for what it can report: a limit, a crash or a timeout are outcomes of a claim.
    """

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> frozenset[str]: ...

    async def work(self, job: SpecialistJob, emit: OnText, permit: Permit) -> SpecialistClaim: ...


class Channel(Protocol):
    """Sends a text to a person, once per call, and reports the result.

    It never retries: after a failure only the courier knows whether that is safe.
    """

    @property
    def name(self) -> str: ...

    @property
    def guidance(self) -> str:
        """What the brain is told about writing for this channel."""

    @property
    def most(self) -> int:
        """How many characters one message may have."""

    @property
    def keeps(self) -> SendGuarantee: ...

    async def send(self, parcel: Parcel) -> Answer: ...


@runtime_checkable
class ShapingChannel(Protocol):
    """A channel with its own form: plain text, messages of limited length."""

    def shape(self, text: str) -> str:
        """Return the text as its reader will see it. This is what is gated and approved."""

    def parts(self, shaped: str) -> tuple[str, ...]:
        """Return the exact messages that a shaped text is sent as, in order; no text is lost."""


@runtime_checkable
class ConnectingChannel(Protocol):
    """A channel that awaits `first_byte.reached` when its connection stands, before a byte leaves.

    So a send is claimed as late as possible.
    """

    @property
    def counts_every_try(self) -> bool:
        """Whether a try that reached nobody is an attempt, too."""


@runtime_checkable
class ReconcilingChannel(Protocol):
    """A channel that can resolve an unknown send: by a lookup, or by reports."""

    @property
    def grace(self) -> float:
        """Seconds to wait for news before the owner is asked."""

    async def find(self, parcel: Parcel) -> Found | None:
        """Return what became of a message; None if unknown.

        A channel that recognises a message by its key may get it again: one key is one message.
        SendRetry means that it never left, and is only for a channel that knows every message it
        accepted.
        """


@runtime_checkable
class AddressedChannel(Protocol):
    """A channel whose recipients have addresses of a certain form."""

    @property
    def knows_owner(self) -> bool:
        """Whether it knows the owner's address by itself."""

    def takes(self, address: str) -> bool:
        """Whether it could send to this address."""


@runtime_checkable
class ButtonChannel(Protocol):
    """A channel that can show buttons under a message."""

    async def takes_buttons(self, address: str | None, text: str) -> bool:
        """Whether it can show them to this person now, under this text; None: the owner."""


@runtime_checkable
class FileChannel(Protocol):
    """A channel that carries files with a message; each parcel holds their bytes."""

    @property
    def files(self) -> FileLimits: ...


@runtime_checkable
class UploadingChannel(Protocol):
    """A channel whose provider gets the files before the message that carries them."""

    async def upload(self, parcel: Parcel) -> tuple[str, ...] | Answer:
        """Return what the provider calls the files. An upload sends nothing to anybody."""


@runtime_checkable
class WindowedFileChannel(Protocol):
    """A channel that carries files only to some people at some times."""

    async def refuses_files(self, address: str | None) -> str | None:
        """Return why this person can be sent no file now; None is the owner."""


@runtime_checkable
class FetchingChannel(Protocol):
    """A channel whose provider keeps the files that people send."""

    async def fetch_file(self, ident: str, most: int) -> bytes | None:
        """Return the content of a file; None if it cannot be had, or is larger."""


class People(Protocol):
    """The contact book, at the moment of a send."""

    def find(self, recipient: str | None, channel: str) -> Reach | UnclearRecipient:
        """Return whom words mean, and their address on a channel; None is the owner."""


class Check(Protocol):
    """Tests one criterion of a contract and says what it found."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding: ...


class Embedder(Protocol):
    """Turns texts into vectors, so that similar texts are near each other.

    Raises `errors.StepFailed` when it cannot.
    """

    @property
    def name(self) -> str:
        """Its name: vectors of two names cannot be compared."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...


class SnippetStore(Protocol):
    """Stores the vectors of tasks, and finds the nearest ones.

    Its methods block for a moment: call them in a thread where that matters. What has returned is
    on disk. Everything can be rebuilt from the tasks, so it raises `errors.StoreTrouble` for any
    problem, and callers continue without it.
    """

    def put(self, some: Sequence[IndexedTask]) -> None: ...

    def mark(self, task_id: TaskId, beside: JsonMap) -> None:
        """Replace the payload of a vector; the vector stays."""

    def drop(self, tasks: Sequence[TaskId]) -> None:
        """Hide these from now on; the next `tidy` removes them."""

    def near(
        self,
        vector: Sequence[float],
        most: int,
        without: Sequence[SessionId] = (),
        status: str | None = None,
    ) -> list[NearestTask]:
        """Return the nearest first, without some sessions; with a status only what ended so."""

    def count(self) -> int: ...

    def clear(self) -> None:
        """Delete everything."""

    def tidy(self) -> None:
        """Optimise what was written, and remove what was dropped from disk."""

    def close(self) -> None: ...


class SendLedger(Protocol):
    """Where sends are recorded: the claim before the first byte, the answer after it."""

    async def claim(self, delivery: Delivery, body: str, cap: SendCap | None = None) -> int:
        """Return the number of the attempt; 0 if it would exceed the cap."""

    async def settle(self, delivery: Delivery, attempt: int, answer: Answer) -> None: ...

    async def post(self, delivery: Delivery, body: str) -> None: ...

    async def doubt(self, delivery: Delivery, why: str) -> None: ...

    async def split(self, delivery: Delivery, parts: Sequence[str]) -> None:
        """Split one delivery into several, each with the text it will send."""

    async def clear(self, delivery: Delivery, answer: Found) -> None:
        """Resolve an unknown send by what the channel found."""

    async def sends(self, delivery: Delivery) -> SendHistory:
        """Return the attempts so far."""


class Steps(Protocol):
    """Records what a run has done: a finished step is never repeated.

    Every method is a boundary: if the owner asked to pause or cancel, the run stops here.
    """

    @property
    def task(self) -> Task:
        """The task in its current state."""

    @property
    def ledger(self) -> SendLedger: ...

    async def do(
        self, name: str, work: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Do a named piece of work, or return its recorded result.

        A recorded result is parsed as the return type of `work`.
        """

    async def look(
        self, name: str, work: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Do a piece of work without effects; it is recorded with the next step or move.

        After a crash in between it is done again, which is harmless.
        """

    async def save(self) -> None:
        """Write down now what was looked at."""

    def owe(self) -> None:
        """Write down what was looked at with the next step or move, or at the latest with the end.

        It costs no write of its own; call it where only quick work without effects follows.
        """

    def has(self, name: str) -> bool:
        """Whether a step is recorded."""

    async def move(self, to: Status, by: Actor, *, soon: bool = False) -> None:
        """Move the task durably, if it does not have that status already.

        With `soon` it is written with the next write: only quick work without effects may follow.
        """

    async def decided(self, key: str) -> Decision | None:
        """Return the owner's decision at this place in the run, if there is one."""

    async def decisions(self, prefix: str) -> Mapping[str, Decision]:
        """Return the decisions of questions whose key has this prefix, in the order asked."""

    async def tell(self, text: str = "", done: Sequence[int] = ()) -> None:
        """Show progress to the owner: text, and finished work items.

        It is no boundary and never stops the work; what cannot be stored now is stored later.
        """

    def keep(self, **found: Unpack[RunFindings]) -> None:
        """Note what the run found out; it is written with the next durable step."""
