"""A series with a model over real HTTP: what the next request holds of the runs before it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from remit.model.recurrence import Repeats
from remit.testing import START, World
from remit.triggers import cue_admission
from tests.live.place import Place, opened
from tests.live.vendor import Heard, Order, Vendor
from tests.live.wire import Answer
from tests.soak import one_of

pytestmark = one_of("place")

DAY: Final = timedelta(days=1)
ASKED: Final = "You keep the memory of work"  # how a request for a summary begins
MEMORY: Final = "It rained on six days and was dry on one."


class Weather(Vendor):
    """Says another thing every day, and sums up as it is told."""

    def __init__(self, summary: Order) -> None:
        super().__init__()
        self.summary = summary
        self.days: list[Heard] = []
        self.sums: list[Heard] = []
        self.decide = self._decide

    def _decide(self, heard: Heard) -> Order:
        if ASKED in heard.text:
            self.sums.append(heard)
            return self.summary
        self.days.append(heard)
        day = len(self.days)
        return Order(Answer(f"I looked out.\n<deliverable>Weather of day {day}.</deliverable>"))


@asynccontextmanager
async def _watched(home: Path, vendor: Vendor, place: Place, days: int) -> AsyncIterator[World]:
    async with opened(home, vendor, place) as world:
        cue = cue_admission.cue("How is the weather?", ref="weather", channel="outbox")
        repeats = Repeats("FREQ=DAILY", "UTC", START + timedelta(hours=1))
        await world.app.intake.admit(replace(cue, repeats=repeats))
        for _ in range(days):
            await world.run(DAY)
        yield world


@pytest.mark.slow
@pytest.mark.parametrize("place", Place)
async def test_the_next_request_holds_the_last_runs_whole_and_the_older_ones_in_few_words(
    place: Place, tmp_path: Path
) -> None:
    async with (
        Weather(Order(Answer(MEMORY))) as vendor,
        _watched(tmp_path, vendor, place, 12) as world,
    ):
        assert [parcel.body for parcel in world.outbox.sent] == [
            f"Weather of day {n}." for n in range(1, 13)
        ]

    tenth, eleventh, twelfth = vendor.days[9:12]
    assert all(f"of day {n}.</deliverable>" in tenth.text for n in range(1, 10))
    assert (len(vendor.sums), len(vendor.days)) == (1, 12)
    (asked,) = vendor.sums
    assert all(f"| Weather of day {n}." in asked.text for n in range(1, 8))
    assert "day 8" not in asked.text
    for heard, whole in ((eleventh, (8, 9, 10)), (twelfth, (8, 9, 10, 11))):
        assert heard.text.count(MEMORY) == 1, "told anew each time, and handed on by none"
        said = [n for n in range(1, 12) if f"of day {n}.</deliverable>" in heard.text]
        assert said == list(whole)
        assert heard.text.count("2026-03-02: Weather of day 1.") == 1


@pytest.mark.slow
@pytest.mark.usefixtures("hurry")
async def test_a_vendor_that_does_not_sum_up_keeps_nobody_waiting(tmp_path: Path) -> None:
    refusal = Order(status=400, kind="invalid_request_error")
    async with (
        Weather(refusal) as vendor,
        _watched(tmp_path, vendor, Place.ANTHROPIC, 12) as world,
    ):
        assert len(world.outbox.sent) == 12

    assert len(vendor.sums) == 2, "asked again at the next run"
    assert "2026-03-02: How is the weather?: Weather of day 1." in vendor.days[11].text
    assert (
        len([n for n in range(1, 12) if f"of day {n}.</deliverable>" in vendor.days[11].text]) == 3
    )
