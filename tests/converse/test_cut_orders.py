"""A process that dies between an order's deed and its answer: done once, and answered truly."""

from datetime import timedelta
from pathlib import Path

import pytest

from remit.errors import StoreTrouble
from remit.model.conversation import Turn
from remit.model.ids import ConversationId
from remit.model.status import Status
from remit.store import search
from remit.testing import World
from tests.converse.talking import began, say, turns, world

DAILY = "Every day at 9 research the weather in Bangkok"
ONCE = "Remind me tomorrow at 9:30 to water the plants"
WEATHER, PLANTS = "“Research the weather in Bangkok”", "“Water the plants”"
SAME = None
# What was said before; the order whose answer is cut; and the answer, unless it is the same.
ORDERS = [
    ((DAILY,), "run it now", SAME),
    ((DAILY,), "do it again", SAME),
    ((DAILY,), "skip the next one", SAME),
    ((DAILY, "skip the next one"), "undo", SAME),
    ((DAILY,), "pause it", f"{WEATHER} is paused."),
    ((DAILY, "pause it"), "resume it", f"{WEATHER}: planned for tomorrow 09:00."),
    ((DAILY, "pause it"), "undo", f"{WEATHER}: planned for tomorrow 09:00."),
    ((DAILY,), "cancel it", f"{WEATHER} is cancelled."),
    ((ONCE,), "pause it", SAME),
    ((ONCE, "pause it"), "undo", f"{PLANTS}: planned for tomorrow 09:30."),
    ((ONCE, "pause it", "please resume it"), "undo", f"{PLANTS}: paused."),
    ((ONCE,), "cancel it", SAME),
    ((ONCE, "cancel it"), "undo", SAME),
    ((ONCE,), "no, at 10", f"{PLANTS} now runs tomorrow 10:00."),
    ((ONCE, "no, at 10"), "undo", SAME),
    ((ONCE,), "run it now", f"{PLANTS} is completed."),
]


def _cut(*_: object) -> None:
    raise StoreTrouble("The disk is full.")


@pytest.mark.parametrize(("before", "order", "after"), ORDERS)
async def test_an_order_whose_answer_was_cut_is_done_once_and_answered_truly(
    before: tuple[str, ...],
    order: str,
    after: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world(tmp_path / "whole") as app:
        talk = await _said(app, before)
        expected = (await say(app, talk, order)).content
        await app.run()
        made = await _statuses(app)

    async with world(tmp_path / "cut") as app:
        talk = await _said(app, before)
        with monkeypatch.context() as power:
            power.setattr("remit.store.conversations.answer", _cut)
            turn = await app.app.talk.say(talk, order)
            assert await app.app.talk.answered(turn, 5) is None
        await app.restart(after=timedelta(minutes=2))
        await app.run()

        assert await _statuses(app) == made
        assert _answer(await turns(app, talk), turn) == (after or expected)


async def _said(app: World, before: tuple[str, ...]) -> ConversationId:
    talk = await began(app)
    for text in before:
        await say(app, talk, text)
    return talk


async def _statuses(app: World) -> list[Status]:
    page = await app.app.db.read(search.page, search.TaskFilter(limit=100))
    return sorted(task.status for task in page.tasks)


def _answer(found: list[Turn], turn: Turn) -> str:
    (answer,) = [each.content for each in found if each.answers == turn.n]
    return answer
