"""A look into the file without an event loop."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from remit.errors import NotFound, StoreCorrupt, StoreForeign, StoreNewer, StoreTrouble
from remit.model.ids import TaskId
from remit.settings import Settings
from remit.store import callers, home, tasks
from remit.store.callers import RequestKey
from remit.store.read_only import by_key, check, open_read_only
from remit.triggers import cue_admission
from remit.wiring import App, opened

UNKNOWN = TaskId("task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with the schema and nothing in it."""
    found = tmp_path / "agent.db"
    home.prepare(found)
    return found


def test_where_there_is_no_file_an_empty_one_is_read_and_none_is_made(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    with open_read_only(path) as tx:
        assert tasks.counts(tx) == {}
        with pytest.raises(NotFound):
            tasks.get(tx, UNKNOWN)
    assert not path.exists()


def test_nothing_can_be_written_and_its_number_changes_when_somebody_else_has(path: Path) -> None:
    with open_read_only(path) as tx, closing(sqlite3.connect(path)) as other:
        before = tx.version
        assert tx.version == before
        other.execute("INSERT INTO meta VALUES ('x', 'y')")
        other.commit()
        assert tx.version != before
    with pytest.raises(StoreTrouble), open_read_only(path) as tx:
        tx.run("set_meta", {"key": "x", "value": "y"})


def test_a_file_that_is_newer_damaged_or_of_another_program_is_refused(path: Path) -> None:
    check(path)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)
    with pytest.raises(StoreCorrupt):
        check(path)

    newer, foreign = path.with_name("newer.db"), path.with_name("foreign.db")
    home.prepare(newer)
    with closing(sqlite3.connect(newer)) as other:
        other.execute("PRAGMA user_version = 999")
    foreign.write_text("Dear diary, " * 50)
    for place, kind in ((newer, StoreNewer), (foreign, StoreForeign)):
        with pytest.raises(kind), open_read_only(place):
            pass


def test_a_key_is_found_by_its_task_or_by_the_request_that_had_it(tmp_path: Path) -> None:
    asyncio.run(_keys(tmp_path))


async def _keys(folder: Path) -> None:
    settings = Settings(home=folder)
    async with opened(settings) as app:
        straight = await app.intake.admit(cue_admission.cue("One", ref="key:a"))
        await _reserve(app, "key:b")
        await _reserve(app, "key:c")
        # Killed after the task was stored, and before the answer.
        killed = await app.intake.admit(cue_admission.cue("Two", ref="api:d"))
        await _reserve(app, "key:d", "api:d")
        kept = f'{{"location": null, "content": {{"id": "{straight.id}"}}}}'
        await app.db.write(callers.answer, _key("key:b"), 201, kept)
        with open_read_only(settings.database) as tx:
            found = [by_key(tx, name) for name in ("a", "b", "c", "d", "e")]
    assert found == [[straight.id], [straight.id], [], [killed.id], []]


async def _reserve(app: App, name: str, ref: str = "ref") -> None:
    now = app.clock.now()
    await app.db.write(callers.reserve, _key(name), "digest", ref, now)


def _key(name: str) -> RequestKey:
    return RequestKey("owner POST /api/tasks", name)
