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
    """What became of a message. `sort` is the sort of talk that it is, or also is."""

    tasks: tuple[Task, ...] = ()
    asked: tuple[Review, ...] = ()
    sort: str | None = None  # question, thanks, greeting, statement, control, chatter
    unasked: tuple[str, ...] = ()  # what is unclear, where there is no task to ask about
    receipt: JsonMap = field(default_factory=dict)
    order: TurnOrder | None = None  # it is about a task that is there, or an open question
    card: tuple[str, ...] = ()  # what was understood, line by line, in the owner's language


class UnclearTime(Struct, frozen=True):
    """A time that may be two; the sentence asks which."""

    sentence: str


class MessageIntake(Protocol):
    """Intake, as far as talk needs it."""

    @property
    def reads_by_model(self) -> bool:
        """Whether a model that passed the exam reads what is said."""

    async def hear(
        self, text: str, ref: str, said_at: datetime, context: TalkContext
    ) -> UnderstoodMessage:
        """Store what the words ask for; the same ref twice is the same tasks."""

    def is_talk(self, text: str) -> bool:
        """Whether the words only thank, greet or laugh. Nothing is stored."""

    def asks_for_work(self, text: str) -> bool:
        """Whether the words, by themselves, ask for something to be done. Nothing is stored."""

    def is_request(self, text: str) -> bool:
        """Whether a closed pattern reads the words as a reminder, a text or something planned."""

    def is_loose_work(self, text: str) -> bool:
        """Whether the words could only be work that nothing in them asks for."""

    def fits(self, task: Task, review: Review, text: str) -> bool | None:
        """Whether the words answer a question about a request; None if any words would."""

    def when(
        self, task: Task, words: str, earlier: Sequence[str] = ()
    ) -> datetime | UnclearTime | None:
        """The time that words put in the place of a task's own; None if they are no time.

        `earlier` are words that were unclear: "Friday morning", before "9".
        """


class TaskOperations(Protocol):
    """What the owner may do to a task, done for him because he said so."""

    async def pause(self, task_id: TaskId) -> Task: ...

    async def resume(self, task_id: TaskId) -> Task: ...

    async def cancel(self, task_id: TaskId) -> Task: ...

    async def run_now(self, task_id: TaskId) -> Task: ...

    async def reschedule(self, task_id: TaskId, at: datetime) -> Task:
        """Give another time to what has not begun; of a series, to its next run."""

    async def runs(self, task_id: TaskId) -> list[datetime]:
        """The times at which the series of a task comes back next."""

    async def skip(self, task_id: TaskId, slot: datetime) -> None:
        """Leave out one run of a series."""

    async def unskip(self, task_id: TaskId, slot: datetime, ref: str) -> None:
        """Have a run all the same that was left out."""

    async def restore(self, task_id: TaskId, ref: str) -> Task:
        """Have what was cancelled once more, as a new task."""

    async def recall(self, task_id: TaskId) -> Task:
        """Call back what was approved, before the first byte is out."""

    async def answer(self, review_id: ReviewId, text: str) -> Task: ...

    async def approve(self, review_id: ReviewId) -> Task:
        """Approve exactly what the card shows."""


class AnsweringBrain(Protocol):
    """A brain that answers questions. Its tools read; none of them does anything."""

    @property
    def tools(self) -> tuple[Tool, ...]: ...

    async def think(self, prompt: Prompt, *, session: str) -> Reply | None:
        """None is a day whose budget is used up. `ports.Brain` says what it may raise."""

    async def use(self, call: ToolCall) -> ToolResult: ...

    def mark(self, text: str, whence: str) -> str:
        """The text, so that nothing in it can pass for an order."""
