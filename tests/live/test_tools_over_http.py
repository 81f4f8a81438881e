"""Tools with a model over real HTTP, in the words of each vendor: asked, done, told, once."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.errors import AlreadyDecided
from remit.model.codec import Json
from remit.model.reply import Policy
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Reason, Status
from remit.model.task import Task
from remit.settings import Settings, ToolSettings
from remit.store import search
from remit.testing import World
from tests.live.place import Place, opened
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer, Call
from tests.soak import one_of

pytestmark = one_of("place")

GOOD = "<deliverable>Done.</deliverable>"
WRITE = Call("write_file", json.dumps({"path": "a.txt", "text": "mine"}))
MAKE = Call("create_task", json.dumps({"title": "Later", "instructions": "Wait and see"}))


@asynccontextmanager
async def app(home: Path, vendor: Vendor, place: Place, **policies: Policy) -> AsyncIterator[World]:
    settings = Settings(home=home, tools=replace(ToolSettings(), **policies))
    async with opened(home, vendor, place, settings=settings) as world:
        yield world


async def asked(world: World) -> Review:
    (review,) = await world.waiting()
    return review


async def made(world: World) -> list[Task]:
    page = await world.app.db.read(search.page, search.TaskFilter(text="Wait and see"))
    return [*page.tasks]


@pytest.mark.parametrize("place", Place)
async def test_of_two_calls_in_a_breath_one_runs_once_and_one_waits_through_a_restart(
    place: Place, tmp_path: Path
) -> None:
    async with Vendor() as vendor:
        vendor.orders = [Order(Answer("I begin.", call=WRITE, more=(MAKE,))), Order(Answer(GOOD))]
        async with app(tmp_path, vendor, place, create_task=Policy.ASK) as world:
            task = await world.add("Write and plan")
            await world.run()
            review = await asked(world)
            file = world.app.settings.work / task.id / "a.txt"

            assert (await world.get(task.id)).status is Status.NEEDS_REVIEW
            assert json.loads(review.evidence)["title"] == "Later"
            assert file.read_text() == "mine"
            assert await made(world) == []
            file.write_text("touched since")

        async with app(tmp_path, vendor, place, create_task=Policy.ASK) as world:
            await world.decide(review, ReviewAnswer.APPROVE)
            with pytest.raises(AlreadyDecided):
                await world.decide(review, ReviewAnswer.APPROVE)
            await world.run()

            assert file.read_text() == "touched since"
            assert len(await made(world)) == 1
            assert [parcel.body for parcel in world.outbox.sent] == ["Done."]
            (told,) = [each.text for each in vendor.heard if "is made, to start now." in each.text]
            assert "a.txt is written, 4 bytes." in told


@pytest.mark.parametrize("place", Place)
@pytest.mark.parametrize(
    ("answer", "text", "told"),
    [
        (ReviewAnswer.DROP, "Not now.", "The owner said no. Not now."),
        (ReviewAnswer.EDIT, '{"path": "b.txt", "text": "his"}', "b.txt is written, 3 bytes."),
    ],
)
async def test_a_no_and_other_arguments_reach_the_model_as_results(
    place: Place, answer: ReviewAnswer, text: str, told: str, tmp_path: Path
) -> None:
    async with Vendor() as vendor:
        vendor.orders = [Order(Answer(call=WRITE)), Order(Answer(GOOD))]
        async with app(tmp_path, vendor, place, write_file=Policy.ASK) as world:
            task = await world.add("Write")
            await world.run()
            review = await asked(world)

            assert review.reason is Reason.APPROVAL

            await world.decide(review, answer, text)
            await world.run()
            folder = world.app.settings.work / task.id

            assert told in vendor.heard[1].text
            assert not (folder / "a.txt").exists()
            assert (folder / "b.txt").exists() == (answer is ReviewAnswer.EDIT)
            assert [parcel.body for parcel in world.outbox.sent] == ["Done."]


@pytest.mark.parametrize("place", Place)
async def test_a_call_of_a_tool_that_is_no_more_is_told_and_nothing_runs(
    place: Place, tmp_path: Path
) -> None:
    async with Vendor() as vendor:
        vendor.orders = [Order(Answer(call=WRITE)), Order(Answer(GOOD))]
        async with app(tmp_path, vendor, place, write_file=Policy.ASK) as world:
            task = await world.add("Write")
            await world.run()
            review = await asked(world)
        async with app(tmp_path, vendor, place, write_file=Policy.DENY) as world:
            await world.decide(review, ReviewAnswer.APPROVE)
            await world.run()

            assert "There is no tool 'write_file'." in vendor.heard[1].text
            assert not (world.app.settings.work / task.id).exists()
            assert "write_file" not in offered(vendor.heard[1].body)
            assert (await world.get(task.id)).status is Status.COMPLETED


@pytest.mark.parametrize("place", Place)
async def test_a_model_is_offered_what_the_owner_did_not_deny(place: Place, tmp_path: Path) -> None:
    async with Vendor() as vendor, app(tmp_path, vendor, place, read_file=Policy.DENY) as world:
        vendor.orders = [Order(Answer(GOOD))]
        await world.add("Look")
        await world.run()

        assert offered(vendor.heard[0].body) == {
            "read_task_log",
            "search_tasks",
            "create_task",
            "ask_owner",
            "tick_item",
            "list_files",
            "write_file",
            "fetch",
        }


def offered(body: object) -> set[str]:
    """The names of the tools in a request, whoever's protocol it is in."""
    assert isinstance(body, dict)
    tools: list[dict[str, Json]] = body.get("tools", [])
    named = [tool.get("function") or tool for tool in tools]
    return {str(each["name"]) for each in named if isinstance(each, dict)}
