"""Decides whether a message may be sent, claims it, sends it, and records the result.

There is at most one accepted send per delivery and decision. The claim is committed before the
first byte leaves. If the process dies between claim and record, nobody knows whether the message
arrived; then the owner is asked and it is not sent again. One kind of channel gets an unknown
message again without asking: one that recognises it by its key and accepts it once
(`SendGuarantee.KEY`: webhooks, some bridges). Its `find` repeats the send. A yes settles the
delivery; a no concerns only this attempt, and the delivery stays unknown.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.delivery.notice_text import SendLimits
from remit.failpoint import failpoint
from remit.model.delivery import (
    Accepted,
    Answer,
    Delivery,
    DeliveryStatus,
    Parcel,
    Refused,
    SendGuarantee,
    SendRetry,
    Unknown,
)
from remit.model.permit import Permission, Reach, UnclearRecipient, policy_of
from remit.model.reply import Policy
from remit.model.task import Priority, Taint, Task
from remit.model.veto import VetoCue, excludes, holds_until
from remit.ports import (
    AddressedChannel,
    Channel,
    ReconcilingChannel,
    SendLedger,
    ShapingChannel,
    implements,
)
from remit.system.background import LocksByKey


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


MOST_PARTS: Final = 10  # messages that one text may be split into
PATIENCE: Final = 120.0  # seconds a channel may take; after that the result is unknown


class ReadyDelivery(Struct, frozen=True):
    """A text ready to send; `seen`: the owner has seen this exact text, or is its recipient."""

    delivery: Delivery
    reach: Reach
    body: str
    seen: bool = True
    approved_at: datetime | None = None


class DailyLimitReached(Struct, frozen=True):
    """Not sent: it would exceed the owner's daily limit, unless the owner approves it."""

    why: str


class Courier:
    """Claims, sends and records.

    Without limits a recipient is an address, and sends to others always ask.
    """

    def __init__(
        self,
        channels: Mapping[str, Channel],
        patience: float = PATIENCE,
        now: Callable[[], datetime] | None = None,
        bounds: SendLimits | None = None,
    ) -> None:
        self._channels = channels
        self._patience = patience
        self._now = now
        self._bounds = bounds
        # Two checks at once would both find room for one; sends to other places do not wait.
        self._counting: LocksByKey[tuple[str, str | None]] = LocksByKey()

    def reach(self, delivery: Delivery, words: str | None) -> Reach | UnclearRecipient:
        """Return whom some words mean, and the address, by the current contact book."""
        channel: object = self._channels.get(delivery.channel)
        literal = Reach(words or "", words, owner=words is None)
        if self._bounds is None:
            return literal
        found = self._bounds.people.find(words, delivery.channel)
        if isinstance(found, Reach):
            knows = implements(channel, AddressedChannel) and channel.knows_owner
            return replace(found, address=None) if found.owner and knows else found
        if self._stays(delivery):
            return literal
        takes = channel.takes(words or "") if implements(channel, AddressedChannel) else bool(words)
        return literal if found.stranger and takes else found

    async def leave(
        self, task: Task, delivery: Delivery, reach: Reach, *, asks_first: bool = False
    ) -> SendPermission:
        """Return whether a message may be sent without asking the owner."""
        if barred := excludes(task.conditions, reach.name):
            return SendPermission(Policy.DENY, f"you said: {barred.words}")
        # Sends to the owner need no permission, so none is loaded.
        bounds = None if reach.owner else self._bounds
        standing = await bounds.standing(delivery.channel) if bounds else ()
        return judge(
            reach,
            delivery.channel,
            standing,
            taint=task.taint,
            veto=task.veto,
            asks_first=asks_first,
        )

    def put_off(self, task: Task, ready: "ReadyDelivery") -> SendRetry | None:
        """Return why and how long a message waits: a limit, undo or quiet hours; None if not."""
        if self._now and (held := holds_until(task.conditions, self._now())):
            until, words = held
            return SendRetry(
                f"you said: {words}", (until - self._now()).total_seconds(), spends=False
            )
        if self._bounds is None or self._stays(ready.delivery):
            return None
        if asleep := ready.reach.quiet.until(self._bounds.now(), self._bounds.zone):
            left = (asleep - self._bounds.now()).total_seconds()
            return SendRetry(f"{ready.reach.name} gets nothing at this time", left, spends=False)
        urgent = ready.reach.owner and task.priority in (Priority.HIGH, Priority.CRITICAL)
        quiet = 0.0 if urgent else self._bounds.quiet_left()
        undo = self._bounds.undo_left(ready.approved_at)
        why = "the quiet hours" if quiet > undo else "it can be undone still"
        return SendRetry(why, max(quiet, undo), spends=False) if quiet or undo else None

    def _stays(self, delivery: Delivery) -> bool:
        """Whether a message is only stored here and disturbs nobody."""
        channel = self._channels.get(delivery.channel)
        return channel is not None and channel.keeps is SendGuarantee.TRANSACTION

    def most(self, deliveries: Iterable[Delivery]) -> int:
        """Return the longest text that all of these channels accept."""
        known = [self._channels[d.channel] for d in deliveries if d.channel in self._channels]
        return min(map(_most, known), default=100_000)

    def shape(self, delivery: Delivery, text: str) -> str:
        """Return a text as its reader will see it: what the gate judges and the owner approves."""
        channel: object = self._channels.get(delivery.channel)
        return channel.shape(text) if implements(channel, ShapingChannel) else text

    def parts(self, delivery: Delivery, shaped: str) -> tuple[str, ...]:
        """Return the exact messages that a shaped text is sent as."""
        channel: object = self._channels.get(delivery.channel)
        return channel.parts(shaped) if implements(channel, ShapingChannel) else (shaped,)

    def waits(self, delivery: Delivery) -> float:
        """Return how many more seconds to wait for news about an unknown send; 0: ask the owner."""
        channel: object = self._channels.get(delivery.channel)
        if self._now is None or delivery.doubted_at is None:
            return 0
        if not implements(channel, ReconcilingChannel):
            return 0
        left = channel.grace - (self._now() - delivery.doubted_at).total_seconds()
        return left if 0 < left <= channel.grace else 0  # ignore a corrected clock

    async def split(
        self, delivery: Delivery, parts: Sequence[str], ledger: SendLedger, *, seen: bool = True
    ) -> DailyLimitReached | None:
        """Split one delivery into several, if today's limit allows it."""
        if seen or self._bounds is None:
            await ledger.split(delivery, parts)
            return None
        async with self._alone(delivery):
            why = await self._bounds.crowd(delivery)
            if why is None:
                await ledger.split(delivery, parts)
            return DailyLimitReached(why) if why else None

    async def send(
        self, delivery: Delivery, body: str, ledger: SendLedger, *, seen: bool = True
    ) -> Answer | DailyLimitReached:
        """Send one delivery, once, and record the answer.

        `seen`: the owner has seen this exact message; others count towards the daily limit.
        """
        if delivery.in_doubt or delivery.reported is not None:
            return await self.settle(delivery, ledger)
        return await self._send(delivery, body, ledger, seen)

    async def settle(
        self, delivery: Delivery, ledger: SendLedger, *, asks_channel: bool = True
    ) -> Answer:
        """Resolve a send that may be out, from records or the channel; never send it anew.

        Some channels are asked by passing the message again under its key. Without `asks_channel`
        nothing leaves.
        """
        if delivery.status is DeliveryStatus.SENDING:
            why = "the process ended between the send and its record"
            await ledger.doubt(delivery, why)
            delivery = replace(delivery, status=DeliveryStatus.UNKNOWN, reason=why)
        if delivery.reported is not None:
            await ledger.clear(delivery, delivery.reported.answer)
            return delivery.reported.answer
        if asks_channel:
            return await self._reconciled(delivery, ledger)
        return Unknown(delivery.reason or "nobody knows")

    async def _reconciled(self, delivery: Delivery, ledger: SendLedger) -> Answer:
        """Look up an unknown send; never send it anew."""
        channel: object = self._channels.get(delivery.channel)
        unknown = Unknown(delivery.reason or "nobody knows")
        if not implements(channel, ReconcilingChannel):
            return unknown
        sends = await ledger.sends(delivery)
        alone, body = sends.out <= 1, delivery.body or ""
        parcel = Parcel(
            str(delivery.id), delivery.address, body, sends.last, sends.last_at, alone=alone
        )
        try:
            async with asyncio.timeout(self._patience):
                found = await channel.find(parcel)
        except Exception:  # noqa: BLE001 - who cannot look has found nothing
            return unknown
        # If two sends may be out, a no may refer to either; the other may have arrived.
        if found is None or (isinstance(found, Refused) and not alone):
            return unknown
        await ledger.clear(delivery, found)
        return found

    async def _send(
        self, delivery: Delivery, body: str, ledger: SendLedger, seen: bool
    ) -> Answer | DailyLimitReached:
        channel = self._channels.get(delivery.channel)
        if channel is not None and channel.keeps is SendGuarantee.TRANSACTION:
            await ledger.post(delivery, body)
            return Accepted(channel.name)
        if seen or self._bounds is None:
            attempt = await ledger.claim(delivery, body)
        else:
            async with self._alone(delivery):
                if why := await self._bounds.crowd(delivery):
                    return DailyLimitReached(why)
                attempt = await ledger.claim(delivery, body)
        failpoint("send:claimed")
        parcel = Parcel(str(delivery.id), delivery.address, body, attempt)
        answer = await ask(channel, delivery.channel, parcel, self._patience)
        failpoint("send:answered")
        await ledger.settle(delivery, attempt, answer)
        return answer

    def _alone(self, delivery: Delivery) -> asyncio.Lock:
        return self._counting[delivery.channel, delivery.address]


def _most(channel: Channel) -> int:
    """How long a text may be; who sends several messages takes several times as much."""
    most = channel.most
    return most * MOST_PARTS if implements(channel, ShapingChannel) else most


async def ask(channel: Channel | None, name: str, parcel: Parcel, patience: float) -> Answer:
    """Give a channel a parcel, once; an error after that leaves the result unknown."""
    if channel is None:
        return Refused(f"there is no channel {name!r}")
    limit = asyncio.timeout(patience)
    try:
        async with limit:
            return await channel.send(parcel)
    except Exception as error:  # noqa: BLE001 - an adapter that breaks leaves a doubt, not a loss
        if limit.expired():
            return Unknown(f"no answer within {patience:.0f} s")
        return Unknown(f"{type(error).__name__}: {error}")
