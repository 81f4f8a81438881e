"""The whole app with a model over real HTTP: what a vendor's fault does to a task."""

from datetime import timedelta
from itertools import cycle
from pathlib import Path

import pytest

from remit.model.review import ReviewAnswer
from remit.model.status import Reason, Status
from tests.live.faults import FAULTS, GOOD, Comes, Fault
from tests.live.place import Place, opened
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer, End
from tests.soak import one_in

A_MONTH = timedelta(days=30)
ATTEMPTS = 5
PARK = "Lumphini Park, mornings."


@one_in(4)
@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize(
    ("fault", "place"), list(zip(FAULTS.values(), cycle(Place), strict=False)), ids=list(FAULTS)
)
async def test_a_fault_reaches_nobody_and_ends_before_the_owner(
    fault: Fault, place: Place, tmp_path: Path
) -> None:
    limit = fault.time_limit
    async with Vendor() as vendor, opened(tmp_path, vendor, place, time_limit=limit) as world:
        vendor.orders = [fault.order(False)]
        task = await world.add("Find me a park")

        await world.run(A_MONTH)

        ended = await world.get(task.id)
        assert world.outbox.tried == []
        assert len(vendor.heard) <= fault.requests * ATTEMPTS
        if fault.comes is Comes.HELD:
            assert ended.status is Status.NEEDS_REVIEW
            (review,) = await world.waiting()
            assert review.reason is Reason.DELIVERABLE
        else:
            assert ended.status is Status.FAILED


async def test_of_an_answer_that_was_cut_the_owner_sees_all_and_sends_his_own(
    tmp_path: Path,
) -> None:
    async with Vendor() as vendor, opened(tmp_path, vendor, Place.RESPONSES) as world:
        vendor.orders = [Order(Answer(GOOD, End.LIMIT))]
        await world.add("Find me a park")
        await world.run(A_MONTH)
        (review,) = await world.waiting()
        assert review.evidence.startswith("[Held: it was cut off")
        assert PARK in review.evidence

        await world.decide(review, ReviewAnswer.EDIT, "Benjakitti, then.")
        await world.run(A_MONTH)

        assert [parcel.body for parcel in world.outbox.sent] == ["Benjakitti, then."]
