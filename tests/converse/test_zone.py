"""Where somebody says to be is no order: a zone holds for the time it is said with, or is asked."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from remit.model.ids import ConversationId
from remit.testing import World
from tests.converse.talking import began, ids, say, world

NINE_IN_BERLIN = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)
NINE_IN_TOKYO = datetime(2026, 3, 3, 0, 0, tzinfo=UTC)


async def planned(app: World, talk: ConversationId, text: str) -> datetime | None:
    (task_id,) = ids(await say(app, talk, text))
    return (await app.get(task_id)).scheduled_for


@pytest.mark.parametrize(
    "words",
    [
        "I am in Tokyo now",
        "Ich bin jetzt in Tokio",
        "My time zone is Asia/Tokyo",
        "Set my time zone to Asia/Tokyo",
        "Change my zone to Tokyo time",
    ],
)
async def test_nothing_that_is_said_sets_the_owners_zone(tmp_path: Path, words: str) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, words)
        await app.run()

        assert await planned(app, talk, "Remind me tomorrow at 9 to call mom") == NINE_IN_BERLIN
        assert app.app.zone.key == "Europe/Berlin"
        await app.restart()
        assert await planned(app, talk, "Remind me tomorrow at 9 to call dad") == NINE_IN_BERLIN


async def test_a_zone_that_is_named_with_a_time_holds_for_that_time_alone(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)

        there = await planned(app, talk, "Remind me tomorrow at 9 Tokyo time to call mom")
        assert there == NINE_IN_TOKYO
        assert await planned(app, talk, "Remind me tomorrow at 9 to call dad") == NINE_IN_BERLIN


@pytest.mark.parametrize("clock", ["local time", "Springfield time"])
async def test_a_zone_that_is_unclear_is_asked_about_and_the_answer_holds_for_it_alone(
    tmp_path: Path, clock: str
) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        asked = await say(app, talk, f"Remind me tomorrow at 9 {clock} to call mom")
        assert "Which zone is meant" in asked.content
        await say(app, talk, "Tokyo")

        assert (await app.get(ids(asked)[0])).scheduled_for == NINE_IN_TOKYO
        assert await planned(app, talk, "Remind me tomorrow at 9 to call dad") == NINE_IN_BERLIN
