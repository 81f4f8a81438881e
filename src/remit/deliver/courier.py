"""Claim, send, write down: at most one accepted send per delivery and human decision.

The claim is on the disk before the first byte leaves. If the process dies between the claim and
the record, nobody can know whether the message arrived; then it is not sent again, it is asked.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from remit.failpoint import failpoint
from remit.model.delivery import (
    Accepted,
    Answer,
    Delivery,
    DeliveryStatus,
    Keeps,
    Parcel,
    Refused,
    Unknown,
)
from remit.ports import Channel, Ledger, Reconciles, Shapes

PATIENCE: Final = 120.0  # seconds a channel may take; then nobody knows, and it is asked


class Courier:
    def __init__(
        self,
        channels: Mapping[str, Channel],
        patience: float = PATIENCE,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self._channels = channels
        self._patience = patience
        self._now = now

    def most(self, deliveries: Iterable[Delivery]) -> int:
        """How long a text may be that goes out on all of these."""
        known = [self._channels[d.channel].most for d in deliveries if d.channel in self._channels]
        return min(known, default=100_000)

    def may_send(self, delivery: Delivery, *, asks_first: bool = False) -> bool:
        """The owner may be written to; anyone else, and whatever asks first, is asked about."""
        return delivery.recipient is None and not asks_first

    def shape(self, delivery: Delivery, text: str) -> str:
        """A text as its reader will see it: what the gate judges and the owner approves."""
        channel: object = self._channels.get(delivery.channel)
        return channel.shape(text) if isinstance(channel, Shapes) else text

    def parts(self, delivery: Delivery, shaped: str) -> tuple[str, ...]:
        """The very messages that a shaped text goes out as."""
        channel: object = self._channels.get(delivery.channel)
        return channel.parts(shaped) if isinstance(channel, Shapes) else (shaped,)

    def waits(self, delivery: Delivery) -> float:
        """How many seconds more news about a doubt are waited for; 0: the owner is asked."""
        channel: object = self._channels.get(delivery.channel)
        if self._now is None or delivery.doubted_at is None:
            return 0
        if not isinstance(channel, Reconciles):
            return 0
        return max(0.0, channel.grace - (self._now() - delivery.doubted_at).total_seconds())

    async def send(self, delivery: Delivery, body: str, ledger: Ledger) -> Answer:
        """Send one delivery, once, and write down what came of it."""
        if delivery.status is DeliveryStatus.SENDING:
            why = "the process ended between the send and its record"
            await ledger.doubt(delivery, why)
            delivery = replace(delivery, status=DeliveryStatus.UNKNOWN, reason=why, body=body)
        if delivery.reported is not None:
            await ledger.clear(delivery, delivery.reported.answer)
            return delivery.reported.answer
        if delivery.status is DeliveryStatus.UNKNOWN:
            return await self._reconciled(delivery, ledger)
        return await self._send(delivery, body, ledger)

    async def _reconciled(self, delivery: Delivery, ledger: Ledger) -> Answer:
        """What became of a send that nobody knows about; it is looked for, never sent again."""
        channel: object = self._channels.get(delivery.channel)
        unknown = Unknown(delivery.reason or "nobody knows")
        if not isinstance(channel, Reconciles):
            return unknown
        parcel = Parcel(str(delivery.id), delivery.recipient, delivery.body or "")
        try:
            async with asyncio.timeout(self._patience):
                found = await channel.find(parcel)
        except Exception:  # noqa: BLE001 - who cannot look has found nothing
            return unknown
        if found is None:
            return unknown
        await ledger.clear(delivery, found)
        return found

    async def _send(self, delivery: Delivery, body: str, ledger: Ledger) -> Answer:
        channel = self._channels.get(delivery.channel)
        if channel is not None and channel.keeps is Keeps.TRANSACTION:
            await ledger.post(delivery, body)
            return Accepted(channel.name)
        attempt = await ledger.claim(delivery, body)
        failpoint("send:claimed")
        answer = await _ask(channel, delivery, body, self._patience)
        failpoint("send:answered")
        await ledger.settle(delivery, attempt, answer)
        return answer


async def _ask(channel: Channel | None, delivery: Delivery, body: str, patience: float) -> Answer:
    if channel is None:
        return Refused(f"there is no channel {delivery.channel!r}")
    limit = asyncio.timeout(patience)
    try:
        async with limit:
            return await channel.send(Parcel(str(delivery.id), delivery.recipient, body))
    except Exception as error:  # noqa: BLE001 - an adapter that breaks leaves a doubt, not a loss
        if limit.expired():
            return Unknown(f"no answer within {patience:.0f} s")
        return Unknown(f"{type(error).__name__}: {error}")
