"""Many writes, one commit: shared when all goes well, and no one's loss when one goes wrong."""

import asyncio
import sqlite3
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from contextvars import ContextVar
from pathlib import Path
from typing import cast

import pytest

from remit.errors import Conflict, LeaseLost, NotFound, StoreTrouble
from remit.model.ids import TaskId
from remit.model.run import Event
from remit.model.task import Task
from remit.store import events, group_commit, home, tasks
from remit.store.connection import SqliteTx
from remit.store.database import Cell, Tx, patient, quick
from remit.store.group_commit import (
    MOST_IN_A_COMMIT,
    MOST_NEAR,
    MOST_PATIENT_IN_A_COMMIT,
    TURNS_AT_ONCE,
)
from remit.store.opening import Sqlite
from tests.store.scene import Scene

LANGUAGE: ContextVar[str] = ContextVar("language", default="none")
pytestmark = pytest.mark.only_sqlite("the scene only makes the tasks")


@asynccontextmanager
async def opened(path: Path, busy: float = 20) -> AsyncIterator[Sqlite]:
    home.prepare(path)
    db = Sqlite(path, busy=busy)
    try:
        yield db
    finally:
        await db.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "live.db"


def watch(tx: Tx, seen: list[str]) -> None:
    """Note every statement that the writer runs from now on."""
    cast("SqliteTx", tx)._connection.set_trace_callback(seen.append)


def pragma(tx: Tx, name: str) -> Cell:
    return tx.ask(f"PRAGMA {name}")[0][name]


@patient
def admit_patiently(tx: Tx, task: Task) -> Task:
    return tasks.admit(tx, task)


def admit_when(tx: Tx, event: threading.Event, task: Task) -> Task:
    event.wait()
    return tasks.admit(tx, task)


def fails_before_it_writes(tx: Tx, task: Task) -> None:
    raise NotFound("task", task.id)


def fails_after_it_wrote(tx: Tx, task: Task) -> None:
    tasks.admit(tx, task)
    raise LeaseLost(task.id, 1)


def is_refused(tx: Tx, task: Task) -> None:
    tasks.admit(tx, task)
    tx.ask("UPDATE tasks SET status = 'completed'")


def asks_nonsense(tx: Tx, task: Task) -> None:
    tasks.admit(tx, task)
    tx.ask("SELECT nothing FROM nowhere")


def loses_its_transaction(tx: Tx, task: Task) -> None:
    """As SQLite does by itself when the disk fails it."""
    del task
    cast("SqliteTx", tx)._connection.execute("ROLLBACK")
    raise sqlite3.OperationalError("disk I/O error")


def kept(tx: Tx) -> tuple[list[TaskId], list[Cell]]:
    ids = [TaskId(str(row["id"])) for row in tx.ask("SELECT id FROM tasks ORDER BY no")]
    return ids, [row["seq"] for row in tx.ask("SELECT seq FROM events ORDER BY seq")]


async def test_the_writer_waits_for_the_disk(path: Path) -> None:
    async with opened(path) as db:
        assert await db.write(pragma, "synchronous") == 2
        assert await db.write(pragma, "journal_mode") == "wal"


@pytest.mark.parametrize(("writes", "commits"), [(1, 1), (200, 1), (MOST_IN_A_COMMIT + 1, 2)])
async def test_writes_that_wait_together_are_committed_together(
    path: Path, scene: Scene, writes: int, commits: int
) -> None:
    seen: list[str] = []
    made = [scene.task() for _ in range(writes)]
    async with opened(path) as db:
        await db.write(watch, seen)
        seen.clear()
        stored = await asyncio.gather(*(db.write(tasks.admit, task) for task in made))
        assert seen.count("COMMIT") == commits
        ids, seqs = await db.read(kept)
    assert stored == made
    assert (ids, seqs) == ([task.id for task in made], [*range(1, writes + 1)])


async def test_after_patient_writes_a_few_go_on_at_a_time_and_requests_come_between(
    path: Path, scene: Scene
) -> None:
    made = [scene.task() for _ in range(3 * TURNS_AT_ONCE)]
    rounds: Counter[int] = Counter()
    now = 0

    def count() -> None:
        nonlocal now
        now += 1
        asyncio.get_running_loop().call_soon(count)

    async def leg(db: Sqlite, task: Task) -> None:
        await db.write(admit_patiently, task)
        rounds[now] += 1

    async with opened(path) as db:
        count()
        await asyncio.gather(*(leg(db, task) for task in made))
    assert rounds.total() == len(made)
    assert max(rounds.values()) == TURNS_AT_ONCE


async def test_while_somebody_waits_for_a_write_one_turn_is_given_and_the_rest_afterwards(
    path: Path, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "TURN_EVERY_SECONDS", 1000.0)
    loop, may_commit, written = asyncio.get_running_loop(), threading.Event(), asyncio.Event()
    gone_on: list[bool] = []

    async def leg(db: Sqlite) -> None:
        await db.turn()
        gone_on.append(written.is_set())
        if len(gone_on) == TURNS_AT_ONCE:
            loop.call_later(0.05, may_commit.set)  # time enough for others, if they were let

    async def request(db: Sqlite) -> None:
        await db.write(admit_when, may_commit, scene.task())
        written.set()

    async with opened(path) as db:
        await asyncio.gather(request(db), *(leg(db) for _ in range(3 * TURNS_AT_ONCE)))
    assert gone_on == [False] * TURNS_AT_ONCE + [True] * 2 * TURNS_AT_ONCE


async def test_a_write_that_does_not_end_keeps_nobody_from_a_turn(path: Path, scene: Scene) -> None:
    may_commit = threading.Event()
    async with opened(path) as db:
        asking = asyncio.create_task(db.write(admit_when, may_commit, scene.task()))
        await asyncio.gather(*(db.turn() for _ in range(3 * TURNS_AT_ONCE)))
        assert not asking.done()
        may_commit.set()
        await asking


def write_anywhere(tx: Tx, task: Task) -> tuple[bool, str]:
    """Write, and return whether this is the loop's thread, and the language of who called."""
    tasks.admit(tx, task)
    return threading.current_thread() is threading.main_thread(), LANGUAGE.get()


@quick
def write_quickly(tx: Tx, task: Task) -> tuple[bool, str]:
    return write_anywhere(tx, task)


async def test_quick_writes_run_on_the_thread_of_the_loop_unless_others_are_with_them(
    path: Path, scene: Scene
) -> None:
    LANGUAGE.set("de")
    async with opened(path) as db:
        assert await db.write(write_quickly, scene.task()) == (True, "none")
        together = [db.write(verb, scene.task()) for verb in (write_quickly, write_anywhere)]
        assert await asyncio.gather(*together) == [(False, "none")] * 2
        many = [db.write(write_quickly, scene.task()) for _ in range(MOST_NEAR + 1)]
        assert set(await asyncio.gather(*many)) == {(False, "none")}


async def test_while_another_program_writes_a_quick_write_waits_and_the_loop_goes_on(
    path: Path, scene: Scene
) -> None:
    async with opened(path, busy=1000) as db:  # if the loop waited, it would be as long
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            writing = asyncio.create_task(db.write(write_quickly, scene.task()))
            await asyncio.sleep(0.1)
            assert not writing.done()
            other.execute("COMMIT")
        assert await writing == (False, "none")


async def test_a_watched_write_is_committed_with_the_first_of_many_patient_ones(
    path: Path, scene: Scene
) -> None:
    many = [scene.task() for _ in range(3 * MOST_PATIENT_IN_A_COMMIT)]
    watched = scene.task()
    async with opened(path) as db:
        commits: list[list[TaskId]] = []
        db.on_commit(lambda found: commits.append([each.task_id for each in found if each.task_id]))
        waiting = [asyncio.create_task(db.write(admit_patiently, task)) for task in many]
        await asyncio.gather(*waiting, asyncio.create_task(db.write(tasks.admit, watched)))

    assert commits[0] == [watched.id, *(task.id for task in many[:MOST_PATIENT_IN_A_COMMIT])]
    assert [task_id for each in commits for task_id in each][1:] == [task.id for task in many]
    assert len(commits) == 3


async def test_what_follows_patient_writes_is_committed_together_too(
    path: Path, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "PATIENT_SECONDS", 1000.0)
    seen: list[str] = []

    async def leg(db: Sqlite) -> None:
        await db.write(admit_patiently, scene.task())
        await db.write(admit_patiently, scene.task())

    async with opened(path) as db:
        await db.write(watch, seen)
        seen.clear()
        await asyncio.gather(*(leg(db) for _ in range(5)))
        assert seen.count("COMMIT") == 2


async def test_one_that_fails_before_it_wrote_is_not_noticed_by_the_others(
    path: Path, scene: Scene
) -> None:
    seen: list[str] = []
    first, last = scene.task(), scene.task()
    async with opened(path) as db:
        await db.write(watch, seen)
        seen.clear()
        _, error, _ = await asyncio.gather(
            db.write(tasks.admit, first),
            db.write(fails_before_it_writes, scene.task()),
            db.write(tasks.admit, last),
            return_exceptions=True,
        )
        assert isinstance(error, NotFound)
        assert seen.count("COMMIT") == 1
        assert await db.read(kept) == ([first.id, last.id], [1, 2])


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (fails_after_it_wrote, LeaseLost),
        (is_refused, Conflict),
        (asks_nonsense, StoreTrouble),
        (loses_its_transaction, StoreTrouble),
    ],
)
@pytest.mark.parametrize("place", [0, 2, 4])
async def test_one_that_spoils_the_transaction_takes_nobody_along(
    path: Path,
    scene: Scene,
    spoil: Callable[[Tx, Task], None],
    kind: type[Exception],
    place: int,
) -> None:
    told: list[Event] = []
    seen: list[str] = []
    made = [scene.task() for _ in range(4)]
    async with opened(path) as db:
        db.on_commit(told.extend)
        await db.write(watch, seen)
        seen.clear()
        writes = [db.write(tasks.admit, task) for task in made]
        writes.insert(place, db.write(spoil, scene.task()))  # type: ignore[arg-type]
        results: list[object] = list(await asyncio.gather(*writes, return_exceptions=True))
        assert isinstance(results.pop(place), kind)
        assert results == made
        assert await db.read(kept) == ([task.id for task in made], [1, 2, 3, 4])
        assert told == await db.read(events.list_after, 0, 9), "whoever follows was told otherwise"
        assert seen.count("COMMIT") == (4 if spoil is loses_its_transaction else 1)
        assert not list(await db.read(events.broken_links))


async def test_a_commit_without_an_event_wakes_nobody(path: Path, scene: Scene) -> None:
    told: list[Event] = []
    async with opened(path) as db:
        db.on_commit(told.extend)
        await db.write(tasks.admit, scene.task())
        await db.write(pragma, "synchronous")
    assert [event.seq for event in told] == [1]


async def test_a_reader_sees_one_moment_however_often_it_looks(path: Path, scene: Scene) -> None:
    """Between two looks of one read a whole transaction is committed; it is not half seen."""
    looked, go_on = threading.Event(), threading.Event()

    def look_twice(tx: Tx) -> tuple[int, int]:
        first = len(kept(tx)[0])
        looked.set()
        assert go_on.wait(100)
        return first, len(kept(tx)[1])

    async with opened(path) as db:
        await db.write(tasks.admit, scene.task())
        reading = asyncio.create_task(db.read(look_twice))
        await asyncio.to_thread(looked.wait, 100)
        await db.write(tasks.admit, scene.task())
        go_on.set()
        assert await reading == (1, 1)
        assert len((await db.read(kept))[0]) == 2


async def test_a_reader_does_not_wait_for_the_writer_nor_see_its_half(
    path: Path, scene: Scene
) -> None:
    written, go_on = threading.Event(), threading.Event()

    def write_slowly(tx: Tx) -> None:
        tasks.admit(tx, scene.task())
        written.set()
        assert go_on.wait(100)

    async with opened(path) as db:
        writing = asyncio.create_task(db.write(write_slowly))
        await asyncio.to_thread(written.wait, 100)
        assert await db.read(kept) == ([], [])
        go_on.set()
        await writing
        assert len((await db.read(kept))[0]) == 1


async def test_a_read_that_breaks_says_so_in_a_sentence_and_the_next_one_works(path: Path) -> None:
    def look_nowhere(tx: Tx) -> None:
        tx.ask("SELECT * FROM nowhere")

    async with opened(path) as db:
        for _ in range(4):
            with pytest.raises(StoreTrouble, match="no such table"):
                await db.read(look_nowhere)
        assert await db.read(kept) == ([], [])


async def test_a_reader_cannot_write(path: Path, scene: Scene) -> None:
    async with opened(path) as db:
        with pytest.raises(StoreTrouble, match="readonly"):
            await db.read(tasks.admit, scene.task())


async def test_who_stops_waiting_for_a_write_stops_no_write(path: Path, scene: Scene) -> None:
    made = [scene.task() for _ in range(3)]
    async with opened(path) as db:
        writing = [asyncio.create_task(db.write(tasks.admit, task)) for task in made]
        await asyncio.sleep(0)
        writing[1].cancel()
        await asyncio.gather(*writing, return_exceptions=True)
        assert len((await db.read(kept))[0]) == 3


def test_a_store_that_closes_first_writes_what_waits(path: Path, scene: Scene) -> None:
    async def story() -> list[Task]:
        home.prepare(path)
        db = Sqlite(path)
        assert await db.read(kept) == ([], [])  # so that a reader holds the file, too
        made = [scene.task() for _ in range(MOST_IN_A_COMMIT + 10)]
        verbs = [(tasks.admit, admit_patiently)[n % 2] for n in range(len(made))]
        pairs = zip(verbs, made, strict=True)
        writing = [asyncio.create_task(db.write(verb, task)) for verb, task in pairs]
        await asyncio.sleep(0)
        await db.close()
        assert await asyncio.gather(*writing) == made
        with pytest.raises(StoreTrouble, match="closed"):
            await db.write(tasks.admit, scene.task())
        return made

    made = asyncio.run(story())

    assert [name.name for name in path.parent.glob("live.db*")] == ["live.db"]  # all in one file
    reopened = Scene(path)
    assert len(reopened.sql("SELECT id FROM tasks")) == len(made)
    reopened.close()


def test_a_writer_whose_loop_is_gone_ends_its_batch_in_peace(path: Path, scene: Scene) -> None:
    started, go_on = threading.Event(), threading.Event()
    db: list[Sqlite] = []

    def write_slowly(tx: Tx) -> None:
        started.set()
        assert go_on.wait(100)
        tasks.admit(tx, scene.task())

    async def story() -> None:
        home.prepare(path)
        db.append(Sqlite(path))
        left = asyncio.create_task(db[0].write(write_slowly))
        await asyncio.to_thread(started.wait, 100)
        left.cancel()

    asyncio.run(story())
    go_on.set()
    db[0]._batches.put(None)
    db[0]._writer.join(100)

    assert not db[0]._writer.is_alive()
    reopened = Scene(path)
    assert len(reopened.sql("SELECT id FROM tasks")) == 1
    reopened.close()


async def test_a_store_on_a_file_that_is_not_there_says_so_at_once(tmp_path: Path) -> None:
    with pytest.raises(StoreTrouble):
        Sqlite(tmp_path / "nowhere.db")
