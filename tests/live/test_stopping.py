"""A thought that is not wanted any more stops where it costs: at the vendor."""

import asyncio
import contextlib

import pytest

from remit.errors import Transient
from remit.model.reply import Prompt
from tests.live.faults import GOOD
from tests.live.place import Place, brain, say, warm
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer
from tests.soak import each_value

pytestmark = each_value

PLACES = pytest.mark.parametrize("place", Place)
SOON = 100  # the first thought of a process loads the vendors' libraries


@PLACES
async def test_a_cancelled_thought_hangs_up_before_the_first_word(place: Place) -> None:
    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(Answer(GOOD), wait=300)]
        thought = asyncio.create_task(mind.think(Prompt("Hi"), session="s"))
        await asyncio.wait_for(vendor.until(1), SOON)

        thought.cancel()
        with pytest.raises(asyncio.CancelledError):
            await thought

        await asyncio.wait_for(vendor.heard[0].left.wait(), SOON)
        assert len(vendor.heard) == 1


@PLACES
async def test_a_cancelled_thought_hangs_up_in_the_middle_of_a_word(place: Place) -> None:
    began = asyncio.Event()

    async def hear(_: str) -> None:
        began.set()

    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(Answer(GOOD * 100), pace=0.3)]
        thought = asyncio.create_task(say(mind, Prompt("Hi"), hear))
        await asyncio.wait_for(began.wait(), SOON)

        thought.cancel()
        with pytest.raises(asyncio.CancelledError):
            await thought

        await asyncio.wait_for(vendor.heard[0].left.wait(), SOON)


@PLACES
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
async def test_a_thought_that_takes_too_long_is_hung_up_on(place: Place, *, streams: bool) -> None:
    async def hear(_: str) -> None:
        pass

    await warm(place)
    async with Vendor() as vendor, brain(vendor, place, time_limit=3) as mind:
        # Alive, and for ever at it: no pause between two pieces is long.
        vendor.orders = [
            Order(Answer(GOOD * 2000), pace=0.2, wait=0 if streams else 300),
        ]

        with pytest.raises(Transient, match="too long"):
            await say(mind, Prompt("Hi"), hear if streams else None)

        await asyncio.wait_for(vendor.heard[0].left.wait(), SOON)
        assert len(vendor.heard) == 1


@PLACES
async def test_the_line_is_good_after_a_hang_up(place: Place) -> None:
    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(wait=300), Order(Answer(GOOD))]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await mind.think(Prompt("Hi"), session="s")
        vendor.orders = [Order(Answer(GOOD))]

        assert (await mind.think(Prompt("Hi"), session="s")).text == GOOD


@PLACES
async def test_a_hundred_sessions_speak_at_once_and_none_hears_another(place: Place) -> None:
    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.decide = lambda heard: Order(
            Answer(next(word for word in heard.text.split() if word.startswith("name-"))),
            wait=0.2,
        )

        async with asyncio.timeout(100):
            replies = await asyncio.gather(
                *(mind.think(Prompt(f"I am name-{n} indeed"), session=f"s-{n}") for n in range(100))
            )

    assert [reply.text for reply in replies] == [f"name-{n}" for n in range(100)]
    assert len(vendor.heard) == 100
