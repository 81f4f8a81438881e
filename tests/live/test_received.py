"""A message is stored and acknowledged before a model reads it; reading is a recorded step.

A real `remit up` whose script reads as slowly as the test wants, and a model over real HTTP.
"""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, cast

import pytest

from remit.brain.choose import ModelRole
from remit.brain.scripted import parse
from remit.intake.message import OwnerMessage
from remit.intake.reading_form import Reading, ReadSend, ReadTask
from remit.model.codec import Json, JsonMap
from remit.model.ids import TaskId
from remit.model.task import Source, SourceKind
from remit.store import runs, search, tasks
from remit.store.audit import complaints
from remit.store.read_only import open_read_only
from remit.testing import World
from tests.cli.terminal import Terminal
from tests.intake.readings import qualify
from tests.live.http_client import Client
from tests.live.place import Place, brain, warm
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer, Call

TEXT: Final = "milk tomorrow at 9, and by 10 the post"
MILK: Final = ReadTask(
    title="Milk", instructions="milk", sends=(ReadSend(text="milk"),), time_words=("tomorrow at 9",)
)
POST: Final = ReadTask(
    title="The post", instructions="the post", sends=(ReadSend(text="the post"),)
)
TWO: Final = Reading(tasks=(MILK, POST))
AGES: Final = 600.0  # seconds that nobody waits for


class Seat(Terminal):
    """A terminal whose brain reads as its script says."""

    def __init__(self, folder: Path, *entries: Json) -> None:
        super().__init__(folder)
        self.reads(*entries)

    def reads(self, *entries: Json) -> None:
        (self.home / "brain.yml").write_text(json.dumps(entries))  # JSON is YAML

    @contextmanager
    def serving(self) -> Iterator[Client]:
        with self.up() as up:
            yield Client(self, up)

    def made(self) -> list[str]:
        """The titles of all tasks, as they stand in the file."""
        with open_read_only(self.home / "agent.db") as tx:
            found = [tasks.get(tx, each) for each in tasks.ids_like(tx, "task-")]
            assert list(complaints(tx)) == []
        return sorted(f"{task.title}: {task.status.value}" for task in found)


def entry(read: Reading, when: str = "", seconds: float = 0.0) -> Json:
    told = cast("Json", read.model_dump(mode="json"))
    return {"extract": told, "seconds": seconds} | ({"when": when} if when else {})


def say(client: Client, **more: Json) -> JsonMap:
    return client.post("/api/messages", {"text": TEXT, **more}, key="once")


def read(client: Client, heard: JsonMap) -> JsonMap:
    """What a message became, once it is read."""
    return client.get(f"/api/messages/{_tasks(heard)[0]['id']}?wait=true")


def test_an_acknowledgement_waits_for_no_model_and_a_kill_loses_nothing(tmp_path: Path) -> None:
    place = Seat(tmp_path, entry(TWO, seconds=AGES))
    with place.serving() as client:
        first, again = say(client), say(client)
        client.up.kill()
    place.reads(entry(TWO))
    with place.serving() as client:
        whole = read(client, say(client))
        twice = say(client)

    ids = [each["id"] for each in _tasks(whole)]
    assert (first["reading"], whole["reading"]) == (True, False)
    assert [each["title"] for each in _tasks(whole)] == ["Milk", "The post"]
    assert [_tasks(each)[0]["id"] for each in (first, again, twice)] == [ids[0]] * 3
    assert [each.partition(":")[0] for each in place.made()] == ["Milk", "The post"]
    with open_read_only(place.home / "agent.db") as tx:
        recorded = runs.steps(tx, tasks.get(tx, TaskId(str(ids[0]))))["read_message"]
    assert isinstance(recorded, dict)
    assert recorded["tasks"] == 2


def test_a_turn_is_acknowledged_before_the_model_reads_it(tmp_path: Path) -> None:
    place = Seat(tmp_path, entry(TWO, "slowly", AGES), entry(TWO))
    with place.serving() as client:
        talks = [str(client.post("/api/conversations", {})["id"]) for _ in range(2)]
        slow: JsonMap = {"text": f"{TEXT}, slowly", "conversationId": talks[0]}
        first = client.post("/api/messages", slow)
        quick: JsonMap = {"text": TEXT, "conversationId": talks[1], "wait": True}
        whole = client.post("/api/messages", quick)

    assert (first["reading"], first["tasks"]) == (True, [])
    assert [each["title"] for each in _tasks(whole)] == ["Milk", "The post"]


def test_words_that_ask_for_nothing_end_as_nothing(tmp_path: Path) -> None:
    place = Seat(tmp_path, entry(Reading(talk="question")))
    with place.serving() as client:
        body: JsonMap = {"text": "what is the capital of peru", "wait": True}
        heard = client.post("/api/messages", body)

    assert (heard["tasks"], heard["answer"]) == ([], "question")
    assert place.made() == ["what is the capital of peru: cancelled"]


def test_the_command_line_says_that_it_is_being_read_and_waits_if_it_is_asked_to(
    tmp_path: Path,
) -> None:
    place = Seat(tmp_path, entry(Reading(tasks=(POST,))))
    said = place.run("add", "the post")
    early = place.run("ls").out
    waited = place.run("add", "the post", "--wait", "--json")

    assert "as soon as Remit is up" in said.out
    assert "being read" in early  # no server runs, and nobody waits: the next one reads it
    assert waited.code == 0, waited.err
    assert json.loads(waited.out)["tasks"][0]["title"] == "The post"


@pytest.mark.parametrize("reads", [True, False])
async def test_a_scripted_brain_reads_only_if_its_script_says_how(
    tmp_path: Path, reads: bool
) -> None:
    mine = Reading(tasks=(POST.model_copy(update={"title": "My post"}),))
    entries = [entry(mine, "the post")] if reads else []
    script = parse([*entries, {"reply": "<deliverable>Done.</deliverable>"}])
    async with World(tmp_path, brain=script) as world:
        said = []
        for n, text in enumerate(("Remind me of the post", "Remind me of the cat")):
            message = OwnerMessage(text=text, source=Source(SourceKind.MANUAL, str(n)))
            heard = await world.app.intake.receive(message, wait=True)
            said.append(heard.tasks[0].title)
        await world.run()

    assert said == ["My post" if reads else "The post", "The cat"]  # code reads the other


@pytest.mark.parametrize("cut", ["pause", "cancel", ""])
async def test_what_is_stopped_while_it_is_read_is_not_read_behind_the_owners_back(
    tmp_path: Path, cut: str
) -> None:
    await warm(Place.CHAT)
    answers = asyncio.Event()
    async with Vendor() as vendor, brain(vendor, Place.CHAT) as mind:
        vendor.orders = [Order(Answer(call=Call("answer", TWO.model_dump_json())), until=answers)]
        qualify(tmp_path, mind.as_role(ModelRole.EXTRACT).label)
        async with World(tmp_path, brain=mind) as world:
            owner = world.app.owner
            message = OwnerMessage(text=TEXT, source=Source(SourceKind.MANUAL, "once"))
            (task,) = (await world.app.intake.receive(message)).tasks  # nothing is answered yet
            await vendor.until(1)
            if cut:
                await (owner.pause if cut == "pause" else owner.cancel)(task.id)
            answers.set()
            await world.run()
            found = await world.app.db.read(search.page, search.TaskFilter())
            if cut == "pause":
                await owner.resume(task.id)
                await world.run()
            after = await world.get(task.id)

    titles = [each.title for each in found.tasks]
    assert titles == ([task.title] if cut else ["The post", "Milk"])
    assert after.title == (task.title if cut == "cancel" else "Milk")


def _tasks(heard: JsonMap) -> list[JsonMap]:
    return cast("list[JsonMap]", heard["tasks"])
