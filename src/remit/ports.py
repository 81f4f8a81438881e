"""Every port of the system, on one page."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime
from typing import ParamSpec, Protocol, TypeAlias, TypeVar, runtime_checkable

from remit.model.codec import JsonMap
from remit.model.contract import Contract, Criterion, Evidence, Finding, Verdict
from remit.model.delivery import Answer, Delivery, Found, Parcel, SendGuarantee, SendHistory
from remit.model.ids import SessionId, TaskId
from remit.model.likeness import IndexedTask, NearestTask
from remit.model.permit import Reach, UnclearRecipient
from remit.model.plan import WorkItem
from remit.model.reply import Policy, Prompt, Reply, ToolCall
from remit.model.review import Decision
from remit.model.specialist import SpecialistClaim, SpecialistJob
from remit.model.status import Actor, Status
from remit.model.task import Cue, Taint, Task, TaskBudget

P = ParamSpec("P")
T = TypeVar("T")

OnText: TypeAlias = Callable[[str], Awaitable[None]]  # is given each piece of text as it comes
Permit: TypeAlias = Callable[[ToolCall], Awaitable[Policy]]  # whether a specialist may do this


class Clock(Protocol):
    """Tells the time and waits for it."""

    def now(self) -> datetime: ...

    async def sleep(self, seconds: float) -> None: ...


class Trigger(Protocol):
    """Watches the outside world and yields a cue for each thing that may be work."""

    def watch(self) -> AsyncIterator[Cue]: ...


class Brain(Protocol):
    """Thinks. The same session continues the same thought.

    Raises `errors.Transient` or `errors.Permanent` when it cannot; returns a reply with an `ask`
    when only the owner can help.
    """

    async def think(self, prompt: Prompt, *, session: str) -> Reply: ...


@runtime_checkable
class LiveBrain(Brain, Protocol):
    """A brain that can be heard while it thinks."""

    async def think_aloud(self, prompt: Prompt, *, session: str, on_text: OnText) -> Reply: ...


class Specialist(Protocol):
    """Does code work in the folder of a job, and says what came of it.

    It never raises for what it can tell: a limit, a crash, no time left are outcomes of a claim.
    """

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> frozenset[str]: ...

    async def work(self, job: SpecialistJob, emit: OnText, permit: Permit) -> SpecialistClaim: ...


class Channel(Protocol):
    """Carries a text to a person, once per call, and says honestly what came of it.

    It never tries again by itself: after a failure only the courier knows whether that is safe.
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
    """A channel with a form of its own: plain text, messages of a certain length."""

    def shape(self, text: str) -> str:
        """The text as its reader will see it. This is what is gated and approved."""

    def parts(self, shaped: str) -> tuple[str, ...]:
        """The messages that a shaped text goes out as, in order: nothing added, nothing lost."""


@runtime_checkable
class ReconcilingChannel(Protocol):
    """A channel whose doubts may clear up: it can look, or its provider reports."""

    @property
    def grace(self) -> float:
        """Seconds that are waited for news before the owner is asked."""

    async def find(self, parcel: Parcel) -> Found | None:
        """What became of a message; None if nobody can say.

        Who knows a message again by its key may be given it once more: under one key it is one. A
        retry says that it never left, and is for who knows of every message that it took.
        """


@runtime_checkable
class AddressedChannel(Protocol):
    """A channel whose recipients have addresses of a certain form."""

    @property
    def knows_owner(self) -> bool:
        """Whether it knows by itself where its owner reads."""

    def takes(self, address: str) -> bool:
        """Whether this is an address that it could send to."""


class People(Protocol):
    """The contact book, as it is at the moment of a send."""

    def find(self, recipient: str | None, channel: str) -> Reach | UnclearRecipient:
        """Whom words mean, and where a channel reaches them; None is the owner."""


class Check(Protocol):
    """Tests one criterion of a contract and says what it found."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding: ...


class Embedder(Protocol):
    """Turns texts into vectors, so that like texts lie near each other.

    Raises `errors.StepFailed` when it cannot.
    """

    @property
    def name(self) -> str:
        """What it is called: vectors that were made under two names cannot be compared."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...


class SnippetStore(Protocol):
    """Keeps the vectors of tasks, and finds those that lie near one.

    Its verbs block for a moment: who must not wait calls them on a thread. What has returned is on
    the disk. All of it can be made anew from the tasks; so it raises `errors.StoreTrouble` for
    whatever is wrong, and whoever uses it goes on without.
    """

    def put(self, some: Sequence[IndexedTask]) -> None: ...

    def mark(self, task_id: TaskId, beside: JsonMap) -> None:
        """Say anew what stands beside a vector; the vector stays."""

    def drop(self, tasks: Sequence[TaskId]) -> None:
        """From now on these are not found; what is left of them goes with the next `tidy`."""

    def near(
        self, vector: Sequence[float], most: int, without: Sequence[SessionId] = ()
    ) -> list[NearestTask]:
        """The nearest first; what belongs to some sessions is left out."""

    def count(self) -> int: ...

    def clear(self) -> None:
        """Forget everything."""

    def tidy(self) -> None:
        """Put in order what was written, and take from the disk what was dropped."""

    def close(self) -> None: ...


class SendLedger(Protocol):
    """Where sends are written down: the claim before the first byte, the answer after it."""

    async def claim(self, delivery: Delivery, body: str) -> int: ...

    async def settle(self, delivery: Delivery, attempt: int, answer: Answer) -> None: ...

    async def post(self, delivery: Delivery, body: str) -> None: ...

    async def doubt(self, delivery: Delivery, why: str) -> None: ...

    async def split(self, delivery: Delivery, parts: Sequence[str]) -> None:
        """Make one delivery into several, each with the text it will send."""

    async def clear(self, delivery: Delivery, answer: Found) -> None:
        """Settle a doubt by what the channel found out."""

    async def sends(self, delivery: Delivery) -> SendHistory:
        """What was tried so far."""


class Steps(Protocol):
    """Remembers what a run has done: a step that ended is never done again.

    Every method is a boundary: if the owner asked to pause or cancel, the run stops here.
    """

    @property
    def task(self) -> Task:
        """The task as it stands now."""

    @property
    def ledger(self) -> SendLedger: ...

    async def do(
        self, name: str, work: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Do a named piece of work, or return what it gave the last time.

        A recorded result is read back as the type that `work` promises to return.
        """

    async def look(
        self, name: str, work: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Do a piece of work that changes nothing; it is written down with the next step.

        After a crash in between it is looked up again, which does no harm and costs little.
        """

    def has(self, name: str) -> bool:
        """Whether a step is on record."""

    async def move(self, to: Status, by: Actor) -> None:
        """Move the task, durably, if it does not stand there already."""

    async def decided(self, key: str) -> Decision | None:
        """What the owner decided at this place in the run, if asked and answered."""

    async def declined(self, key: str) -> bool:
        """Whether the owner declined a question whose key begins so."""

    async def tell(self, text: str = "", done: Sequence[int] = ()) -> None:
        """Let the owner see how far the work is: what is said, which work items are done.

        It is no boundary, and it never stops the work: what cannot be told now is told later.
        """

    def keep(
        self,
        *,
        work: tuple[WorkItem, ...] | None = None,
        tool_output: str | None = None,
        contract: Contract | None = None,
        verdict: Verdict | None = None,
        taint: Taint | None = None,
        spent: TaskBudget | None = None,
    ) -> None:
        """Note what the run found out; it is written with the next durable step."""
