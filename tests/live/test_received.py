"""A message is stored and acknowledged before a model reads it; reading is a recorded step.

A real `remit up`, or none, with a model over real HTTP that answers when the test lets it.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final, TypeVar, cast

import pytest

from remit.brain.choose import Role
from remit.brain.scripted import parse
from remit.intake.heard import Message
from remit.intake.reading_form import Reading, ReadSend, ReadTask
from remit.model.codec import Json, JsonMap
from remit.model.ids import TaskId
from remit.model.task import Source, SourceKind
from remit.store import runs, search, tasks
from remit.store.audit import complaints
from remit.store.glance import glance
from remit.testing import World
from tests.doors.terminal import Said, Terminal
from tests.intake.readings import qualify
from tests.live.http_client import Client
from tests.live.place import KEY, Place, brain
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer, Call

T = TypeVar("T")

TEXT: Final = "milk tomorrow at 9, and by 10 the post"
MILK: Final = ReadTask(
    title="Milk", instructions="milk", sends=(ReadSend(text="milk"),), time_words=("tomorrow at 9",)
)
POST: Final = ReadTask(
    title="The post", instructions="the post", sends=(ReadSend(text="the post"),)
)
TWO: Final = Reading(tasks=(MILK, POST))
SETTINGS: Final = """\
zone = "UTC"
[brain]
kind = "model"
model = "openai-chat:test"
[recall]
store = "off"
[reflect]
nightly = false
"""


def reading(read: Reading, until: asyncio.Event | None = None) -> Order:
    return Order(Answer(call=Call("answer", read.model_dump_json())), until=until)


class Seat(Terminal):
    """A terminal in a home whose model has passed the exam."""

    def __init__(self, folder: Path, vendor: Vendor, model: str) -> None:
        super().__init__(folder, script=None)
        (self.home / "settings.toml").write_text(SETTINGS)
        qualify(self.home, model)
        self.environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{vendor.url}/v1"}

    def command(self, *words: str) -> Said:
        return self.run(*words, **self.environ)

    @contextmanager
    def serving(self) -> Iterator[Client]:
        with self.up(**self.environ) as up:
            yield Client(self, up)

    def made(self) -> list[str]:
        """The titles of all tasks, as they stand in the file."""
        with glance(self.home / "agent.db") as tx:
            found = [tasks.get(tx, each) for each in tasks.ids_like(tx, "task-")]
            assert list(complaints(tx)) == []
        return [f"{task.title}: {task.status.value}" for task in found]


@asynccontextmanager
async def seat(folder: Path, *orders: Order) -> AsyncIterator[tuple[Seat, Vendor]]:
    async with Vendor() as vendor, brain(vendor, Place.CHAT) as mind:
        vendor.orders = [*orders]
        yield Seat(folder, vendor, mind.as_role(Role.EXTRACT).label), vendor


async def apart(work: Callable[[], T]) -> T:
    """Do what blocks beside the loop on which the vendor answers."""
    return await asyncio.to_thread(work)


def say(client: Client) -> JsonMap:
    return client.post("/api/messages", {"text": TEXT}, key="once")


def read(client: Client, heard: JsonMap) -> JsonMap:
    """What a message became, once it is read."""
    return client.get(f"/api/messages/{_tasks(heard)[0]['id']}?wait=true")


async def test_an_acknowledgement_does_not_wait_for_the_model(tmp_path: Path) -> None:
    answers = asyncio.Event()
    async with seat(tmp_path, reading(TWO, answers)) as (place, vendor):

        def early() -> tuple[JsonMap, JsonMap]:
            with place.serving() as client:
                first = say(client)
                again = say(client)
                asyncio.run_coroutine_threadsafe(_set(answers), loop).result()
                whole = read(client, first)
                assert _tasks(first)[0]["id"] == _tasks(again)[0]["id"]
                return first, whole

        loop = asyncio.get_running_loop()
        first, whole = await apart(early)

        assert len(vendor.heard) == 1
    (waiting,) = _tasks(first)
    assert first["reading"] is True
    assert whole["reading"] is False
    assert [each["title"] for each in _tasks(whole)] == ["Milk", "The post"]
    assert _tasks(whole)[0]["id"] == waiting["id"]
    with glance(place.home / "agent.db") as tx:
        task = tasks.get(tx, TaskId(str(waiting["id"])))
        recorded = runs.steps(tx, task)["read_message"]
        assert isinstance(recorded, dict)
        assert recorded["tasks"] == 2
        assert list(complaints(tx)) == []


async def test_a_kill_while_the_model_reads_loses_nothing_and_makes_nothing_twice(
    tmp_path: Path,
) -> None:
    never = asyncio.Event()
    async with seat(tmp_path, reading(TWO, never), reading(TWO)) as (place, vendor):

        def killed() -> JsonMap:
            with place.serving() as client:
                first = say(client)
                asyncio.run_coroutine_threadsafe(vendor.until(1), loop).result()
                client.up.kill()
                return first

        def goes_on() -> JsonMap:
            with place.serving() as client:
                return read(client, say(client))

        loop = asyncio.get_running_loop()
        first, whole = await apart(killed), await apart(goes_on)
        made = await apart(place.made)

        assert len(vendor.heard) == 2
    assert _tasks(whole)[0]["id"] == _tasks(first)[0]["id"]
    assert [each["title"] for each in _tasks(whole)] == ["Milk", "The post"]
    assert sorted(each.partition(":")[0] for each in made) == ["Milk", "The post"]


@pytest.mark.parametrize("cut", ["pause", "cancel"])
async def test_what_is_stopped_while_it_is_read_is_not_read_behind_the_owners_back(
    tmp_path: Path, cut: str
) -> None:
    answers = asyncio.Event()
    async with Vendor() as vendor, brain(vendor, Place.CHAT) as mind:
        vendor.orders = [reading(TWO, answers)]
        qualify(tmp_path, mind.as_role(Role.EXTRACT).label)
        async with World(tmp_path, brain=mind) as world:
            message = Message(text=TEXT, source=Source(SourceKind.MANUAL, "once"))
            (task,) = (await world.house.intake.receive(message)).tasks
            await vendor.until(1)
            await (world.house.owner.pause if cut == "pause" else world.house.owner.cancel)(task.id)
            answers.set()
            await world.run()
            found = await world.house.db.read(search.page, search.Filter())
            if cut == "pause":
                await world.house.owner.resume(task.id)
                await world.run()
            after = await world.get(task.id)

    assert [each.title for each in found.tasks] == [task.title]
    assert after.title == ("Milk" if cut == "pause" else task.title)


async def test_a_model_that_does_not_answer_leaves_the_message_to_the_closed_patterns(
    tmp_path: Path,
) -> None:
    async with seat(tmp_path, Order(status=400)) as (place, _):

        def whole() -> JsonMap:
            with place.serving() as client:
                body: JsonMap = {"text": "Remind me tomorrow at 9 to call Bob", "wait": True}
                return client.post("/api/messages", body)

        heard = await apart(whole)

    (task,) = _tasks(heard)
    assert heard["reading"] is False
    assert task["scheduledFor"]


async def test_words_that_ask_for_nothing_end_as_nothing(tmp_path: Path) -> None:
    async with seat(tmp_path, reading(Reading(talk="question"))) as (place, _):

        def whole() -> tuple[JsonMap, list[str]]:
            with place.serving() as client:
                body: JsonMap = {"text": "what is the capital of peru", "wait": True}
                return client.post("/api/messages", body), place.made()

        heard, made = await apart(whole)

    assert (heard["tasks"], heard["answer"]) == ([], "question")
    assert made == ["what is the capital of peru: cancelled"]


async def test_the_command_line_says_that_it_is_being_read_and_waits_if_it_is_asked_to(
    tmp_path: Path,
) -> None:
    async with seat(tmp_path, reading(Reading(tasks=(POST,)))) as (place, vendor):
        said = await apart(lambda: place.command("add", "the post", "--key", "k"))
        asked = len(vendor.heard)
        waited = await apart(lambda: place.command("add", "the post", "--wait", "--json"))

    assert "as soon as Remit is up" in said.out
    assert asked == 0  # no server runs, and nobody waits: the next one reads it
    assert waited.code == 0, waited.err
    assert json.loads(waited.out)["tasks"][0]["title"] == "The post"


@pytest.mark.parametrize("reads", [True, False])
async def test_a_scripted_brain_reads_only_if_its_script_says_how(
    tmp_path: Path, reads: bool
) -> None:
    mine = POST.model_copy(update={"title": "My post"}).model_dump(mode="json")
    entry: Json = {"when": "the post", "extract": {"tasks": [mine]}}
    script = parse([*([entry] if reads else []), {"reply": "<deliverable>Done.</deliverable>"}])
    async with World(tmp_path, brain=script) as world:
        said = []
        for n, text in enumerate(("Remind me of the post", "Remind me of the cat")):
            message = Message(text=text, source=Source(SourceKind.MANUAL, str(n)))
            heard = await world.house.intake.receive(message, wait=True)
            said.append(heard.tasks[0].title)
        await world.run()

    assert said[0] == ("My post" if reads else "The post")
    assert said[1] == "The cat"  # no entry is about it, so code reads it


def _tasks(heard: JsonMap) -> list[JsonMap]:
    return cast("list[JsonMap]", heard["tasks"])


async def _set(event: asyncio.Event) -> None:
    event.set()
