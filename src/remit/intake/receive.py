"""Stores and acknowledges a message before a model reads it; warns of a likely duplicate.

Its words become a task at once, which waits to be read. The reading is a recorded step and replaces
that task in one transaction, once. If the process ends before, the message is read at the next
start. A duplicate only gets a warning; it runs in any case.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from msgspec.structs import replace

from remit.errors import BadInput
from remit.intake import admit
from remit.intake.admit import MessageReceiver
from remit.intake.extraction import Extraction
from remit.intake.hear import MessageReader
from remit.intake.message import MessageResult, OwnerMessage, reading_record
from remit.language.order_words import SmallTalk
from remit.model.ids import Ids, TaskId
from remit.model.task import Cue, PendingReading, Source, Task
from remit.ports import Clock
from remit.store import messages, tasks
from remit.store.database import Database
from remit.store.messages import ReadMessage

MAX_WAIT_SECONDS: Final = 40.0  # a little longer than a model may take to read
MAX_TITLE_CHARS: Final = 80
_POLITE: Final = (SmallTalk.THANKS, SmallTalk.GREETING)


class Receiver:
    """Stores messages. `is_slow` says whether a model reads them; then nobody waits for it."""

    def __init__(
        self, ear: MessageReader, db: Database, clock: Clock, ids: Ids, is_slow: Callable[[], bool]
    ) -> None:
        self._ear = ear
        self._db = db
        self._clock = clock
        self._ids = ids
        self._is_slow = is_slow
        self._waiting: dict[TaskId, asyncio.Event] = {}

    async def hear(self, message: OwnerMessage) -> MessageResult:
        """Read a message that is stored elsewhere, and store what it asks for."""
        return await self._ear.hear(message)

    async def read(self, message: OwnerMessage) -> Extraction:
        return await self._ear.read(message)

    async def receive(self, message: OwnerMessage) -> MessageResult:
        """Store a message durably; it is read at once, or soon if a model reads it."""
        known = await self._db.read(messages.of_message, message.source)
        if known or not self._is_slow():
            return await self._ear.hear(message)
        plain = await self._ear.read_plainly(message)  # for what it refuses
        if not plain.tasks and plain.answer in _POLITE:
            return MessageResult((), (), plain.answer, plain.clauses)
        task = self._unread(replace(message, text=message.text.strip()), plain)
        (stored,) = await self._db.write(messages.entrust, [task], [], message.said_at)
        return await self._ear.hear(message) if stored.id != task.id else MessageResult((stored,))

    async def read_pending(self, task: Task) -> None:
        """Read a stored message, and replace its task by what it asks for."""
        message, said_at = _message(task), task.created_at
        try:
            found = await self._ear.read(message, said_at)
            made, asked = self._ear.tasks_of(found, message, said_at, task)
        except BadInput:  # such as a time that contradicts the one that was given beside the words
            found = await self._ear.read_plainly(message, said_at)
            made, asked = self._ear.tasks_of(found, message, said_at, task)
        read = ReadMessage(made, asked, reading_record(found), "" if made else _nothing(found))
        await self._db.write(messages.store_reading, task.id, read, self._clock.now())
        if (waiting := self._waiting.pop(task.id, None)) is not None:
            waiting.set()

    async def wait_read(self, task_id: TaskId) -> None:
        """Wait until a message is read, or that takes too long."""
        waiting = self._waiting.setdefault(task_id, asyncio.Event())
        if (await self._db.read(tasks.get, task_id)).pending_reading is None:
            self._waiting.pop(task_id, None)
            return
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                await waiting.wait()
        except TimeoutError:
            return

    def _unread(self, message: OwnerMessage, plain: Extraction) -> Task:
        cue = Cue(
            source=message.source,
            title=plain.tasks[0].title if plain.tasks else _title(message.text),
            text=message.text,
            priority=message.priority,
            context=message.context,
            taint=message.taint,
        )
        pending = PendingReading(
            priority=message.priority,
            scheduled_for=message.scheduled_for,
            repeats=message.repeats,
            home=message.home,
            said_at=message.said_at,
            conditions=message.conditions,
        )
        task = admit.make(cue, self._ids, self._clock.now())
        request = replace(task.request, clauses=()) if task.request else None
        return replace(task, request=request, pending_reading=pending)


def _message(task: Task) -> OwnerMessage:
    assert task.pending_reading is not None  # noqa: S101 - who calls has looked
    assert task.request is not None  # noqa: S101 - its words
    pending = task.pending_reading
    return OwnerMessage(
        text=task.request.text,
        source=Source(task.source.kind, task.source.ref),
        scheduled_for=pending.scheduled_for,
        priority=pending.priority,
        repeats=pending.repeats,
        context=task.context,
        home=pending.home,
        taint=task.taint,
        said_at=pending.said_at,
        conditions=pending.conditions,
    )


def _nothing(found: Extraction) -> str:
    if found.questions:
        return " ".join(each.sentence for each in found.questions)
    return (
        f"Nothing was done: this is {_SORTS.get(found.answer or SmallTalk.CHATTER, 'no request')}."
    )


def _title(text: str) -> str:
    line = " ".join(text.strip().splitlines()[0].split())
    return line if len(line) <= MAX_TITLE_CHARS else line[: MAX_TITLE_CHARS - 1].rstrip() + "…"


_SORTS: Final = {
    SmallTalk.QUESTION: "a question; ask it in a conversation",
    SmallTalk.CONTROL: "an order about a task that exists; say it in a conversation",
    SmallTalk.STATEMENT: "a remark",
    SmallTalk.TAKEN_BACK: "something that you took back yourself",
    SmallTalk.FORBIDDEN: "something that you said not to do",
}


# Given a task: a sentence about another that it looks like, if there is one.
Twin: TypeAlias = Callable[[Task], Awaitable[str | None]]


class DuplicateAwareReceiver:
    def __init__(self, ear: MessageReceiver, twin: Twin) -> None:
        self._ear = ear
        self._twin = twin

    async def hear(self, message: OwnerMessage) -> MessageResult:
        return await self._with_twins(await self._ear.hear(message))

    async def receive(self, message: OwnerMessage) -> MessageResult:
        return await self._with_twins(await self._ear.receive(message))

    async def wait_read(self, task_id: TaskId) -> None:
        await self._ear.wait_read(task_id)

    async def _with_twins(self, result: MessageResult) -> MessageResult:
        if result.reading is not None:
            return result
        warnings = [await self._twin(task) for task in result.tasks]
        return replace(result, alike=tuple(each for each in warnings if each))

    async def read(self, message: OwnerMessage) -> Extraction:
        return await self._ear.read(message)
