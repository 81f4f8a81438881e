"""Times on a clock that is not the owner's."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.intake.heard_world import Talk


@pytest.mark.parametrize(
    ("answer", "hour"), [("Bangkok", 2), ("in Nairobi", 6), ("Asia/Tokyo", 0), ("my time", 8)]
)
async def test_a_clock_nobody_named_is_asked_for_and_holds_for_that_time(
    tmp_path: Path, answer: str, hour: int
) -> None:
    async with Talk(tmp_path) as world:
        await world.one("Remind me tomorrow at 9am local time to check in")
        settled = await world.answer(answer)
        later = await world.say("Remind me tomorrow at 9am to eat", "b")

    assert settled.scheduled_for == datetime(2026, 3, 3, hour, tzinfo=UTC)
    assert later.tasks[0].scheduled_for == datetime(2026, 3, 3, 8, tzinfo=UTC)


async def test_a_time_elsewhere_that_has_passed_keeps_its_clock(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.one("Remind me at 9am Bangkok time to call the hotel")
        settled = await world.answer("tomorrow at 9:00")

    assert settled.scheduled_for == datetime(2026, 3, 3, 2, tzinfo=UTC)
