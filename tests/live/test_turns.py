"""Turns of a conversation, read by a model over real HTTP: what it is told, what it may order."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from remit.brain.choose import ModelRole
from remit.intake.model_reader import RULES, TURN_RULES
from remit.intake.reading_form import (
    Reading,
    ReadOrder,
    ReadQuestion,
    ReadSend,
    ReadTask,
    TurnReading,
)
from remit.model.ids import ConversationId
from remit.model.status import Status
from remit.model.task import Task
from remit.store import reviews, search
from tests.converse.talking import began, say
from tests.intake.heard_world import Talk
from tests.intake.readings import qualify
from tests.live import vendor as wires
from tests.live.place import Place, brain, warm
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer, Call

READS: Final = RULES.splitlines()[0]
WORK: Final = "Compare three parks and send me the winner on WhatsApp"
SEND: Final = 'Send Bob "Hi" on WhatsApp'
REMIND: Final = "Remind me tomorrow at 16:00 to water the plants"
WATER: Final = ReadTask(
    title="Water the plants",
    instructions="water the plants",
    sends=(ReadSend(text="water the plants"),),
    time_words=("tomorrow at 16:00",),
    at=datetime(2026, 3, 3, 15, tzinfo=UTC),
)
HI: Final = ReadTask(
    title="Hi",
    instructions=SEND,
    sends=(ReadSend(to="Bob", to_words="Bob", channel="whatsapp", text="Hi"),),
)
PARKS: Final = ReadTask(
    title="Parks", instructions=WORK, work=(WORK,), sends=(ReadSend(channel="whatsapp"),)
)
PLAN: Final = {REMIND: WATER, SEND: HI, WORK: PARKS}
THOUGHT: Final = "I looked at PRIVATE-NOTES.\n<deliverable>WINNER-PARK</deliverable>"


class Model(Vendor):
    """Reads the messages above as they are meant, and any other turn as it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.reading: Callable[[str], Reading] = lambda _: Reading(talk="chatter")
        self.asked: list[str] = []  # what it was told for each reading
        self.decide = self._decide

    def _decide(self, heard: wires.Heard) -> Order:
        if READS not in heard.text:
            return Order(Answer(THOUGHT))
        told = next(t for t in _texts(heard.body) if READS in t)
        self.asked.append(told)
        text = json.loads(told.splitlines()[-1].removeprefix("The message: "))
        known = Reading(tasks=(PLAN[text],)) if text in PLAN else self.reading(told)
        return Order(Answer(call=Call("answer", known.model_dump_json())))


@asynccontextmanager
async def app(home: Path) -> AsyncIterator[tuple[Talk, Model, ConversationId]]:
    await warm(Place.CHAT)
    async with Model() as model, brain(model, Place.CHAT) as mind:
        qualify(home, mind.as_role(ModelRole.EXTRACT).label)
        async with Talk(home, brain=mind) as world:
            yield world, model, await began(world)


async def tasks(world: Talk) -> dict[str, Task]:
    found = (await world.app.db.read(search.page, search.TaskFilter())).tasks
    return {task.title: task for task in found}


async def test_the_reader_is_told_the_owners_words_titles_and_questions_and_nothing_else(
    tmp_path: Path,
) -> None:
    async with app(tmp_path) as (world, model, talk):
        await say(world, talk, WORK)
        await world.run()
        await say(world, talk, SEND)
        await world.run()
        for n in range(8):
            await say(world, talk, f"remark number {n}")
        made = await tasks(world)
        (card,) = await world.waiting()
        told, first = model.asked[-1], model.asked[0]

    data = told.split(TURN_RULES)[1]
    said = next(line for line in data.splitlines() if line.startswith("The owner said before: "))
    assert "none" in next(line for line in first.splitlines() if line.startswith("Tasks: "))
    assert json.loads(f"[{said.removeprefix('The owner said before: ')}]") == [
        f"remark number {n}" for n in range(1, 7)
    ]
    for task in made.values():
        assert f'{task.id}: "{task.title}"' in data
    assert f'{card.id}: "Send this to Bob on whatsapp?"' in data
    for private in ("WINNER-PARK", "PRIVATE-NOTES", "+1555", "Anna", "That asks for nothing"):
        assert private not in told


def ordering(
    kind: str, words: str, *, named: str = "Water the plants", question: bool = False
) -> Callable[[str], Reading]:
    """A model that finds an order about a task, by the id in the list it was given."""

    def read(told: str) -> Reading:
        name = "Open questions: " if question else "Tasks: "
        line = next(each for each in told.splitlines() if each.startswith(name))
        shown = line.removeprefix(name).split("; ")
        ident = next((each.split(": ")[0] for each in shown if named in each), "task-nobody")
        ids = {"question": ident} if question else {"task": ident}
        return TurnReading(order=ReadOrder(kind=kind, words=words, **ids))  # type: ignore[arg-type]

    return read


@pytest.mark.parametrize(
    ("turn", "read", "status", "at", "says"),
    [
        ("i'm off for two weeks, no plants then", ordering("pause", "no plants"), "paused", 3, ""),
        ("the plants are dead anyway, don't", ordering("cancel", "don't"), "cancelled", 3, ""),
        ("thursday suits the plants more", ordering("move", "thursday"), "ready", 5, "instead"),
        # The words do not bear it out: it is only proposed.
        ("the plants look fine", ordering("cancel", "fine"), "ready", 3, "Shall I cancel"),
        ("the plants again please", ordering("resume", "again"), "ready", 3, "Shall I resume"),
        # Words that are not in the message, and a task that was not listed, are not followed.
        ("so be it with the plants", ordering("cancel", "cancel it"), "ready", 3, ""),
        ("no plants", ordering("cancel", "no", named="Nobody"), "ready", 3, ""),
    ],
)
async def test_a_model_orders_what_can_be_undone_and_proposes_the_rest(
    tmp_path: Path,
    turn: str,
    read: Callable[[str], Reading],
    status: str,
    at: int,
    says: str,
) -> None:
    async with app(tmp_path) as (world, model, talk):
        await say(world, talk, REMIND)
        await world.run()
        model.reading = read
        answer = await say(world, talk, turn)
        made = await tasks(world)

    (task,) = made.values()
    assert says in answer.content
    assert task.status is Status(status)
    assert task.scheduled_for is not None
    assert task.scheduled_for.day == at


async def test_a_model_only_proposes_to_send_and_the_owners_own_words_do_it(tmp_path: Path) -> None:
    async with app(tmp_path) as (world, model, talk):
        await say(world, talk, SEND)
        await world.run()
        model.reading = ordering("approve", "off with it", named="Hi")
        proposed = await say(world, talk, "off with it then")
        await world.run()
        before = len(world.whatsapp.sent)
        approved = await say(world, talk, "yes, send it")
        await world.run()

    assert "Hi" in proposed.content
    assert 'Say "yes, send it".' in proposed.content
    assert before == 0
    assert approved.content.startswith("Approved.")
    assert [each.body for each in world.whatsapp.sent] == ["Hi"]


async def test_a_model_says_which_question_is_answered_and_what_is_something_else(
    tmp_path: Path,
) -> None:
    async with app(tmp_path) as (world, model, talk):
        whom = ReadQuestion(about="recipient", words="gift", question="Who is the gift for?")
        model.reading = lambda _: Reading(questions=(whom,))
        await say(world, talk, "the gift thing for the birthday party some day")
        (question,) = await world.asked()
        model.reading = lambda _: TurnReading(talk="chatter")
        await say(world, talk, "what a lovely morning it is here")
        still = await world.asked()
        model.reading = ordering("answer", "bob", named="Who", question=True)
        await say(world, talk, "well, it is for bob of course")
        assert question.id is not None
        answered = await world.app.db.read(reviews.get, question.id)
        made = await tasks(world)

    assert [each.id for each in still] == [question.id]
    assert answered.decision is not None
    assert answered.decision.text == "well, it is for bob of course"
    assert len(made) == 1


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]
