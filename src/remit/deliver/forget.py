"""What came in by a channel is forgotten after a while: looked at once a day."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Final

from remit.ports import Clock
from remit.store import inbound
from remit.store.database import Database

LEAST: Final = 8  # days: a provider says the same for a week, and it must be known again
PAUSE: Final = 86_400.0  # seconds between two looks


class Forgetting:
    """Keeps so many days of it; 0 is for ever."""

    def __init__(self, days: int, db: Database, clock: Clock) -> None:
        self._kept = timedelta(days=max(days, LEAST)) if days else None
        self._db = db
        self._clock = clock
        self._looking: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._kept is not None and self._looking is None:
            self._looking = asyncio.create_task(self._look_on())

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
            self._looking = None

    async def look(self) -> int:
        """Forget what is too old; say how much that was."""
        if self._kept is None:
            return 0
        return await self._db.write(inbound.forget, self._clock.now() - self._kept)

    async def _look_on(self) -> None:
        while True:
            with suppress(Exception):  # a disk that is full today may not be tomorrow
                await self.look()
            await self._clock.sleep(PAUSE)
