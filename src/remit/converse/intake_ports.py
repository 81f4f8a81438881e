"""Ports for what conversations need from other packages: intake, task operations, a brain."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct, field

from remit.model.codec import JsonMap
from remit.model.conversation import TalkContext, TurnOrder
from remit.model.ids import ReviewId, TaskId
from remit.model.reply import Prompt, Reply, Tool, ToolCall, ToolResult
from remit.model.review import Review
from remit.model.task import Task


class UnderstoodMessage(Struct, frozen=True):
    """What became of a message. `sort` is the kind of small talk it is, or contains."""

    tasks: tuple[Task, ...] = ()
    asked: tuple[Review, ...] = ()
    sort: str | None = None  # question, thanks, greeting, statement, control, chatter
    unasked: tuple[str, ...] = ()  # what is unclear, if there is no task to ask about
    receipt: JsonMap = field(default_factory=dict)
    order: TurnOrder | None = None  # it concerns an existing task or an open question
    card: tuple[str, ...] = ()  # what was understood, in the owner's language


class UnclearTime(Struct, frozen=True):
    """A time with two readings; the sentence asks which."""

    sentence: str


class MessageIntake(Protocol):
    """Intake, as far as conversations need it."""

    @property
    def reads_by_model(self) -> bool:
        """Whether a model that passed the exam reads messages."""

    async def hear(
        self, text: str, ref: str, said_at: datetime, context: TalkContext
    ) -> UnderstoodMessage:
        """Store what the words ask for; the same ref twice is the same tasks."""

    def is_talk(self, text: str) -> bool:
        """Whether the words only thank, greet or laugh. Nothing is stored."""

    def asks_for_work(self, text: str) -> bool:
        """Whether the words, by themselves, ask for something to be done. Nothing is stored."""

    def is_request(self, text: str) -> bool:
        """Whether a closed pattern reads the words as a reminder, a text or a plan."""

    def is_loose_work(self, text: str) -> bool:
        """Whether the words could only be work, without a word that asks for it."""

    def fits(self, task: Task, review: Review, text: str) -> bool | None:
        """Whether the words answer a question about a request; None if any words would."""

    def when(
        self, task: Task, words: str, earlier: Sequence[str] = ()
    ) -> datetime | UnclearTime | None:
        """Return the time that words give a task; None if they are no time.

        `earlier` are words that were unclear: "Friday morning", before "9".
        """


class TaskOperations(Protocol):
    """The owner's operations on a task, done because the owner said so."""

    async def pause(self, task_id: TaskId) -> Task: ...

    async def resume(self, task_id: TaskId) -> Task: ...

    async def cancel(self, task_id: TaskId) -> Task: ...

    async def run_now(self, task_id: TaskId) -> Task: ...

    async def reschedule(self, task_id: TaskId, at: datetime) -> Task:
        """Change the time of a task that has not begun; of a series, of its next run."""

    async def runs(self, task_id: TaskId) -> list[datetime]:
        """Return the next times of a task's series."""

    async def skip(self, task_id: TaskId, slot: datetime) -> None:
        """Skip one run of a series."""

    async def unskip(self, task_id: TaskId, slot: datetime, ref: str) -> None:
        """Restore a skipped run."""

    async def restore(self, task_id: TaskId, ref: str) -> Task:
        """Create a cancelled task again, as a new one."""

    async def recall(self, task_id: TaskId) -> Task:
        """Undo an approval before the first byte is sent."""

    async def answer(self, review_id: ReviewId, text: str) -> Task: ...

    async def approve(self, review_id: ReviewId) -> Task:
        """Approve exactly what the card shows."""


class AnsweringBrain(Protocol):
    """A brain that answers questions. Its tools only read."""

    @property
    def tools(self) -> tuple[Tool, ...]: ...

    async def think(self, prompt: Prompt, *, session: str) -> Reply | None:
        """Return the reply; None if the day's budget is used up. `ports.Brain` lists its errors."""

    async def use(self, call: ToolCall) -> ToolResult: ...

    def mark(self, text: str, whence: str) -> str:
        """Return the text marked so that nothing in it can pass for an instruction."""
