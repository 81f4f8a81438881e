"""Whether one message may go to one person on one channel, and when: permission and limits."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, tzinfo
from typing import TypeAlias

from msgspec import Struct

from remit.model.delivery import Delivery, SendCap
from remit.model.permit import Permission, QuietHours, Reach, policy_of
from remit.model.reply import Policy
from remit.model.task import Taint
from remit.model.veto import VetoCue
from remit.ports import People


class SendPermission(Struct, frozen=True):
    """Whether a message may go out as it is, and why it never may."""

    policy: Policy
    why: str = ""


def judge(
    reach: Reach,
    channel: str,
    standing: Sequence[Permission],
    *,
    taint: Taint = Taint.OWNER,
    veto: Sequence[VetoCue] = (),
    asks_first: bool = False,
) -> SendPermission:
    """Allow, ask or deny one message to one person on one channel. Pure.

    The owner may be written to without asking. For others the stricter of the contact book and the
    standing permissions counts; without either the owner is asked. A task that has read text from
    others always asks, and so does a message that the request's own words hold back.
    """
    if reach.owner:
        return SendPermission(Policy.ASK if asks_first else Policy.ALLOW)
    policy = policy_of(reach, channel, standing)
    if policy is Policy.DENY:
        why = f"you said that {reach.name} is not written to on {channel}"
        return SendPermission(Policy.DENY, f"{why}; `remit contacts` shows it")
    if taint is not Taint.OWNER:
        return SendPermission(Policy.ASK)
    return SendPermission(Policy.ASK if asks_first or veto else policy)


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

    def cap(self) -> SendCap | None:
        """Return how many messages may go to one place today; None: no limit."""
        midnight = self.now().astimezone(self.zone).replace(hour=0, minute=0, second=0)
        return SendCap(midnight.replace(microsecond=0), self.daily_cap) if self.daily_cap else None

    async def crowd(self, delivery: Delivery) -> str | None:
        """Return why a message would exceed today's limit; None if it does not."""
        if (cap := self.cap()) is None:
            return None
        count = await self.sent(delivery, cap.since)
        if count < cap.most:
            return None
        return f"{count} messages went there today, and {self.daily_cap} is the limit. "
