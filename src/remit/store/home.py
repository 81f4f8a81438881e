"""The home directory and the database file: locked, checked, migrated, never replaced."""

import fcntl
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final, TextIO

from remit.errors import (
    HomeLocked,
    RemitError,
    StoreBusy,
    StoreCorrupt,
    StoreForeign,
    StoreFull,
    StoreMoved,
    StoreNewer,
    StoreTrouble,
)
from remit.model.codec import stamp
from remit.store import meta
from remit.store.connection import APPLICATION_ID, SqliteTx, connect, row_to_dict, trouble
from remit.store.database import FOLDER
from remit.system.files import sync_folder

MOVED_TO: Final = "moved_to"  # in meta: the database that took over
RESTORING: Final = "agent.restoring.db"
_TRIES: Final = 10
_BETWEEN_TRIES: Final = 0.02
_REMARK: Final = re.compile(r"--[^\n]*")
_MAGIC: Final = b"SQLite format 3\x00"
_WHOLE_CHECK_BYTES: Final = 16 * 1024 * 1024  # about a second; larger files in part


@contextmanager
def lock(home: Path) -> Iterator[None]:
    """Lock the directory for one process; a second one gets an error with the holder."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (home / "lock").open("a+", encoding="utf-8") as file:
        if not _hold(file):
            file.seek(0)
            raise HomeLocked(str(home), file.read().strip() or "process unknown")
        file.truncate(0)
        file.write(f"process {os.getpid()}")
        file.flush()
        yield


def _hold(file: TextIO) -> bool:
    """Retry for a moment: a process that only checks the lock also holds it briefly."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(_BETWEEN_TRIES)
        else:
            return True
    return False


def is_locked(home: Path) -> bool:
    """Whether a process holds this directory now."""
    path = home / "lock"
    if not path.exists():
        return False
    with path.open("rb") as file:  # also in a directory that cannot be written
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def prepare(path: Path) -> None:
    """Create the file if there is none; else check it and migrate its schema."""
    from remit.store import legacy  # noqa: PLC0415 - who only reads needs neither it nor the audit

    if not path.exists():
        _create(path)
    recognise(path)
    with _open_file(path) as connection:
        refuse_newer(path, connection)
        check(path, connection)
        _keep_before_upgrade(path, connection)
        migrate(connection)
        refuse_moved(path, connection)
        legacy.retire(connection, path.parent)


def _keep_before_upgrade(path: Path, connection: sqlite3.Connection) -> None:
    """Copy a file of an earlier version to the backups before it is migrated."""
    reached = version(connection)
    if reached == len(_migration_files()) or path.name == RESTORING:
        return
    folder = path.parent / "backups"
    folder.mkdir(exist_ok=True, mode=0o700)
    kept = folder / f"agent-before-upgrade-{reached:04}.db"
    partial = kept.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    partial.touch(mode=0o600)
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
        connection.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("INSERT OR REPLACE INTO meta VALUES ('backup_at', ?)", (stamp(changed),))
    partial.rename(kept)
    sync_folder(folder)


def _create(path: Path) -> None:
    """Create the file under another name, so a crash leaves none or a complete one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    from remit.store import legacy  # noqa: PLC0415 - as above

    if path.with_name(path.name + "-wal").exists():
        raise StoreCorrupt(str(path), "it is gone, but its log is still there")
    if path.with_name(RESTORING).exists():
        sentence = (
            f"A restore of {path} was interrupted. Nothing is lost: run `remit restore` again."
        )
        raise StoreTrouble(sentence)
    fresh = path.with_name(path.name + ".new")
    for suffix in ("", "-wal", "-shm"):
        fresh.with_name(fresh.name + suffix).unlink(missing_ok=True)
    fresh.touch(mode=0o600)
    with _open_file(fresh) as connection:
        migrate(connection)
        legacy.adopt(connection, path.parent)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    fresh.rename(path)
    sync_folder(path.parent)


def check(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a damaged file with a sentence; small files are compared with their journal too."""
    from remit.store.audit import complaints  # noqa: PLC0415 - as above

    small = path.stat().st_size <= _WHOLE_CHECK_BYTES
    pragma = "integrity_check" if small else "quick_check"
    try:
        rows = connection.execute(f"PRAGMA {pragma}(3)").fetchall()
        found = [result for row in rows if (result := next(iter(row.values()))) != "ok"]
        if not found and _schema(connection) != _schema_of(version(connection)):
            found = ["its tables are not as they were made"]
        if not found:
            found = list(complaints(SqliteTx(connection), whole=small))[:3]
    except (sqlite3.Error, UnicodeError) as error:
        raise _meaning(path, error) from error
    if found:
        raise StoreCorrupt(str(path), "; ".join(found))


def migrate(connection: sqlite3.Connection) -> None:
    """Apply the missing numbered migrations, each in one transaction."""
    steps, reached = migrations(), version(connection)
    connection.execute("PRAGMA journal_mode = WAL")
    for number, script in enumerate(steps[reached:], reached + 1):
        connection.executescript(
            f"BEGIN IMMEDIATE; {script}; PRAGMA application_id = {APPLICATION_ID};"
            f" PRAGMA user_version = {number}; COMMIT;"
        )


def refuse_newer(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a file that a newer Remit wrote."""
    reached, known = version(connection), len(_migration_files())
    if reached > known:
        raise StoreNewer(str(path), reached, known)


def refuse_moved(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a file whose content was moved to another database."""
    where = meta.get(SqliteTx(connection), MOVED_TO)
    if where is not None:
        raise StoreMoved(str(path), where)


def version(connection: sqlite3.Connection) -> int:
    """Return how many migrations this file has."""
    found: dict[str, int] = connection.execute("PRAGMA user_version").fetchone()
    return found["user_version"]


def _schema(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the SQL of our tables, indexes and triggers, without blanks and comments."""
    made = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
    ours = [(str(row["type"]), str(row["name"]), str(row["sql"])) for row in made if row["sql"]]
    return [
        (name, " ".join(_REMARK.sub("", sql).split()))
        for kind, name, sql in ours
        if not name.startswith("sqlite_" if kind != "table" else ("sqlite_", "tasks_text_"))
    ]


@cache
def _schema_of(reached: int) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.row_factory = row_to_dict
        connection.executescript(";".join(migrations()[:reached]))
        return _schema(connection)


@cache
def migrations() -> list[str]:
    """Return the migration scripts in order; a gap in their numbers is a bug."""
    named = _migration_files()
    for number, path in enumerate(named, 1):
        assert int(path.name[:4]) == number, path  # noqa: S101 - checked by the tests of the store
    return [path.read_text(encoding="utf-8") for path in named]


def _migration_files() -> list[Path]:
    return sorted((FOLDER / "migrations").glob("*.sql"))


def recognise(path: Path) -> None:
    """Refuse a file that is not ours, or that is damaged."""
    if not path.is_file():
        raise StoreForeign(str(path), "not a file")
    with path.open("rb") as file:
        head = file.read(100)
    ours = int.from_bytes(head[68:72], "big") == APPLICATION_ID
    if not head:
        raise StoreCorrupt(str(path), "it is empty")
    if not head.startswith(_MAGIC):
        # A file of ours with a damaged header still has our application id.
        if ours:
            raise StoreCorrupt(str(path), "its header is broken")
        raise StoreForeign(str(path), "not an SQLite file")
    if not ours:
        raise StoreForeign(str(path), "an SQLite file of another program")


@contextmanager
def _open_file(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(connect(path)) as connection:
            yield connection
    except (sqlite3.Error, UnicodeError) as error:
        raise _meaning(path, error) from error


def _meaning(path: Path, error: sqlite3.Error | UnicodeError) -> RemitError:
    """Return the error: a locked file or a full disk is no damage; anything else is.

    Python cannot decode SQLite's message about a schema that is no longer text.
    """
    sentence = trouble(path, error) if isinstance(error, sqlite3.Error) else None
    return (
        sentence
        if isinstance(sentence, StoreBusy | StoreFull)
        else StoreCorrupt(str(path), str(error))
    )
