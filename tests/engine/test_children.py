"""A task that made another is told how that one ended, whichever way it did."""

from datetime import timedelta
from pathlib import Path

import pytest

from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.recurrence import OnMissed, Repeats
from remit.model.review import ReviewAnswer
from remit.model.run import Event, EventKind
from remit.model.status import Status
from remit.model.task import Cue, Source, SourceKind
from remit.settings import DeliverSettings, ScheduleSettings, Settings
from remit.testing import START, World

DAY = timedelta(days=1)


async def child(world: World, parent: TaskId, repeats: Repeats | None = None) -> TaskId:
    cue = Cue(
        source=Source(SourceKind.AGENT, f"{parent}:0:1"),
        title="Tell mum",
        text="Tell mum",
        delivery=(Delivery("outbox", "mum", "Hello!"),),
        context={"parent": parent},
        repeats=repeats,
    )
    return (await world.app.intake.admit(cue)).id


async def told(world: World, parent: TaskId) -> list[Event]:
    history = await world.history(parent)
    return [each for each in history if each.data.get("what") == "a task it made has ended"]


@pytest.mark.parametrize("way", ["declined", "cancelled"])
async def test_a_parent_hears_of_the_end_and_the_journal_of_the_closed_question(
    tmp_path: Path, way: str
) -> None:
    async with World(tmp_path) as world:
        parent = (await world.add("Tell everybody", content="Hi.")).id
        made = await child(world, parent)
        await world.run()
        (review,) = await world.waiting()
        if way == "declined":
            await world.decide(review, ReviewAnswer.DECLINE)
        else:
            await world.app.owner.cancel(made)

        (event,) = await told(world, parent)
        assert (event.data["task"], event.data["to"]) == (made, "cancelled")
        history = await world.history(made)
        (decided,) = [each for each in history if each.kind is EventKind.REVIEW_DECIDED]
        assert (decided.data["review"], decided.data["answer"]) == (review.id, "decline")
        assert decided.data.get("closed", False) is (way == "cancelled")


async def test_a_parent_hears_of_a_slot_that_was_passed_over(tmp_path: Path) -> None:
    skip = Settings(
        home=tmp_path,
        deliver=DeliverSettings(undo=0),
        schedule=ScheduleSettings(missed=OnMissed.SKIP),
    )
    async with World(tmp_path, settings=skip) as world:
        parent = (await world.add("Tell everybody", content="Hi.")).id
        first = await child(world, parent, Repeats("FREQ=DAILY", "UTC", START + DAY))
        await world.run()
        await world._stack.aclose()
        world.clock.advance(3 * DAY)
        await world.__aenter__()

        assert (await world.get(first)).status is Status.CANCELLED
        assert first in [each.data["task"] for each in await told(world, parent)]
