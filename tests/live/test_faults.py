"""Thirteen faults, four places, streamed or not: what is not valid never gets out."""

import time

import pytest

from remit import gate
from remit.brain.progress import KEPT_CHARS, MAX_ANSWER_CHARS
from remit.errors import Permanent, Transient
from remit.model.reply import Deliverable, Prompt, Reply
from tests.live.faults import FAULTS, GOOD, Comes, Fault
from tests.live.place import Place, brain, say, warm
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer
from tests.soak import each_value

pytestmark = each_value

MOST = 4096
STREAMED = pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])


async def _nowhere(_: str) -> None:
    pass


async def _outcome(vendor: Vendor, place: Place, *, streams: bool, limit: int) -> Reply | Transient:
    async with brain(vendor, place, time_limit=limit) as mind:
        try:
            return await say(mind, Prompt("Parks?"), _nowhere if streams else None)
        except Transient as later:
            return later


@pytest.mark.usefixtures("hurry")
@STREAMED
@pytest.mark.parametrize("place", Place)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_no_fault_of_a_vendor_becomes_a_deliverable(
    fault: Fault, place: Place, *, streams: bool
) -> None:
    await warm(place)
    async with Vendor() as vendor:
        vendor.orders = [fault.order(streams)]

        outcome = await _outcome(vendor, place, streams=streams, limit=fault.time_limit)

        assert 1 <= len(vendor.heard) <= fault.requests
        assert all(heard.streams is streams for heard in vendor.heard)
    if fault.comes is Comes.RETRY:
        assert isinstance(outcome, Transient)
        assert outcome.after == fault.after
    else:
        assert isinstance(outcome, Reply)
        assert outcome.text
        assert not isinstance(gate.judge(outcome, most=MOST), Deliverable)


@pytest.mark.usefixtures("hurry")
@STREAMED
@pytest.mark.parametrize("place", Place)
@pytest.mark.parametrize("status", [429, 500, 529])
async def test_what_passes_is_healed_by_the_sdk(
    status: int, place: Place, *, streams: bool
) -> None:
    async with Vendor() as vendor:
        vendor.orders = [Order(status=status), Order(status=status), Order(Answer(GOOD))]

        outcome = await _outcome(vendor, place, streams=streams, limit=100)

        assert len(vendor.heard) == 3
    assert isinstance(outcome, Reply)
    assert gate.judge(outcome, most=MOST) == Deliverable("Lumphini Park, mornings.")


@pytest.mark.parametrize("place", Place)
async def test_a_short_retry_after_is_waited_for(place: Place) -> None:
    async with Vendor() as vendor:
        vendor.orders = [Order(status=429, headers={"retry-after": "1"}), Order(Answer(GOOD))]
        started = time.monotonic()

        outcome = await _outcome(vendor, place, streams=False, limit=100)

    assert isinstance(outcome, Reply)
    assert time.monotonic() - started >= 1
    assert len(vendor.heard) == 2


@pytest.mark.parametrize("place", Place)
@pytest.mark.parametrize("asked", ["86400", "Wed, 21 Oct 2099 07:28:00 GMT"])
async def test_a_long_retry_after_is_left_to_the_engine_and_bounded(
    asked: str, place: Place
) -> None:
    async with Vendor() as vendor:
        vendor.orders = [Order(status=503, headers={"retry-after": asked})]

        outcome = await _outcome(vendor, place, streams=False, limit=100)

    assert isinstance(outcome, Transient)
    assert outcome.after == 3600
    assert len(vendor.heard) == 1


@pytest.mark.usefixtures("hurry")
@STREAMED
@pytest.mark.parametrize("place", Place)
async def test_an_answer_that_does_not_end_is_broken_off_and_held(
    place: Place, *, streams: bool
) -> None:
    await warm(place)
    told = 0

    async def hear(piece: str) -> None:
        nonlocal told
        told += len(piece)

    async with Vendor() as vendor:
        vendor.orders = [Order(Answer("- one, two and three\n" * 200_000 + GOOD))]
        async with brain(vendor, place) as mind:
            reply = await say(mind, Prompt("Parks?"), hear if streams else None)

    assert reply.flaw is not None
    assert "longer than 1,000,000 characters" in reply.flaw
    assert len(reply.text) < KEPT_CHARS + 500
    assert (reply.state, told <= MAX_ANSWER_CHARS) == ("", True)
    assert not isinstance(gate.judge(reply, most=MOST), Deliverable)


@pytest.mark.usefixtures("hurry")
@STREAMED
async def test_a_body_without_end_is_not_read_to_its_end(*, streams: bool) -> None:
    await warm(Place.CHAT)
    async with Vendor() as vendor:
        from remit.brain.vendors import MAX_BODY_BYTES  # noqa: PLC0415 - takes a second

        vendor.orders = [Order(body=b"data: " + b"x" * MAX_BODY_BYTES)]
        async with brain(vendor, Place.CHAT) as mind:
            with pytest.raises(Permanent, match="more than 32,000,000 bytes for one answer"):
                await say(mind, Prompt("Parks?"), _nowhere if streams else None)
