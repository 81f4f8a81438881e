"""Something that goes on beside everything else: begun once, and ended by whoever began it."""

import asyncio
from collections.abc import Callable, Coroutine


class Beside:
    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    @property
    def is_begun(self) -> bool:
        return self._task is not None

    def begin(self, work: Callable[[], Coroutine[None, None, None]]) -> None:
        """Begin, if it has not begun."""
        if self._task is None:
            self._task = asyncio.create_task(work())

    async def end(self) -> None:
        """Have it stop, and return when it has; then it may begin again."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))
