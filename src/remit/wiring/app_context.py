"""What every part of the app uses: store, clock, brain, channels, budget."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from msgspec import Struct

from remit.brain.budget import Budget
from remit.brain.choose import ModelRole
from remit.brain.models import ModelBrain
from remit.ports import Brain, Channel, Clock
from remit.settings import Settings
from remit.store.database import Database
from remit.system.background import Background


class WallClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - the one place where time comes from

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class AppContext(Struct, frozen=True):
    """What every part of the app uses."""

    settings: Settings
    db: Database
    clock: Clock
    brain: Brain
    channels: Mapping[str, Channel]
    zone: ZoneInfo
    purse: Budget
    known: Collection[str]  # every secret: none may be sent
    redact: Callable[[str], str]
    background: Background

    async def moment(self) -> datetime:
        """Return the time, for a step that records it."""
        return self.clock.now()

    def mind(self, role: ModelRole) -> ModelBrain | None:
        """Return the model for a role, if there is one."""
        mind = self.brain.as_role(role) if isinstance(self.brain, ModelBrain) else None
        return mind if mind is not None and mind.ready else None
