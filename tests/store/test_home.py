"""The directory and the file: held by one, recognised, checked, and never replaced by nothing."""

import fcntl
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from remit.errors import (
    HomeLocked,
    StoreBusy,
    StoreCorrupt,
    StoreForeign,
    StoreNewer,
    StoreTrouble,
)
from remit.store import connection, home, legacy
from remit.store.database import FOLDER
from tests.store.scene import Scene

pytestmark = pytest.mark.only_sqlite("the file itself")

HOLD = """
import sys
from pathlib import Path
from remit.store import home

with home.lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "home" / "agent.db"


# The directory ------------------------------------------------------------------------------------


def test_a_second_process_is_told_who_works_here(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        assert home.is_locked(tmp_path)
        told = rf"process {first.pid}\b.*One process per directory"
        with pytest.raises(HomeLocked, match=told), home.lock(tmp_path):
            pass
        second = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
        assert second.returncode != 0
        assert f"process {first.pid}" in second.stderr
        first.send_signal(signal.SIGKILL)

    assert not home.is_locked(tmp_path)
    with home.lock(tmp_path):  # a dead process holds nothing
        assert (tmp_path / "lock").read_text() == f"process {os.getpid()}"


def test_a_lock_that_names_nobody_is_still_a_lock(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(HomeLocked, match="process unknown"), home.lock(tmp_path):
            pass


def test_who_only_looks_keeps_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`remit ls` looks whether a Remit works here, in the very moment in which one starts."""
    with (tmp_path / "lock").open("a") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        looked = SimpleNamespace(sleep=lambda _: fcntl.flock(looking, fcntl.LOCK_UN))
        monkeypatch.setattr(home, "time", looked)
        with home.lock(tmp_path):
            assert home.is_locked(tmp_path)


def test_a_directory_nobody_has_used_is_free(tmp_path: Path) -> None:
    assert not home.is_locked(tmp_path)
    assert not home.is_locked(tmp_path / "nowhere")


# A new file ---------------------------------------------------------------------------------------


def test_a_new_file_is_made_whole_and_for_its_owner_alone(path: Path) -> None:
    home.prepare(path)

    assert [file.name for file in path.parent.iterdir()] == ["agent.db"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with closing(connection.connect(path)) as opened:
        assert home.version(opened) == len(home.migrations())


def test_to_prepare_twice_changes_nothing(scene: Scene) -> None:
    scene.admit()
    before = scene.image()
    scene.close()

    home.prepare(scene.path)

    again = Scene(scene.path)
    assert again.image() == before
    again.close()


@pytest.mark.parametrize("cut", ["touched", "opened", "migrated", "closed"])
def test_a_cut_while_the_first_file_is_made_leaves_nothing_that_stands_in_the_way(
    path: Path, monkeypatch: pytest.MonkeyPatch, cut: str
) -> None:
    class Cut(Exception):
        pass

    def fail(*_: object) -> None:
        raise Cut

    with monkeypatch.context() as patched:
        match cut:
            case "touched":
                patched.setattr(home, "connect", fail)
            case "opened":
                patched.setattr(home, "migrate", fail)
            case "migrated":
                patched.setattr(legacy, "adopt", fail)
            case _:
                patched.setattr(Path, "rename", fail)
        with pytest.raises(Cut):
            home.prepare(path)
    assert not path.exists()

    home.prepare(path)

    Scene(path).close()
    assert [file.name for file in path.parent.iterdir()] == ["agent.db"]


def test_whatever_lies_in_the_place_of_the_unfinished_file_is_not_built_upon(path: Path) -> None:
    path.parent.mkdir(parents=True)
    for suffix in ("", "-wal", "-shm"):
        path.with_name(f"agent.db.new{suffix}").write_bytes(b"what a cut has left")

    home.prepare(path)

    assert [file.name for file in path.parent.iterdir()] == ["agent.db"]


def test_a_killed_first_start_is_made_good_by_the_next(tmp_path: Path) -> None:
    """Kill it at the very moment the schema is committed, and not one moment before."""
    code = (
        "import os, signal, sys; from pathlib import Path; from remit.store import home, legacy\n"
        "legacy.adopt = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "home.prepare(Path(sys.argv[1]))"
    )
    path = tmp_path / "agent.db"
    command = [sys.executable, "-c", code, str(path)]
    assert subprocess.run(command, check=False, timeout=100).returncode == -signal.SIGKILL

    home.prepare(path)

    Scene(path).close()


# Files that are not ours, or not whole ------------------------------------------------------------


def _songs(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE songs (name TEXT)")
        other.commit()


def _broken_head(path: Path) -> None:
    Scene(path).close()
    path.write_bytes(b"X" + path.read_bytes()[1:])


# What lies there, how it came there, and what is said.
UNUSABLE: dict[str, tuple[Callable[[Path], object], type[StoreTrouble], str]] = {
    "another program's": (_songs, StoreForeign, r"another program.*Nothing was changed"),
    "a diary": (lambda p: p.write_bytes(b"Dear diary"), StoreForeign, "not an SQLite file"),
    "a line": (lambda p: p.write_bytes(b"\n"), StoreForeign, "not an SQLite file"),
    "half a head": (lambda p: p.write_bytes(b"SQLite format"), StoreForeign, "not an SQLite file"),
    "noise": (lambda p: p.write_bytes(os.urandom(5000)), StoreForeign, "not an SQLite file"),
    "a folder": (Path.mkdir, StoreForeign, "not a file"),
    "nothing": (Path.touch, StoreCorrupt, r"it is empty.*remit restore"),
    "a broken head": (_broken_head, StoreCorrupt, "its header is broken"),
    "its log alone": (
        lambda p: p.with_name("agent.db-wal").write_bytes(b"all that was written since"),
        StoreCorrupt,
        "its log is still there",
    ),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_what_is_not_ours_or_not_whole_is_left_alone(path: Path, what: str) -> None:
    lay, error, sentence = UNUSABLE[what]
    path.parent.mkdir(parents=True)
    lay(path)
    before = {each: each.is_file() and each.read_bytes() for each in path.parent.iterdir()}
    with pytest.raises(error, match=sentence):
        home.prepare(path)
    assert {each: each.is_file() and each.read_bytes() for each in path.parent.iterdir()} == before


def test_a_schema_that_is_no_text_any_more_is_said_in_words(scene: Scene) -> None:
    """Of which Python cannot even read out what SQLite says."""
    scene.close()
    whole = scene.path.read_bytes()
    assert b"CREATE INDEX tasks_held" in whole
    broken = whole.replace(b"CREATE INDEX tasks_held", b"CREATE \xc9NDEX tasks_held")
    scene.path.write_bytes(broken)

    with pytest.raises(StoreCorrupt):
        home.prepare(scene.path)
    with closing(sqlite3.connect(scene.path)) as opened, pytest.raises(StoreCorrupt):
        home.check(scene.path, opened)


def test_a_log_that_was_left_behind_is_read(tmp_path: Path) -> None:
    """The process died: what it had committed stands in the log alone."""
    scene = Scene(tmp_path / "agent.db")
    title = scene.admit("Only in the log").title
    main, log = (tmp_path / name for name in ("agent.db", "agent.db-wal"))
    left = tmp_path / "left"
    left.mkdir()
    for file in (main, log):
        (left / file.name).write_bytes(file.read_bytes())
    scene.close()
    assert title.encode() not in (left / "agent.db").read_bytes()

    home.prepare(left / "agent.db")

    again = Scene(left / "agent.db")
    assert [row["title"] for row in again.sql("SELECT title FROM tasks")] == [title]
    again.close()


# The schema ---------------------------------------------------------------------------------------


def test_a_file_of_a_newer_remit_is_left_alone(scene: Scene) -> None:
    scene.admit()
    scene.sql("ALTER TABLE events RENAME TO happenings")  # whatever the future holds
    scene.sql("PRAGMA user_version = 99")
    scene.close()
    before = scene.path.read_bytes()

    with pytest.raises(StoreNewer, match=r"schema 99.*knows up to \d+.*Upgrade Remit"):
        home.prepare(scene.path)

    assert scene.path.read_bytes() == before


def test_a_migration_is_done_whole_or_not_at_all(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.admit()
    before = scene.image()
    scene.close()
    known = home.migrations()
    add = "ALTER TABLE tasks ADD COLUMN mood TEXT; CREATE TABLE moods (name TEXT) STRICT"

    monkeypatch.setattr(home, "migrations", lambda: [*known, f"{add}; CREATE nonsense"])
    with pytest.raises(StoreTrouble):
        home.prepare(scene.path)
    again = Scene(scene.path)
    assert again.image() == before
    again.close()

    monkeypatch.setattr(home, "migrations", lambda: [*known, f"{add};"])
    home.prepare(scene.path)
    with closing(connection.connect(scene.path)) as opened:
        assert home.version(opened) == len(known) + 1
        assert opened.execute("SELECT mood FROM tasks").fetchone() == {"mood": None}


@pytest.mark.parametrize(
    "change",
    [
        "DROP INDEX tasks_held",
        "DROP TRIGGER events_final",
        "CREATE TABLE songs (name TEXT)",
        "ALTER TABLE reviews RENAME COLUMN about TO regarding",
    ],
)
def test_tables_that_somebody_has_changed_are_noticed(scene: Scene, change: str) -> None:
    scene.sql(change)
    scene.close()

    with pytest.raises(StoreCorrupt, match="its tables are not as they were made"):
        home.prepare(scene.path)


def test_a_remark_or_a_blank_in_a_migration_changes_no_table(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.close()
    first, *rest = home.migrations()
    remarked = first.replace("CREATE TABLE tasks (", "CREATE TABLE tasks ( -- all of them\n\n  ")
    assert remarked != first

    monkeypatch.setattr(home, "migrations", lambda: [remarked, *rest])
    home._schema_of.cache_clear()
    home.prepare(scene.path)
    home._schema_of.cache_clear()


def test_the_migrations_are_numbered_without_a_gap() -> None:
    names = sorted(path.name for path in (FOLDER / "migrations").iterdir())

    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))


# Trouble that is no damage ------------------------------------------------------------------------


def test_a_file_that_another_program_holds_is_busy_and_not_damaged(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.close()
    monkeypatch.setattr(home, "connect", lambda path: connection.connect(path, busy=0.05))
    with closing(sqlite3.connect(scene.path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")

        with pytest.raises(StoreBusy, match="Nothing is lost"):
            home.prepare(scene.path)

    home.prepare(scene.path)


def test_a_large_file_is_checked_at_its_end_only(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = scene.admit()
    scene.sql("UPDATE tasks SET title = 'Something else'")
    monkeypatch.setattr(home, "_WHOLE_CHECK_BYTES", 1000)

    home.check(scene.path, scene.connection)

    monkeypatch.undo()
    with pytest.raises(StoreCorrupt, match=f"title of task {task.id} is not what was admitted"):
        home.check(scene.path, scene.connection)
