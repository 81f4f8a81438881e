"""The directory and the file: locked, checked, migrated, never replaced by an empty one."""

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Final

from remit.errors import HomeLocked, StoreCorrupt, StoreForeign, StoreNewer
from remit.store.audit import complaints
from remit.store.connection import APPLICATION_ID, SqliteTx, connect

_MAGIC: Final = b"SQLite format 3\x00"
_WHOLE_CHECK_BYTES: Final = 64 * 1024 * 1024


@contextmanager
def lock(home: Path) -> Iterator[None]:
    """Hold the directory for one process; a second one is told who has it."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (home / "lock").open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise HomeLocked(str(home), file.read().strip() or "process unknown") from None
        file.truncate(0)
        file.write(f"process {os.getpid()}")
        file.flush()
        yield


def is_locked(home: Path) -> bool:
    """Whether a process works in this directory now."""
    path = home / "lock"
    if not path.exists():
        return False
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def prepare(path: Path) -> None:
    """Make the file if there is none; else check it whole and bring its schema up to date."""
    if not path.exists() or path.stat().st_size == 0:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.with_name(path.name + "-wal").exists():
            what = "it is empty, but its log is not"
            raise StoreCorrupt(str(path), what)
        path.touch(mode=0o600)
        fresh = True
    else:
        fresh = False
        recognise(path)
    with closing(_open(path)) as connection:
        if not fresh:
            check(path, connection)
        migrate(path, connection)


def check(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a damaged file with a sentence; small files are compared with their journal too."""
    small = path.stat().st_size <= _WHOLE_CHECK_BYTES
    pragma = "integrity_check" if small else "quick_check"
    try:
        rows = connection.execute(f"PRAGMA {pragma}(3)").fetchall()
        found = [said for row in rows if (said := next(iter(row.values()))) != "ok"]
        if not found and version(connection):
            found = list(complaints(SqliteTx(connection), whole=small))[:3]
    except (sqlite3.DatabaseError, ValueError) as error:
        found = [str(error)]
    if found:
        raise StoreCorrupt(str(path), "; ".join(found))


def migrate(path: Path, connection: sqlite3.Connection) -> None:
    """Apply the numbered migrations that this file has not seen, each in one transaction."""
    steps = migrations()
    reached = version(connection)
    if reached > len(steps):
        raise StoreNewer(str(path), reached, len(steps))
    connection.execute("PRAGMA journal_mode = WAL")
    for number, script in enumerate(steps[reached:], reached + 1):
        connection.executescript(
            f"BEGIN IMMEDIATE; {script}; PRAGMA application_id = {APPLICATION_ID};"
            f" PRAGMA user_version = {number}; COMMIT;"
        )


def version(connection: sqlite3.Connection) -> int:
    """How many migrations this file has seen."""
    found: dict[str, int] = connection.execute("PRAGMA user_version").fetchone()
    return found["user_version"]


def migrations() -> list[str]:
    """The scripts, in order; a gap in their numbers would be a mistake of ours."""
    folder = files("remit.store").joinpath("sql", "migrations")
    named = sorted((item.name, item) for item in folder.iterdir() if item.name.endswith(".sql"))
    for number, (name, _) in enumerate(named, 1):
        assert int(name[:4]) == number, name  # noqa: S101 - checked by the tests of the store
    return [item.read_text(encoding="utf-8") for _, item in named]


def recognise(path: Path) -> None:
    """Refuse a file that is not ours."""
    with path.open("rb") as file:
        head = file.read(100)
    if not head.startswith(_MAGIC):
        # A file of ours whose first bytes were damaged still carries our mark at its place.
        if int.from_bytes(head[68:72], "big") == APPLICATION_ID:
            raise StoreCorrupt(str(path), "its header is broken")
        raise StoreForeign(str(path), "not an SQLite file")
    mark = int.from_bytes(head[68:72], "big")
    if mark != APPLICATION_ID:
        raise StoreForeign(str(path), "an SQLite file of another program")


def _open(path: Path) -> sqlite3.Connection:
    try:
        return connect(path)
    except sqlite3.DatabaseError as error:
        raise StoreCorrupt(str(path), str(error)) from error
