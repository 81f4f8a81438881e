"""The index in step with the tasks: through edits, deletions, crashes, loss and damage."""

import asyncio
import shutil
import threading
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from remit.errors import StoreTrouble, Transient
from remit.model.ids import SessionId, TaskId
from remit.model.likeness import IndexedTask, NearestTask
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor
from remit.model.task import Edit
from remit.recall import snippets
from remit.recall.edge import EdgeStore
from remit.recall.library import LibraryParts, RecallLibrary
from remit.settings import DeliverSettings, RecallSettings, Settings
from remit.store import events, recall, tasks
from remit.store.database import Tx
from remit.store.redact import Redactor
from remit.testing import World, script
from remit.wiring.app_context import WallClock
from remit.wiring.recall import FOLDER
from tests.brain.tooling import task as made
from tests.engine.rig import PATIENCE, until

TAP: Final = "Find a plumber for the leaking tap in the kitchen"
POEM: Final = "Write a birthday poem for my grandmother"
DONE: Final = script([{"reply": "<deliverable>Done.</deliverable>"}])


def settings(home: Path, **chosen: str) -> Settings:
    return Settings(home=home, deliver=DeliverSettings(undo=0), recall=RecallSettings(**chosen))  # type: ignore[arg-type]


async def near(world: World, text: str) -> list[TaskId]:
    return [each.task_id for each in await world.app.recollection.finder.by_meaning(text, 5)]


async def held(world: World) -> tuple[int, int]:
    extent = await world.app.db.read(recall.extent)
    return extent.held, extent.tasks


async def test_an_edit_is_read_again_and_the_old_words_are_forgotten(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        task = await world.add(TAP, at=world.now + timedelta(days=9))
        await world.app.recollection.catch_up()

        await world.app.intake.edit(task.id, Edit(title=POEM, instructions=POEM))
        await world.app.recollection.catch_up()

        assert await near(world, "repair the faucet") == []
        assert await near(world, "verses for granny") == [task.id]


async def test_a_deleted_task_is_not_found_and_not_on_the_disk(tmp_path: Path) -> None:
    async with World(tmp_path, brain=DONE, settings=settings(tmp_path, store="qdrant")) as world:
        gone, stays = await world.add(f"{TAP} Zq4711-CANARY-Wx"), await world.add(POEM)
        await world.run()
        await world.app.recollection.catch_up()
        assert _on_disk(tmp_path, b"CANARY")

        await world.app.owner.delete(gone.id)
        await world.app.recollection.catch_up()

        assert await near(world, TAP) == []
        assert await near(world, POEM) == [stays.id]
        assert not _on_disk(tmp_path, b"CANARY")
        assert await held(world) == (1, 1)


async def test_a_restored_task_is_found_again(tmp_path: Path) -> None:
    async with World(tmp_path, brain=DONE) as world:
        task = await world.add(TAP)
        await world.run()
        await world.app.owner.delete(task.id)
        await world.app.recollection.catch_up()
        assert await near(world, TAP) == []

        await world.app.db.write(tasks.undelete, task.id, world.now)
        await world.app.recollection.catch_up()

        assert await near(world, TAP) == [task.id]


async def test_a_crash_before_the_rows_were_written_reads_it_once_more(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        task = await world.add(TAP)
        await world.app.recollection.catch_up()
        # What the store has and no row says is what a crash in between leaves behind.
        await world.app.db.write(recall.keep, (), [task.id], 0)

        await world.app.recollection.catch_up()

        assert await held(world) == (1, 1)
        assert await near(world, TAP) == [task.id]


async def test_an_index_that_was_lost_is_read_anew(tmp_path: Path) -> None:
    async with World(tmp_path, settings=settings(tmp_path, store="qdrant")) as world:
        both = [await world.add(each) for each in (TAP, POEM)]
        await world.app.recollection.catch_up()
        await world.app.recollection.close()
        shutil.rmtree(tmp_path / FOLDER)

        await world.app.recollection.catch_up()

        assert await held(world) == (2, 2)
        assert await near(world, TAP) == [both[0].id]


async def test_a_damaged_index_is_read_anew_and_stops_nobody(tmp_path: Path) -> None:
    async with World(tmp_path, brain=DONE, settings=settings(tmp_path, store="qdrant")) as world:
        task = await world.add(TAP)
        await world.run()
        await world.app.recollection.catch_up()
        await world.app.recollection.close()
        for each in (tmp_path / FOLDER).rglob("segment.json"):
            each.write_text("not a segment")
        again = await world.add(f"{TAP}, again")
        await world.run()
        assert (await world.get(again.id)).status == "completed"

        await world.app.recollection.catch_up()

        assert set(await near(world, TAP)) == {task.id, again.id}


async def test_an_index_of_an_earlier_version_is_read_anew_and_its_folder_goes(
    tmp_path: Path,
) -> None:
    """Until 0.1 a transformer made the vectors, and Qdrant's engine kept them with the words."""
    old = tmp_path / FOLDER / "task_snippets"
    async with World(tmp_path) as world:
        task = await world.add(TAP)
        await world.app.db.write(recall.begin, "all-MiniLM-L6-v2 int8", 0)
        digest = recall.IndexedDigest(task.id, "read", "then")
        await world.app.db.write(recall.keep, [digest], (), 1)
        old.mkdir(parents=True)
        (old / "segments").write_text("plumber")

        await world.app.recollection.catch_up()

        assert await held(world) == (1, 1)
        assert await near(world, "somebody must repair the faucet") == [task.id]
        assert not _on_disk(tmp_path, b"plumber")
        assert (await world.app.recollection.state())["trouble"] is None


async def test_a_change_of_the_store_reads_everything_into_the_new_one(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        task = await world.add(TAP)
        for store in ("embedded", "qdrant", "embedded"):
            await world.app.recollection.apply(settings(tmp_path, store=store))
            await world.app.recollection.catch_up()

            assert await held(world) == (1, 1)
            assert await near(world, TAP) == [task.id]


async def test_another_past_is_read_anew(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        task = await world.add(TAP)
        await world.app.recollection.catch_up()
        await world.app.db.write(_say_restored, world)

        await world.app.recollection.catch_up()

        assert await held(world) == (1, 1)
        assert await near(world, TAP) == [task.id]


async def test_a_rebuild_tells_how_far_it_is(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        for n in range(40):
            await world.add(f"{TAP} on floor {n}")
        await world.app.recollection.catch_up()
        heard: list[int] = []

        async def told() -> None:
            heard.append((await held(world))[0])

        await world.app.recollection.rebuild()
        assert await held(world) == (0, 40)
        await world.app.recollection.catch_up(told)

        assert heard[0] < 40
        assert heard[-1] == 40


async def test_while_it_is_up_it_follows_by_itself(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        context = world.app.recollection._context
        world.app.recollection._context = replace(context, clock=WallClock())
        world.app.recollection.start()
        task = await world.add(TAP)

        await until(lambda: _holds(world, 1))
        assert await near(world, TAP) == [task.id]
        await world.add(POEM)
        await until(lambda: _holds(world, 2))


async def test_switched_off_nothing_is_kept_and_words_are_still_found(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        task = await world.add(TAP)
        await world.app.recollection.catch_up()

        await world.app.recollection.turn_off()

        assert await near(world, TAP) == []
        found = await world.app.recollection.finder.find("leaking kitchen", 5)
        assert [each.task.id for each in found] == [task.id]
        assert (await world.app.recollection.state())["on"] is False
        assert not _on_disk(tmp_path, b"plumber")
        assert await held(world) == (0, 1)


class Refuses:
    """A store that is broken."""

    def near(self, *_: object) -> list[NearestTask]:
        raise StoreTrouble("The index of recall cannot be searched: broken.")

    def count(self) -> int:
        return 0

    def clear(self) -> None:
        """There is nothing."""

    def close(self) -> None:
        """Nor here."""


class Slow:
    name = "slow"

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if len(texts) == 1 and texts[0].startswith("how long"):
            return [[1.0, 0.0]]
        raise Transient("The embedder does not answer.")


async def test_a_broken_part_is_named_and_delays_no_task(tmp_path: Path) -> None:
    async with World(tmp_path, brain=DONE) as world:
        first = await world.add(TAP)
        await world.app.recollection.catch_up()
        broken = RecallLibrary(
            world.app.db,
            LibraryParts(Slow, lambda _: Refuses(), "broken"),  # type: ignore[arg-type,return-value]
        )
        world.app.recollection._library = world.app.recollection.finder.library = broken
        await world.app.db.write(recall.keep, [recall.IndexedDigest(first.id, "", "")], (), None)
        second = await world.add(f"{TAP}, please")

        await world.run()

        assert (await world.get(second.id)).status == "completed"
        assert "does not answer" in str((await world.app.recollection.state())["trouble"])


class Quick:
    name = "quick"

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [[1.0, 0.0] for _ in texts]


async def test_whoever_loses_patience_leaves_no_store_half_open(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def store(size: int) -> EdgeStore:
        begun.set()
        assert go_on.wait(PATIENCE)
        return EdgeStore(tmp_path / FOLDER, size)

    async with World(tmp_path) as world:
        library = RecallLibrary(world.app.db, LibraryParts(Quick, store, "slow"))
        impatient = asyncio.create_task(library.open())
        await until(begun.is_set)
        impatient.cancel()
        await asyncio.wait((impatient,))
        go_on.set()
        await library.close()

        EdgeStore(tmp_path / FOLDER, 2).close()  # nobody holds it any more


def test_a_secret_that_is_known_is_not_among_the_words() -> None:
    hide = Redactor(["s3cr3t-of-the-house"])
    task = made(
        title="Log in",
        instructions="Use s3cr3t-of-the-house.",
        context={"a": "s3cr3t-of-the-house"},
    )

    assert "s3cr3t" not in snippets.words(task, hide.known)
    assert "Log in" in snippets.words(task, hide.known)


def test_the_words_are_the_objective_and_the_context_without_what_only_machines_know() -> None:
    task = made(
        title="Schedule a catch-up",
        instructions="Schedule a catch-up with Dr. Smith",
        context={"person": "Dr. Anna Smith", "threads": ["msg-1"], "uid": "x", "note": ["soon"]},
    )

    said = snippets.words(task, str)

    assert said.splitlines() == [
        "Schedule a catch-up",
        "Schedule a catch-up with Dr. Smith",
        "Dr. Anna Smith",
        "soon",
    ]


async def test_a_hundred_runs_of_a_series_leave_room_for_others(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        other = await world.add("Ask a plumber what a new tap would cost")
        store = world.app.recollection
        await store.catch_up()
        library = store._library
        assert library is not None
        (vector,) = await library.embed([TAP])
        ids = [world.app.ids.task() for _ in range(100)]
        beside = {"session": "ses-daily", "taint": "owner"}
        points = [_indexed(each, vector, {**beside, "task_id": each}) for each in ids]
        await library.do(lambda opened: opened.put(points))

        assert other.id in await near(world, TAP)
        again = await store.finder.by_meaning(TAP, 5, [SessionId("ses-daily")])
        assert [each.task_id for each in again] == [other.id]


def _indexed(task_id: TaskId, vector: Sequence[float], beside: dict[str, str]) -> IndexedTask:
    return IndexedTask(task_id, vector, dict(beside))


async def _holds(world: World, count: int) -> bool:
    return (await held(world))[0] == count


def _on_disk(home: Path, text: bytes) -> bool:
    files = [each for each in (home / FOLDER).rglob("*") if each.is_file()]
    return any(text in each.read_bytes() for each in files)


def _say_restored(tx: Tx, world: World) -> None:
    events.append(tx, None, 0, NewEvent(EventKind.STORE_RESTORED, Actor.OWNER, {}), world.now)
