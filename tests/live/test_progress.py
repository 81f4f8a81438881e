"""Progress over real HTTP: what a model says is in the journal before it has ended."""

from datetime import timedelta
from pathlib import Path

import pytest

from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.model.run import EventKind
from remit.model.status import Status
from remit.testing import World
from tests.live.place import Place, brain
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer
from tests.soak import one_of

pytestmark = one_of("place")

STEPS = ("Look at the parks", "Choose one")
ALOUD = (
    "I look at the map.\n✓ STEP 1: looked at the parks\nThere are many of them, "
    "and some are far away.\n✓ STEP 2: chose\n<deliverable>Lumphini Park, mornings.</deliverable>"
)


async def said(world: World, task_id: TaskId) -> list[JsonMap]:
    return [e.data for e in await world.history(task_id) if e.kind is EventKind.RUN_SAID]


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize("place", list(Place))
async def test_of_a_stream_that_breaks_the_owner_sees_how_far_it_came(
    place: Place, tmp_path: Path
) -> None:
    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(Answer(ALOUD), reset_after=4), Order(Answer(ALOUD))]
        async with World(tmp_path, brain=mind) as world:
            task = await world.add("Find me a park", work=STEPS)
            await world.run(timedelta(days=1))
            ended = await world.get(task.id)
            heard = await said(world, task.id)

        assert heard[0]["done"] == [1]
        assert ended.status is Status.COMPLETED
        assert [parcel.body for parcel in world.outbox.sent] == ["Lumphini Park, mornings."]
