"""Deletes old inbound messages once a day."""

from datetime import timedelta
from typing import Final

from remit.ports import Clock
from remit.store import inbound
from remit.store.database import Database
from remit.system.background import Background

LEAST: Final = 8  # days: a provider repeats itself for a week, and must be recognised
LOOP: Final = "inbound cleanup"
PAUSE: Final = 86_400.0  # seconds between two runs


class InboundCleanup:
    """Keeps this many days; 0: for ever."""

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
        """Delete what is too old; return how many."""
        if self._kept is None:
            return 0
        return await self._db.write(inbound.forget, self._clock.now() - self._kept)

    async def _look_on(self) -> None:
        while True:
            await self.look()
            await self._clock.sleep(PAUSE)
