"""What is said right after an order, or while a question is open about something else."""

from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from remit.model.reply import Policy
from tests.converse.second_turns import reached, state, world
from tests.converse.talking import began, say

ORDERS: Final = {
    "en": "text may: on my way",
    "de": "schreib may: bin gleich da",
    "es": "dile a may: ya estoy abajo",
}
STOPS: Final = {
    "en": ("stop", "halt", "wait", "hold on", "no stop", "nvm"),
    "de": ("stopp", "halt", "warte", "moment mal", "doch nicht"),
    "es": ("para", "espera", "un momento", "déjalo"),
}
LATER: Final = timedelta(minutes=2)


@pytest.mark.parametrize("language", STOPS)
async def test_an_allowed_text_can_be_stopped_until_its_first_byte(
    tmp_path: Path, language: str
) -> None:
    for stop in STOPS[language]:
        (home := tmp_path / stop).mkdir()
        async with world(home, Policy.ALLOW) as app:
            talk = await began(app)
            await say(app, talk, ORDERS[language])
            await app.run()
            await say(app, talk, stop)
            await app.run(LATER)
            assert reached(app) == [], stop


async def test_what_nobody_stops_goes_out_after_the_pause(tmp_path: Path) -> None:
    async with world(tmp_path, Policy.ALLOW) as app:
        talk = await began(app)
        await say(app, talk, ORDERS["en"])
        await app.run(LATER)
        sent = reached(app)
        late = await say(app, talk, "stop")

    assert len(sent) == 1
    assert late.content.startswith("Too late: “On my way” went out")
    assert "whatsapp to May Chen. It cannot be taken back." in late.content


WHILE_OPEN: Final = {
    "en": ("text tom the keys are here", ("whats the weather like", "i had pasta for lunch")),
    "de": ("schreib tom die schlüssel sind hier", ("wie spät ist es in tokio", "mir ist so kalt")),
    "es": ("dile a tom que ya voy", ("qué tiempo hace hoy", "hoy comí mucha pasta")),
}


@pytest.mark.parametrize("language", WHILE_OPEN)
async def test_what_answers_no_question_is_a_turn_of_its_own(tmp_path: Path, language: str) -> None:
    order, others = WHILE_OPEN[language]
    async with world(tmp_path, Policy.ASK) as app:
        talk = await began(app)
        await say(app, talk, order)
        (asked,) = (await state(app)).open
        for other in others:
            answer = (await say(app, talk, other)).content
            assert (await state(app)).open == {asked}, other
            still = {"en": "Still open:", "de": "Noch offen:", "es": "Sigue abierto:"}
            assert still[language] in answer, answer
        await say(app, talk, "Tom Stone")
        after = await state(app)

    (task,) = after.tasks.values()
    assert [each.recipient for each in task.delivery] == ["Tom Stone"]
    assert asked not in after.open


async def test_what_an_answer_completes_is_shown_before_it_goes(tmp_path: Path) -> None:
    async with world(tmp_path, Policy.ALLOW) as app:
        talk = await began(app)
        await say(app, talk, "text tom the keys are here")
        answer = await say(app, talk, "Tom Stone")
        await app.run(LATER)

    assert "Your answer made this message complete. Send this to Tom Stone" in answer.content
    assert reached(app) == []


async def test_a_bare_yes_shows_the_card_and_the_words_that_approve_it(tmp_path: Path) -> None:
    async with world(tmp_path, Policy.ASK) as app:
        talk = await began(app)
        await say(app, talk, ORDERS["en"])
        await app.run()
        waits = await say(app, talk, "wait")
        answer = await say(app, talk, "yes")
        await app.run(LATER)

    assert waits.content == "“On my way” waits for your answer; nothing happens before it."
    assert answer.content.startswith("Send this to May Chen")
    assert answer.content.endswith('Say "yes, send it".')
    assert reached(app) == []
