"""Deletes old inbound messages once a day."""

from datetime import timedelta
from typing import Final

from remit.ports import Clock
from remit.store import inbound
from remit.store.database import Database
from remit.system.background import Background

LEAST: Final = 8  # days: a provider says the same for a week, and it must be known again
LOOP: Final = "inbound cleanup"
PAUSE: Final = 86_400.0  # seconds between two looks


class InboundCleanup:
    """Keeps so many days of it; 0 is for ever."""

    def __init__(self, days: int, db: Database, clock: Clock, background: Background) -> None:
        self._kept = timedelta(days=max(days, LEAST)) if days else None
        self._db = db
        self._clock = clock
        self._background = background

    def start(self) -> None:
        if self._kept is not None:
            self._background.start(LOOP, self._look_on)

    async def close(self) -> None:
        await self._background.stop(LOOP)

    async def look(self) -> int:
        """Forget what is too old; say how much that was."""
        if self._kept is None:
            return 0
        return await self._db.write(inbound.forget, self._clock.now() - self._kept)

    async def _look_on(self) -> None:
        while True:
            await self.look()
            await self._clock.sleep(PAUSE)
