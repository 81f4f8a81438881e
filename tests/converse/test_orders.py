"""Orders about what is there: approving, taking back, and words that are no answer."""

from pathlib import Path

import pytest

from remit.model.status import Status
from remit.store import search
from tests.converse.talking import began, say
from tests.intake.heard_world import Talk

SEND = 'Send Bob "Hi" on WhatsApp'


@pytest.mark.parametrize("yes", ["yes, send it", "Approve it!", "ja, schick es ab", "sí, envíalo"])
async def test_the_one_card_of_a_conversation_is_approved_by_closed_words(
    tmp_path: Path, yes: str
) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        nothing = await say(world, talk, yes)
        await say(world, talk, SEND)
        await world.run()
        before = len(world.whatsapp.sent)
        approved = await say(world, talk, yes)
        await world.run()

    assert "Nothing in this conversation waits" in nothing.content
    assert before == 0
    assert approved.content.startswith("Approved.")
    assert [parcel.body for parcel in world.whatsapp.sent] == ["Hi"]


async def test_two_cards_are_not_approved_by_one_word(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        await say(world, talk, SEND)
        await say(world, talk, 'Send Mum "Hello" on WhatsApp')
        await world.run()
        asked = await say(world, talk, "yes, send it")
        await world.run()

    assert "Several messages wait for your approval" in asked.content
    assert world.whatsapp.sent == []


@pytest.mark.parametrize(
    "words",
    ["scratch that", "actually don't", "stop", "never mind", "mach's doch nicht", "déjalo", "nvm"],
)
async def test_words_that_take_back_cancel_what_was_spoken_of_and_make_no_task(
    tmp_path: Path, words: str
) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        first = await say(world, talk, SEND)
        await world.run()
        await say(world, talk, words)
        await world.run()
        (task,) = (await world.house.db.read(search.page, search.Filter())).tasks

    assert first.task_refs[0].task_id == task.id
    assert task.status is Status.CANCELLED
    assert world.whatsapp.sent == []


@pytest.mark.parametrize("words", ["thanks!", "lol", "danke dir", "jajaja"])
async def test_talk_beside_an_open_question_is_no_answer(tmp_path: Path, words: str) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        await say(world, talk, "Remind me in 10 minutes")
        await say(world, talk, words)
        (review,) = await world.asked()

    assert review.decision is None


@pytest.mark.parametrize(
    "no", ["no", "don't send it", "gar nicht", "nobody, it was a joke", "neither", "a nadie"]
)
async def test_a_no_to_a_question_sends_nothing(tmp_path: Path, no: str) -> None:
    async with Talk(tmp_path) as world:
        await world.one('Send Zoltan "Hi" on WhatsApp')
        await world.answer(no)
        await world.run()
        (task,) = (await world.house.db.read(search.page, search.Filter())).tasks

    assert world.whatsapp.sent == []
    assert task.delivery == ()
