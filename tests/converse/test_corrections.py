"""A correction that names a part of the day: the hour is changed with it, or asked for."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.converse.talking import began, ids, say, world
from tests.converse.test_talk import every


@pytest.mark.parametrize(
    ("first", "then", "at"),
    [
        ("No wait, Friday morning", "9", datetime(2026, 3, 6, 8, tzinfo=UTC)),
        ("make it Friday morning", "at 9:30", datetime(2026, 3, 6, 8, 30, tzinfo=UTC)),
        ("make it tomorrow morning", "8", datetime(2026, 3, 3, 7, tzinfo=UTC)),
        ("lieber Freitag morgens", "um 9", datetime(2026, 3, 6, 8, tzinfo=UTC)),
    ],
)
async def test_friday_morning_asks_for_the_hour_and_keeps_the_day(
    tmp_path: Path, first: str, then: str, at: datetime
) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        made = await say(app, talk, "Remind me tomorrow at 4pm to call mom")
        before = (await app.get(ids(made)[0])).scheduled_for
        asked = await say(app, talk, first)

        assert asked.content.count("?") == 1
        assert (await app.get(ids(made)[0])).scheduled_for == before
        await say(app, talk, then)
        assert (await app.get(ids(made)[0])).scheduled_for == at
        assert await every(app) == 1


async def test_a_time_may_be_made_clear_in_three_steps(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        made = await say(app, talk, "Remind me tomorrow at 9am to call mom")
        for text in ("make it 5", "Friday", "in the afternoon"):
            await say(app, talk, text)

        at = datetime(2026, 3, 6, 16, tzinfo=UTC)
        assert (await app.get(ids(made)[0])).scheduled_for == at
        assert await every(app) == 1


@pytest.mark.parametrize("text", ["make it Friday afternoon", "No, Friday at 4pm"])
async def test_an_hour_that_lies_in_that_part_of_the_day_stays(tmp_path: Path, text: str) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        made = await say(app, talk, "Remind me tomorrow at 4pm to call mom")
        await say(app, talk, text)

        at = datetime(2026, 3, 6, 15, tzinfo=UTC)
        assert (await app.get(ids(made)[0])).scheduled_for == at


@pytest.mark.parametrize("text", ["make it 5", "no wait, at 5", "lieber um 5", "mejor a las 5"])
async def test_another_hour_of_what_runs_in_the_afternoon_is_in_the_afternoon(
    tmp_path: Path, text: str
) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        made = await say(app, talk, "Remind me tomorrow at 4pm to call mom")
        await say(app, talk, text)

        at = datetime(2026, 3, 3, 16, tzinfo=UTC)
        assert (await app.get(ids(made)[0])).scheduled_for == at
