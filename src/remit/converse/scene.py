"""Loads what a turn is read against (earlier turns, tasks, open questions), and declares the ports.

The ports are what conversations need from other packages: intake, task operations, a brain.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct, field

from remit.language.sentences import message_language
from remit.model.codec import JsonMap
from remit.model.conversation import ListedThing, Role, TalkContext, Turn, TurnOrder
from remit.model.ids import ReviewId, SeriesId, TaskId
from remit.model.recurrence import Series
from remit.model.reply import Prompt, Reply, Tool, ToolCall, ToolResult
from remit.model.review import Review
from remit.model.status import TERMINAL, Status
from remit.model.task import Task
from remit.store import conversations, series, tasks
from remit.store.database import Tx

MOST_OWN_TURNS: Final = 6
MOST_LISTED_TASKS: Final = 10
MOST_LISTED_QUESTIONS: Final = 5
_FEW_WORDS: Final = 3  # fewer may be words of several languages
_BEFORE: Final = 20  # turns
_BEHIND: Final = 20  # later turns that are also loaded
_OTHERS: Final = 200  # live tasks that are searched
_ENDED: Final = 50
_SERIES: Final = 30  # series whose frequency is loaded
_ADDRESS: Final = re.compile(r" \((?:\+?[\d ]+|\S+@\S+)\)")  # a reader needs only the name
_FREQUENCY: Final = re.compile(r"FREQ=(\w+)", re.IGNORECASE)
_DAYS: Final = re.compile(r"FREQ=WEEKLY\b.*\bBYDAY=([\w,]+)", re.IGNORECASE)
_MOST_WEEKLY_DAYS: Final = 4
_LIVE: Final = tuple(status for status in Status if status not in TERMINAL)


class ConversationScene(Struct, frozen=True):
    turn: Turn
    before: tuple[Turn, ...]  # oldest first
    spoken: tuple[Task, ...]  # of this conversation, last mentioned first
    others: tuple[Task, ...]  # every task, newest first
    asked: tuple[Review, ...]  # open questions about the conversation's tasks
    rhythms: Mapping[SeriesId, str] = field(default_factory=dict)  # daily, weekly, …
    going: frozenset[SeriesId] = frozenset()  # series that have not ended

    def is_open(self, task: Task) -> bool:
        """Whether the task, or the series that it was a run of, goes on."""
        return not task.ended or task.series_id in self.going

    @property
    def context(self) -> TalkContext:
        """What a reader of this turn gets: the owner's words, titles, open questions."""
        mine = [turn.content for turn in self.before if turn.role is Role.USER]
        known = {task.id: task.title for task in (*self.spoken, *self.others)}
        asked = {each.id: _ADDRESS.sub("", each.question) for each in self.asked if each.id}
        listed = [ListedThing(ident, title) for ident, title in known.items()]
        questions = [ListedThing(ident, sentence) for ident, sentence in asked.items()]
        return TalkContext(
            tuple(mine[-MOST_OWN_TURNS:]),
            tuple(listed[:MOST_LISTED_TASKS]),
            tuple(questions[:MOST_LISTED_QUESTIONS]),
            self.turn.channel,
        )

    @property
    def language(self) -> str:
        """The language to answer in. A few words are read with those before: "resume it"."""
        text = self.turn.content
        mine = [turn.content for turn in self.before if turn.role is Role.USER]
        few = len(text.split()) < _FEW_WORDS
        return message_language("\n".join([*mine[-1:], text]) if few else text)

    @property
    def live(self) -> tuple[Task, ...]:
        return tuple(task for task in self.spoken if self.is_open(task))

    @property
    def last(self) -> tuple[Task, ...]:
        """The tasks the owner may call "it": of the last turn that was about any."""
        if self.turn.about is not None:
            return tuple(task for task in self.spoken if task.id == self.turn.about)
        for turn in reversed(self.before):
            ids = {ref.task_id for ref in turn.task_refs}
            if ids:
                return tuple(task for task in self.spoken if task.id in ids)
        return ()

    @property
    def still_open(self) -> str:
        """A line with the question asked last, for an answer to something else; else nothing."""
        last = {task.id for task in self.last}
        asked = next((each for each in self.asked if each.task_id in last), None)
        return f"\nStill open: {asked.question}" if asked else ""

    @property
    def pending(self) -> Turn | None:
        """The last answer, if it asked the owner something that only this conversation knows."""
        mine = [turn for turn in self.before if turn.role is Role.ASSISTANT]
        owners = [turn for turn in self.before if turn.role is Role.USER]
        if not mine or not mine[-1].asks:
            return None
        # A turn about something else drops the question.
        return mine[-1] if not owners or owners[-1].n < mine[-1].n else None


def _is_before(each: Turn, turn: Turn) -> bool:
    """Whether a turn comes before another, counting answers to it."""
    if each.role is Role.USER:
        return each.n < turn.n
    return each.n < turn.n if each.answers is None else each.answers < turn.n


def look(tx: Tx, turn: Turn) -> ConversationScene:
    """Load everything at one moment."""
    turns = conversations.turns(tx, turn.conversation_id, 0, _BEFORE + _BEHIND)
    before = [each for each in turns if _is_before(each, turn)][-_BEFORE:]
    spoken = conversations.tasks_in(tx, turn.conversation_id)
    if turn.about is not None and turn.about not in {task.id for task in spoken}:
        spoken = [tasks.get(tx, turn.about), *spoken]
    live = conversations.list_tasks_with_status(tx, _LIVE, _OTHERS)
    ended = conversations.list_tasks_with_status(tx, TERMINAL, _ENDED)
    asked = conversations.asked_in(tx, turn.conversation_id)
    repeating = _series(tx, (*spoken, *live, *ended))
    return ConversationScene(
        turn,
        tuple(before),
        tuple(spoken),
        (*live, *ended),
        tuple(asked),
        {each.id: _rhythm(each) for each in repeating},
        frozenset(each.id for each in repeating if each.ended_at is None),
    )


def _series(tx: Tx, among: Iterable[Task]) -> list[Series]:
    ids = dict.fromkeys(task.series_id for task in among if task.series_id)
    return [found for each in list(ids)[:_SERIES] if (found := series.get(tx, each))]


def _rhythm(repeating: Series) -> str:
    """Return how often a series repeats; what comes on most days of the week is called daily."""
    rule = repeating.repeats.rule
    days = _DAYS.search(rule)
    if days is not None and days[1].count(",") >= _MOST_WEEKLY_DAYS:
        return "daily"
    often = _FREQUENCY.search(rule)
    return often[1].casefold() if often else ""


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
        self, text: str, ref: str, said_at: datetime, talk: TalkContext, context: JsonMap
    ) -> UnderstoodMessage:
        """Store what the words ask for; the same ref twice is the same tasks.

        `context` has the files that came with them, which make them a task, or the thread of
        their mail.
        """

    def is_talk(self, text: str) -> bool:
        """Whether the words only thank, greet, laugh or ask something. Nothing is stored."""

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

    async def run_now(self, task_id: TaskId, ref: str) -> Task:
        """Start a planned task at once; the same `ref` starts one run of a series at most."""

    async def reschedule(self, task_id: TaskId, at: datetime) -> Task:
        """Change the time of a task that has not begun; of a series, of its next run."""

    async def runs(self, task_id: TaskId) -> list[datetime]:
        """Return the next times of a task's series."""

    async def skip(self, task_id: TaskId, slot: datetime) -> None:
        """Skip one run of a series."""

    async def unskip(self, task_id: TaskId, slot: datetime) -> None:
        """Restore a skipped run."""

    async def again(self, task_id: TaskId, ref: str) -> Task:
        """Do an ended task once more, as a new one; of a series, run it now."""

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
