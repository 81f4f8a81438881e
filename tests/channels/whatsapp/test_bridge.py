"""WhatsApp by a bridge: what the answer says is what the bridge did."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import pytest
from msgspec.structs import replace

from remit.channels.whatsapp import BridgeLink
from remit.channels.whatsapp.bridge import BridgeChannel
from remit.errors import BadInput
from remit.model.delivery import Accepted, Parcel, Refused, SendRetry, Unknown
from remit.testing import FrozenClock
from tests.channels.whatsapp.whatsapp import TOKEN, BridgeProvider, Cut, Order
from tests.tables import for_each

HIDDEN: Final = "41433650172129@lid"
PARCEL: Final = Parcel("dlv-01JZ", HIDDEN, "Lumphini Park, mornings.")


@dataclass
class Desk:
    token: str = TOKEN
    owner: str = ""
    clock: FrozenClock = field(default_factory=FrozenClock)


@asynccontextmanager
async def bridged(
    provider: BridgeProvider, desk: Desk | None = None
) -> AsyncIterator[BridgeChannel]:
    desk = desk or Desk()
    link = BridgeLink(url=provider.root, owner=desk.owner, knows_ids=provider.knows_ids)
    made = BridgeChannel(link, lambda: desk.token, desk.clock)
    try:
        yield made
    finally:
        await made.close()


async def test_a_bridge_is_told_to_whom_what_and_under_which_id() -> None:
    async with BridgeProvider() as provider, bridged(provider) as bridge:
        await bridge.send(PARCEL)

        assert provider.heard[0].path == "/messages"
        assert provider.heard[0].headers["authorization"] == f"Bearer {TOKEN}"
        assert provider.heard[0].fields == {"to": HIDDEN, "text": PARCEL.body, "id": "dlv-01JZ"}


async def test_who_is_no_person_is_refused_before_a_byte_leaves() -> None:
    nobody = ("120363012345678901@g.us", "41433650172129@lid\r\n", "status@broadcast", None)
    async with BridgeProvider() as provider, bridged(provider) as bridge:
        for address in nobody:
            answer = await bridge.send(replace(PARCEL, recipient=address))
            assert isinstance(answer, Refused), address
        assert provider.heard == []


async def test_a_bridge_on_this_machine_needs_no_token() -> None:
    async with BridgeProvider() as provider, bridged(provider, Desk(token="")) as bridge:
        assert isinstance(await bridge.send(PARCEL), Accepted)
        assert "authorization" not in provider.heard[0].headers


async def test_a_linked_device_writes_at_most_once_a_second() -> None:
    desk = Desk(owner=HIDDEN)
    async with BridgeProvider() as provider, bridged(provider, desk) as bridge:
        assert isinstance(await bridge.send(replace(PARCEL, recipient=None)), Accepted)

        other = await bridge.send(replace(PARCEL, recipient="972501234567"))
        assert other == SendRetry(
            "It is too soon for the next message by the bridge.", 1.0, spends=False
        )
        assert len(provider.heard) == 1


@for_each(
    "url",
    ["ftp://bridge", "http://a:b@bridge", "http://bridge/", "http://bridge?x", "http://b\r\n"],
)
def test_an_address_of_a_bridge_that_cannot_be_is_refused_in_a_sentence(url: str) -> None:
    with pytest.raises(BadInput):
        BridgeChannel(BridgeLink(url=url), str, FrozenClock())


async def test_only_a_bridge_that_knows_ids_is_given_a_doubtful_message_again() -> None:
    for knows_ids, found in ((True, Accepted("3EB000000000")), (False, None)):
        async with BridgeProvider(knows_ids=knows_ids) as provider, bridged(provider) as bridge:
            provider.orders = [Order(cut=Cut.BEFORE_ANSWER, accept=True), Order()]
            assert isinstance(await bridge.send(PARCEL), Unknown)

            assert await bridge.find(PARCEL) == found
            assert bridge.grace == (60 if knows_ids else 0)
            assert (len(provider.accepted), len(provider.heard)) == (1, 1 + knows_ids)
