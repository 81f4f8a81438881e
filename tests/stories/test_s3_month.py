"""S3: thirty days of one series, through the real path, with restarts: it goes on where it was."""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from remit.model.ids import TaskId
from remit.model.recurrence import Slot, SlotFate
from remit.model.reply import Prompt, Reply
from remit.model.review import ReviewAnswer
from remit.model.status import Status
from remit.model.task import Task
from remit.settings import DeliverSettings, Settings
from remit.store import conversations, search, series_orders
from remit.store.search import TaskFilter
from remit.testing import START, World

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
ZONE: Final = "Europe/Berlin"
WANTED: Final = (
    "Every day at 8:30 research three more Thai words and send them to me on the dashboard."
)
SHORTER: Final = "Leave out the pictures, words only."


@dataclass
class Teacher:
    """A brain that goes on from what it is told of the days before, and from nothing else."""

    told: list[Prompt] = field(default_factory=list)
    unsure: bool = False

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        self.told.append(prompt)
        before = "\n".join((prompt.whole, *prompt.earlier))
        lesson = 1 + max((n for n in range(1, 40) if f"Lesson {n}:" in before), default=0)
        style = "words" if SHORTER in before else "words and pictures"
        text = f"Lesson {lesson}: three {style}."
        if self.unsure and SHORTER not in before:
            return Reply(f"Here is what I have, I think: {text}")
        return Reply(
            f"I looked at what was.\n<deliverable>{text}</deliverable>",
            state=json.dumps({"session": session, "said": text}),
        )


def lessons(ran: list[Task]) -> list[str]:
    return [str(task.delivery[0].body) for task in ran]


async def done(world: World) -> list[Task]:
    page = await world.app.db.read(search.page, TaskFilter(limit=500))
    ended = [task for task in page.tasks if task.status is Status.COMPLETED]
    return sorted(ended, key=lambda task: task.completed_at or START)


async def test_thirty_days_go_on_where_they_left_off_whatever_happens_in_between(
    tmp_path: Path,
) -> None:
    brain = Teacher()
    home = Settings(home=tmp_path, zone=ZONE, deliver=DeliverSettings(undo=0))
    async with World(tmp_path, brain=brain, settings=home) as world:
        (first,) = (await world.hear(WANTED)).tasks
        assert first.series_id is not None
        await _lived(world, brain, first)
        ran = await done(world)
        slots = await world.app.db.read(
            series_orders.slots_of_series, first.series_id, START, world.now
        )
        talks = await world.app.db.read(conversations.find_by_title, "Scheduled Events")
        turns = await world.app.db.read(conversations.turns, talks.id) if talks else []

    _check_slots(slots)
    said = lessons(ran)
    # Each lesson once, none left out: each day goes on where the last one was.
    assert [text.split(":")[0] for text in said] == [f"Lesson {n + 1}" for n in range(len(said))]
    assert {task.session_id for task in ran} == {first.session_id}
    assert {task.series_id for task in ran} == {first.series_id}
    after = next(n for n, text in enumerate(said) if text.endswith("three words."))
    assert after == 10
    assert all(text.endswith("three words.") for text in said[after:])
    # What is told of it is told once, and where what was planned is told.
    told = [turn for turn in turns if "is done" in turn.content]
    assert len(told) == len(ran) - 1  # the run by hand is told nowhere but in its task
    # The thirtieth prompt is no longer than the twelfth by much: older days are summed up.
    sizes = [len(prompt.whole) + sum(map(len, prompt.earlier)) for prompt in brain.told]
    assert max(sizes) < 12_000


async def _lived(world: World, brain: Teacher, first: Task) -> None:
    """Thirty days, with all that happens to an app."""
    assert first.series_id is not None
    for day in range(30):
        brain.unsure = day == 10
        match day:
            case 15:
                # The machine is off for three days.
                await world._stack.aclose()
                world.clock.advance(3 * DAY)
                await world.__aenter__()
            case 20:
                await world.app.owner.skip_slot(first.series_id)
            case 25:
                await world.app.owner.run_now(await _coming(world, first))
            case _:
                pass  # a day like any other
        await world.run(DAY)
        for review in await world.waiting():
            # The owner sends a result back with a word; from then on it is done so.
            await world.decide(review, ReviewAnswer.BACK, SHORTER)
            await world.run()
        if day % 4 == 3:
            await world.restart()


def _check_slots(slots: list[Slot]) -> None:
    """Thirty-three days have a slot each, and each slot a fate."""
    assert len(slots) == 33
    fates = [slot.fate for slot in slots]
    assert fates.count(SlotFate.MISSED) == 2
    assert fates.count(SlotFate.CAUGHT_UP) == 1
    assert fates.count(SlotFate.SKIPPED) == 1
    assert fates.count(SlotFate.RAN) == 29


async def _coming(world: World, first: Task) -> TaskId:
    page = await world.app.db.read(search.page, TaskFilter(limit=500))
    (waits,) = [task for task in page.tasks if task.slot and task.slot > world.now]
    assert waits.series_id == first.series_id
    return waits.id
