"""Warns when a new message looks like an earlier one.

It only warns. The task is already stored and runs in any case.
"""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec.structs import replace

from remit.intake.admit import MessageReceiver
from remit.intake.extraction import Extraction
from remit.intake.heard import MessageResult, OwnerMessage
from remit.model.ids import TaskId
from remit.model.task import Task

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

    async def _with_twins(self, heard: MessageResult) -> MessageResult:
        if heard.reading is not None:
            return heard
        said = [await self._twin(task) for task in heard.tasks]
        return replace(heard, alike=tuple(each for each in said if each))

    async def read(self, message: OwnerMessage) -> Extraction:
        return await self._ear.read(message)
