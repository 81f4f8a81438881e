"""Looks for bounces from time to time and records them as delivery reports.

A server may accept a letter and reject it hours later. The delivery stays sent; the owner is
notified that it did not arrive.
"""

from collections.abc import Mapping
from typing import Final

from remit.channels.mail.bounce import BouncedMail
from remit.channels.mail.mailbox import Mailbox, ReturnedMail, SentFolderMark
from remit.model.delivery import DeliveryReport, ProviderReport
from remit.ports import Clock
from remit.store import inbound
from remit.store.database import Database
from remit.store.inbound import InboundMessage
from remit.system.background import Background

LOOP: Final = "returned mail"
PAUSE: Final = 600.0  # seconds between two looks


class BounceWatch:
    """Reads the inboxes of some mail channels, by name."""

    def __init__(
        self,
        boxes: Mapping[str, Mailbox],
        db: Database,
        clock: Clock,
        background: Background,
    ) -> None:
        self._boxes = boxes
        self._db = db
        self._clock = clock
        self._marks: dict[
            str, SentFolderMark
        ] = {}  # how far each was read; a restart reads everything again
        self._background = background

    def start(self) -> None:
        if self._boxes:
            self._background.start(LOOP, self._look_on)

    async def close(self) -> None:
        await self._background.stop(LOOP)

    async def look(self) -> int:
        """Store the bounces since the last look; return how many were new."""
        found = 0
        for name, box in self._boxes.items():
            returned = await box.bounces(self._marks.get(name))
            if not isinstance(returned, ReturnedMail):
                continue  # an unreachable one is asked next time
            came = [_came(name, each) for each in returned.bounces if each.for_good]
            await self._db.write(inbound.take, came, self._clock.now())
            self._marks[name] = returned.mark
            found += len(came)
        return found

    async def _look_on(self) -> None:
        while True:
            await self.look()
            await self._clock.sleep(PAUSE)


def _came(channel: str, bounced: BouncedMail) -> InboundMessage:
    said = ProviderReport(str(bounced.delivery_id), arrived=False, why=bounced.answer.why)
    return InboundMessage(
        ref=f"{channel} report {bounced.delivery_id} failed",
        channel=channel,
        body={"key": str(bounced.delivery_id), "progress": "failed", "why": bounced.answer.why},
        report=DeliveryReport(said, channel, str(bounced.delivery_id)),
    )
