"""`hitl_queue/`: each open question is a file for reading, whatever was cut off or done to it."""

import asyncio
import json
import pickle
import stat
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from remit.journal.scribe import FOLDER, QueueFiles, keep_queue
from remit.model.codec import Json, JsonMap
from remit.model.review import Review, ReviewAnswer
from remit.testing import World, script

ASKS: list[Json] = [{"ask": "Which passport do you hold?"}]


@asynccontextmanager
async def kept(world: World, folder: Path) -> AsyncIterator[None]:
    """The queue, written as long as this lasts."""
    keeping = asyncio.create_task(keep_queue(world.app.journal, world.app.db, folder))
    try:
        yield
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(100):
        while not true():  # noqa: ASYNC110 - a file rings no bell
            await asyncio.sleep(0.005)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*"))


def file_of(review: Review) -> str:
    return f"{review.id}.json"


def read(folder: Path, name: str) -> JsonMap:
    return cast("JsonMap", json.loads((folder / f"{name}.json").read_text()))


def _left(folder: Path, files: dict[Path, str]) -> None:
    folder.mkdir()
    for path, text in files.items():
        path.write_text(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / FOLDER


async def test_a_question_is_a_file_until_it_is_decided(tmp_path: Path, folder: Path) -> None:
    async with World(tmp_path, brain=script(ASKS)) as world, kept(world, folder):
        task = await world.add("Renew my passport")
        await world.run()
        (review,) = await world.waiting()
        assert review.id is not None
        await until(lambda: names(folder) == [file_of(review)])

        def told(part: str) -> JsonMap:
            return cast("JsonMap", read(folder, str(review.id))[part])

        asked, shown = told("review"), told("task")
        assert (asked["question"], asked["options"]) == (review.question, ["answer", "decline"])
        assert (shown["task_id"], shown["status"]) == (str(task.id)[5:], "WAITING_HITL")
        mode = (folder / f"{review.id}.json").stat().st_mode
        assert stat.S_IMODE(mode) == 0o400
        await world.app.inbox.later(review.id, world.now + timedelta(hours=1))
        await until(lambda: told("review")["later_until"] is not None)
        await world.decide(review, ReviewAnswer.DECLINE)
        await until(lambda: names(folder) == [])


async def test_what_is_cancelled_asks_no_more(tmp_path: Path, folder: Path) -> None:
    async with World(tmp_path, brain=script(ASKS)) as world, kept(world, folder):
        tasks = [await world.add("Renew my passport") for _ in range(2)]
        await world.run()
        both = sorted(file_of(each) for each in await world.waiting())
        await until(lambda: names(folder) == both)

        await world.app.owner.cancel(tasks[0].id)

        (left,) = await world.waiting()
        await until(lambda: names(folder) == [file_of(left)])


async def test_a_start_puts_right_what_a_crash_left(tmp_path: Path, folder: Path) -> None:
    async with World(tmp_path, brain=script(ASKS)) as world:
        await world.add("Renew my passport")
        await world.run()
        (review,) = await world.waiting()
        stale, torn = folder / f"rev-{'0' * 26}.json", folder / f"{review.id}.json"
        other, half = folder / "notes.txt", folder / f".{review.id}.json.x1.new"
        _left(folder, {stale: "{}", torn: '{"review": {"id"', half: "hal", other: "my own"})

        async with kept(world, folder):
            await until(lambda: not stale.exists())

        assert cast("JsonMap", read(folder, str(review.id))["review"])["id"] == review.id
        assert names(folder) == sorted(["notes.txt", file_of(review)])
        assert other.read_text() == "my own"


async def test_who_keeps_the_queue_stops_only_when_its_files_are_written(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, may_end = threading.Event(), threading.Event()

    def slowly(_: QueueFiles, __: object) -> None:
        began.set()
        may_end.wait()

    async with World(tmp_path) as world:
        monkeypatch.setattr(QueueFiles, "replace_all", slowly)
        keeper = asyncio.create_task(keep_queue(world.app.journal, world.app.db, folder))
        await until(began.is_set)
        keeper.cancel()
        await asyncio.wait([keeper], timeout=0.05)
        stopped_early = keeper.done()
        may_end.set()
        await asyncio.wait([keeper])

    assert not stopped_early
    assert keeper.cancelled()


# What is done to the files ------------------------------------------------------------------------


class Orders:
    """What runs if anybody unpickles it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
        return Path.touch, (self._path,)


def _edited(path: Path) -> None:
    told = json.loads(path.read_text())
    told["review"] |= {"decision": {"answer": "approve"}, "question": "Fine?", "digest": "0" * 64}
    told["task"] |= {"status": "READY", "delivery": [{"channel": "outbox", "recipient": "eve"}]}
    path.chmod(0o600)
    path.write_text(json.dumps(told))


def _pickled(path: Path) -> None:
    path.unlink()
    path.write_bytes(pickle.dumps(Orders(path.parent.parent / "owned")))


def _linked(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent.parent / "precious")


@pytest.mark.parametrize("spoil", [_edited, _pickled, _linked, Path.unlink])
async def test_what_is_done_to_a_file_decides_nothing_and_is_put_right(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    folder, precious, owned = tmp_path / FOLDER, tmp_path / "precious", tmp_path / "owned"
    precious.write_text("untouched")
    brain = script([{"reply": "<deliverable>Hello Anna.</deliverable>"}])
    async with World(tmp_path, brain=brain) as world:
        async with kept(world, folder):
            await world.add("Greet Anna", recipient="anna@home.example")
            await world.run()
            (review,) = await world.waiting()
            path = folder / f"{review.id}.json"
            await until(path.exists)
            was = path.read_bytes()
            spoil(path)
            await world.run(timedelta(days=1))

            assert await world.waiting() == [review]
            assert world.outbox.sent == []

        async with kept(world, folder):  # the next start
            await until(lambda: path.exists() and path.read_bytes() == was)

        assert (precious.read_text(), owned.exists(), path.is_symlink()) == (
            "untouched",
            False,
            False,
        )
        await world.decide(review, ReviewAnswer.APPROVE)
        await world.run()
        assert [(each.recipient, each.body) for each in world.outbox.sent] == [
            ("anna@home.example", "Hello Anna.")
        ]
