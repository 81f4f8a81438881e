"""Read-only access to the file without an event loop, for the command line."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Final, Protocol

from remit.errors import StoreMoved, StoreNewer
from remit.model.ids import TaskId
from remit.model.task import Source, SourceKind
from remit.store import home
from remit.store.connection import SqliteTx, connect, row_to_dict, trouble
from remit.store.database import Tx
from remit.store.postgres import refuse_without_driver

SQLITE: Final = sqlite3.sqlite_version
# Callers under which the server stores the keys of new tasks.
_ADDS: Final = ("owner POST /api/messages", "owner POST /api/tasks")


class ReadOnlyStore(Tx, Protocol):
    """Reads, plus a number that changes when somebody else has written."""

    @property
    def version(self) -> int: ...

    def snapshot(self) -> AbstractContextManager[None]:
        """Everything read inside sees the store at one moment."""


class ReadOnlyFile(SqliteTx):
    @property
    def version(self) -> int:
        found: dict[str, int] = self._connection.execute("PRAGMA data_version").fetchone()
        return found["data_version"]

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside sees the file at one moment."""
        self.look()
        try:
            yield
        finally:
            self.rollback()


@contextmanager
def open_read_only(path: Path | str) -> Iterator[ReadOnlyStore]:
    """Open the store read-only; a missing file reads as an empty one.

    Errors of the database become errors with a sentence.
    """
    if isinstance(path, str):
        refuse_without_driver()
        from remit.store.postgres.read_only import open_server_read_only  # noqa: PLC0415 - an extra

        with open_server_read_only(path) as tx:
            yield tx
        return
    try:
        with closing(_open(path)) as connection:
            yield ReadOnlyFile(connection)
    except sqlite3.Error as error:
        raise trouble(path, error) from error


def location(path: Path | str) -> str:
    """Return where the store is, without a password."""
    if isinstance(path, Path):
        return str(path)
    from remit.store.postgres.connection import location as server  # noqa: PLC0415 - an extra

    return server(path)


def by_key(tx: Tx, key: str) -> list[TaskId]:
    """Return the tasks that a key of `remit add` created, through the server or directly."""
    from remit.store import messages  # noqa: PLC0415 - only for who gave a key

    straight = messages.of_message(tx, Source(SourceKind.MANUAL, f"key:{key}"))
    if straight:
        return [task.id for task in straight]
    for caller in _ADDS:
        kept = tx.one("get_key", {"caller": caller, "key": f"key:{key}"})
        if kept is not None and not kept["status"]:  # it was killed before its answer was stored
            made = messages.of_message(tx, Source(SourceKind.MANUAL, str(kept["body"])))
            if made:
                return [task.id for task in made]
        elif kept is not None:
            content = json.loads(str(kept["body"]))["content"]
            return [TaskId(str(each["id"])) for each in content.get("tasks", [content])]
    return []


def check(path: Path) -> None:
    """Check the file's integrity; raises `StoreTrouble` with what is wrong."""
    try:
        with closing(_open(path)) as connection, ReadOnlyFile(connection).snapshot():
            home.check(path, connection)
    except sqlite3.Error as error:
        raise trouble(path, error) from error


def _open(path: Path) -> sqlite3.Connection:
    if not path.exists():
        return _empty()
    home.recognise(path)
    connection = connect(path, writable=False)
    try:
        home.refuse_newer(path, connection)
        home.refuse_moved(path, connection)
    except (StoreNewer, StoreMoved):
        connection.close()
        raise
    return connection


def _empty() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.row_factory = row_to_dict
    home.migrate(connection)
    return connection
