"""Claim, send, write down: at most one accepted send per delivery and human decision.

The claim is on the disk before the first byte leaves. If the process dies between the claim and
the record, nobody can know whether the message arrived; then it is not sent again, it is asked.
"""

import asyncio
from collections.abc import Iterable, Mapping
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
from remit.ports import Channel, Ledger

PATIENCE: Final = 120.0  # seconds a channel may take; then nobody knows, and it is asked


class Courier:
    def __init__(self, channels: Mapping[str, Channel], patience: float = PATIENCE) -> None:
        self._channels = channels
        self._patience = patience

    def most(self, deliveries: Iterable[Delivery]) -> int:
        """How long a text may be that goes out on all of these."""
        known = [self._channels[d.channel].most for d in deliveries if d.channel in self._channels]
        return min(known, default=100_000)

    def may_send(self, delivery: Delivery, *, asks_first: bool = False) -> bool:
        """The owner may be written to; anyone else, and whatever asks first, is asked about."""
        return delivery.recipient is None and not asks_first

    async def send(self, delivery: Delivery, body: str, ledger: Ledger) -> Answer:
        """Send one delivery, once, and write down what came of it."""
        match delivery.status:
            case DeliveryStatus.SENDING:
                why = "the process ended between the send and its record"
                await ledger.doubt(delivery, why)
                return Unknown(why)
            case DeliveryStatus.UNKNOWN:
                return Unknown(delivery.reason or "nobody knows")
            case _:
                return await self._send(delivery, body, ledger)

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
