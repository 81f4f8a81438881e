"""A bad line under the whole app: what it says of a message is what the provider knows of it.

WhatsApp, e-mail and webhook through a line that is slow, drips, breaks off after so many bytes,
or swallows everything. Whatever happens: no message twice, `sent` only if it was accepted, and
tried again only if it was not.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from remit.channels.whatsapp.sending import WhatsAppChannel
from remit.model.status import Reason, Status
from remit.testing import World
from tests.channels.mail import mail
from tests.channels.mail.mail import PostOffice
from tests.channels.webhook.hooks import Receiver
from tests.channels.whatsapp.whatsapp import Provider
from tests.engine.channels_worker import Plan
from tests.live.proxy import Cut, Fault, Proxy
from tests.soak import each_value

pytestmark = each_value

KINDS: Final = ("whatsapp", "email", "webhook")
PATIENCE: Final = 1.0  # seconds with who never answers; who does may take longer

FAULTS: Final = {
    "nothing wrong": Fault(),
    "a slow line": Fault(delay=0.01),
    "a drip": Fault(drip=True),
    "refused at once": Fault(up=0),
    "cut after 10 bytes": Fault(up=10),
    "cut after 100 bytes": Fault(up=100),
    "cut after 500 bytes": Fault(up=500),
    "the answer is cut at its first byte": Fault(down=1),
    "the answer is cut in the middle": Fault(down=60),
    "swallowed from the start": Fault(up=0, how=Cut.SILENCE),
    "swallowed after 100 bytes": Fault(up=100, how=Cut.SILENCE),
    "the answer is swallowed": Fault(down=1, how=Cut.SILENCE),
}
# By the status of the delivery: how many messages the provider may have taken.
TAKEN: Final = {"sent": {1}, "pending": {0}, "refused": {0}, "unknown": {0, 1}}


class Place:
    """A provider of one kind: where it is, and what it took."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._office, self._provider, self._receiver = PostOffice(), Provider(), Receiver()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[int]:
        if self.kind == "email":
            async with self._office as office:
                yield office.port
            return
        async with self._provider if self.kind == "whatsapp" else self._receiver as server:
            yield int(server.root.rpartition(":")[2])

    def taken(self) -> list[str]:
        if self.kind == "email":
            return [str(each.parsed["Message-ID"]) for each in self._office.accepted]
        if self.kind == "whatsapp":
            return [str(each.key) for each in self._provider.accepted]
        return [each.headers["webhook-id"] for each in self._receiver.heard]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", KINDS)
async def test_whatever_the_line_does_the_delivery_says_what_the_provider_knows(
    tmp_path: Path, kind: str, fault: str
) -> None:
    place = Place(kind)
    async with place.open() as port, Proxy(port, FAULTS[fault]) as line:
        patience = PATIENCE if FAULTS[fault].how is Cut.SILENCE else Plan.patience
        channel = Plan(kind, line.port, patience=patience).channel()
        async with World(tmp_path, channels={"line": channel}) as world:
            task = await world.add("Tell", content="Good day.", channel="line")
            await world.run()
            task = await world.get(task.id)
        if isinstance(channel, WhatsAppChannel):
            await channel.close()

    status = task.delivery[0].status
    # A webhook may be told again whatever came of it: its id is the same, and that is its promise.
    may = {0, 1} if (kind, status) == ("webhook", "pending") else TAKEN[status]
    assert len(place.taken()) in may
    assert (task.status is Status.COMPLETED) == (status == "sent")
    assert (task.reason is Reason.AMBIGUOUS) == (status == "unknown")
    if fault in ("nothing wrong", "a slow line", "a drip"):
        assert status == "sent"


async def test_a_server_that_does_not_want_this_recipient_is_not_asked_twice(
    tmp_path: Path,
) -> None:
    async with PostOffice(says={"RCPT": "550 5.1.1 no such person"}) as office:
        channel = Plan("email", office.port).channel()
        async with World(tmp_path, channels={"line": channel}) as world:
            task = await world.add("Tell", content="Good day.", channel="line")
            await world.run()
            task = await world.get(task.id)

    assert (task.status, task.delivery[0].status) == (Status.FAILED, "refused")
    assert "no such person" in str(task.delivery[0].reason)
    assert office.accepted == []
    assert mail.PASSWORD not in str(task.delivery[0].reason)
