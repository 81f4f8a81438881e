"""The courier's limits: whom it may write to, when, and how often."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, tzinfo
from typing import TypeAlias

from msgspec import Struct

from remit.model.delivery import Delivery
from remit.model.permit import Permission
from remit.model.quiet import QuietHours
from remit.ports import People

Standing: TypeAlias = Callable[[str], Awaitable[Sequence[Permission]]]  # on a channel
Count: TypeAlias = Callable[[Delivery, datetime], Awaitable[int]]


class SendLimits(Struct, frozen=True, kw_only=True):
    people: People
    standing: Standing  # the owner's standing permissions
    sent: Count  # how many other messages went to the same place since a moment
    now: Callable[[], datetime]
    zone: tzinfo
    quiet: QuietHours | None = None
    daily_cap: int = 0  # 0: no limit
    undo: int = 0  # seconds in which an approval can be undone

    def quiet_left(self) -> float:
        """Return how many seconds of quiet hours are left."""
        now = self.now()
        until = self.quiet.until(now, self.zone) if self.quiet else None
        return (until - now).total_seconds() if until else 0.0

    def undo_left(self, approved_at: datetime | None) -> float:
        """Return how many seconds an approval can still be undone."""
        if approved_at is None:
            return 0.0
        left = self.undo - (self.now() - approved_at).total_seconds()
        return left if 0 < left <= self.undo else 0.0  # ignore a corrected clock

    async def crowd(self, delivery: Delivery) -> str | None:
        """Return why a message would exceed today's limit; None if it does not."""
        if not self.daily_cap:
            return None
        midnight = self.now().astimezone(self.zone).replace(hour=0, minute=0, second=0)
        count = await self.sent(delivery, midnight.replace(microsecond=0))
        if count < self.daily_cap:
            return None
        return f"{count} messages went there today, and {self.daily_cap} is the limit. "
