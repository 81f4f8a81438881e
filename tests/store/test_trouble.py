"""A full disk, a file that another program holds: said in a sentence, waited out, nothing lost."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

import pytest

from remit.errors import (
    Conflict,
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreTrouble,
)
from remit.store import audit, events, home, tasks
from remit.store.connection import trouble
from remit.store.database import Cell, Tx
from remit.store.opening import Sqlite
from tests.store.scene import Scene

pytestmark = pytest.mark.only_sqlite("the disk under the file")

# Holds the file as long as its input is open.
HOLDER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""
# Writes until the file may not grow any more, says so, then goes on as it may again.
FULL = """
import asyncio, resource, sys
from pathlib import Path
from remit.errors import StoreFull
from remit.store import audit, home, tasks
from remit.store.opening import Sqlite
from tests.store.scene import Scene


async def main(folder):
    home.prepare(folder / "agent.db")
    db, maker = Sqlite(folder / "agent.db"), Scene(folder / "maker.db")
    stored, refused = [], []
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
    for n in range(120):
        task = maker.task(f"task {n}", instructions="x" * 4000)
        try:
            stored.append((await db.write(tasks.admit, task)).id)
        except StoreFull as error:
            refused.append((task, str(error)))
    print("refused", len(refused), refused[-1][1])
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for task, _ in refused:
        stored.append((await db.write(tasks.admit, task)).id)
    assert sorted(stored) == sorted(await db.read(ids))
    assert len(stored) == 120
    assert not list(await db.read(lambda tx: list(audit.complaints(tx))))
    await db.close()
    home.prepare(folder / "agent.db")
    print("whole")

def ids(tx):
    return [row["id"] for row in tx.ask("SELECT id FROM tasks")]

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    home.prepare(tmp_path / "live.db")
    return tmp_path / "live.db"


@asynccontextmanager
async def opened(path: Path, busy: float = 20) -> AsyncIterator[Sqlite]:
    db = Sqlite(path, busy=busy)
    try:
        yield db
    finally:
        await db.close()


@contextmanager
def held_by_another(path: Path) -> Iterator[None]:
    """Another process holds the file, and lets it go in the end."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        yield
        holder.stdin.close()


def limit(tx: Tx, pages: int) -> Cell:
    """Make the disk as small as the file is, or large again."""
    return tx.ask(f"PRAGMA max_page_count = {pages}")[0]["max_page_count"]


def pages(tx: Tx) -> int:
    return int(str(tx.ask("PRAGMA page_count")[0]["page_count"]))


def stored(tx: Tx) -> list[str]:
    return [str(row["id"]) for row in tx.ask("SELECT id FROM tasks ORDER BY no")]


def complaints(tx: Tx) -> list[str]:
    return list(audit.complaints(tx))


# A full disk --------------------------------------------------------------------------------------


async def test_a_full_disk_refuses_what_has_no_room_and_keeps_what_was_acknowledged(
    path: Path, scene: Scene
) -> None:
    big = "x" * 50_000
    async with opened(path) as db:
        there = await db.write(tasks.admit, scene.task())
        await db.write(limit, await db.read(pages) + 4)

        with pytest.raises(StoreFull, match=r"What was acknowledged is safe.*Make room"):
            await db.write(tasks.admit, scene.task(instructions=big))
        small = await db.write(tasks.admit, scene.task())  # for this one there is room
        assert await db.read(stored) == [there.id, small.id]

        await db.write(limit, 1_000_000)
        again = await db.write(tasks.admit, scene.task(instructions=big))
        assert await db.read(stored) == [there.id, small.id, again.id]
        assert await db.read(events.last) == 3
        assert await db.read(complaints) == []


def test_a_disk_that_takes_no_more_bytes_stops_nothing_for_good(tmp_path: Path) -> None:
    """The real thing: the system refuses the write, in the middle of a page."""
    root = str(Path(__file__).resolve().parents[2])
    told = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env={**os.environ, "PYTHONPATH": root},
    )

    assert told.returncode == 0, told.stderr
    first, last = told.stdout.splitlines()
    assert first.startswith("refused")
    assert "Make room on the disk; Remit goes on by itself." in first
    assert last == "whole"


# A file that another program holds ----------------------------------------------------------------


async def test_a_file_held_longer_than_we_wait_is_busy_and_then_all_goes_on(
    path: Path, scene: Scene
) -> None:
    made = [scene.task() for _ in range(20)]
    async with opened(path, busy=0.2) as db:
        there = await db.write(tasks.admit, scene.task())
        with held_by_another(path):
            results = await asyncio.gather(
                *(db.write(tasks.admit, task) for task in made), return_exceptions=True
            )
            assert [type(result) for result in results] == [StoreBusy] * 20
            assert "Nothing is lost" in str(results[0])
            assert await db.read(stored) == [there.id]  # to read, nobody has to wait
        assert await asyncio.gather(*(db.write(tasks.admit, task) for task in made)) == made
        assert await db.read(stored) == [task.id for task in (there, *made)]
        assert await db.read(complaints) == []


async def test_a_file_held_shorter_than_we_wait_is_waited_for(path: Path, scene: Scene) -> None:
    async with opened(path, busy=10) as db:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            writing = asyncio.create_task(db.write(tasks.admit, scene.task()))
            done, _ = await asyncio.wait({writing}, timeout=0.1)
            assert not done
            other.execute("COMMIT")
            await asyncio.wait_for(writing, 100)


async def test_a_store_cannot_be_opened_on_a_file_that_is_held_whole(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")

        with pytest.raises(StoreBusy, match="locked by another program for more than 0 s"):
            Sqlite(path, busy=0.05)


# What an error means ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        (sqlite3.SQLITE_FULL, StoreFull),
        (sqlite3.SQLITE_IOERR_WRITE, StoreFull),
        (sqlite3.SQLITE_READONLY, StoreFull),
        (sqlite3.SQLITE_BUSY, StoreBusy),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreBusy),
        (sqlite3.SQLITE_LOCKED, StoreBusy),
        (sqlite3.SQLITE_CORRUPT_INDEX, StoreCorrupt),
        (sqlite3.SQLITE_NOTADB, StoreCorrupt),
        (sqlite3.SQLITE_CONSTRAINT_TRIGGER, Conflict),
        (sqlite3.SQLITE_ERROR, StoreTrouble),
        (None, StoreTrouble),
    ],
)
def test_every_code_has_a_sentence(code: int | None, meaning: type[Exception]) -> None:
    error = sqlite3.OperationalError("as SQLite puts it")
    if code is not None:
        error.sqlite_errorcode = code

    said = trouble(Path("agent.db"), error)

    assert type(said) is meaning
    assert str(said).endswith(".")
