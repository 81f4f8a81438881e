"""A connection to the SQLite file, its transaction, and the meaning of its errors."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from remit.errors import Conflict, RemitError, StoreBusy, StoreCorrupt, StoreFull, StoreTrouble
from remit.model.run import Event
from remit.store.database import Cell, JournalTail, Params, Row, statement

APPLICATION_ID: Final = 0x524D4954  # "RMIT"
BUSY_SECONDS: Final = 20
# The system keeps the file in memory anyway, once for all connections.
_WRITER_CACHE_KIB: Final = 2 * 1024
_READER_CACHE_KIB: Final = 2 * 1024


def connect(path: Path, *, writable: bool = True, busy: float = BUSY_SECONDS) -> sqlite3.Connection:
    """Open the existing file; never create one. Wait `busy` seconds for another program's lock."""
    mode = "rw" if writable else "ro"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=busy,
        cached_statements=256,
        check_same_thread=False,
    )
    connection.row_factory = row_to_dict
    cache = _WRITER_CACHE_KIB if writable else _READER_CACHE_KIB
    connection.execute(f"PRAGMA cache_size = -{cache}")
    connection.execute("PRAGMA foreign_keys = ON")
    # Otherwise INSERT OR REPLACE would delete a row without firing the triggers that protect it.
    connection.execute("PRAGMA recursive_triggers = ON")
    if writable:
        connection.execute("PRAGMA journal_mode = WAL")
        # Every commit is on disk before anybody hears of it: a claim lost in a power cut would
        # become a second message. Group commit makes that cheap.
        connection.execute("PRAGMA synchronous = FULL")
    else:
        connection.execute("PRAGMA query_only = ON")
    return connection


def row_to_dict(cursor: sqlite3.Cursor, row: tuple[Cell, ...]) -> dict[str, Cell]:
    # sqlite3.Row searches all columns for a name, each time; for wide rows a dict is 5x faster.
    return {column[0]: cell for column, cell in zip(cursor.description, row, strict=True)}


class SqliteTx:
    """Statements by name over one connection."""

    shared: Final = False

    def __init__(
        self, connection: sqlite3.Connection, path: Path = Path(), busy: float = BUSY_SECONDS
    ) -> None:
        self._connection = connection
        self._path = path
        self._busy = busy
        self.tail: JournalTail | None = None
        self.appended: list[Event] = []  # to the journal, in this transaction
        self.committed: list[Event] = []  # until somebody takes them

    def one(self, name: str, params: Params = ()) -> Row | None:
        row: Row | None = self._connection.execute(statement(name), params).fetchone()
        return row

    def all(self, name: str, params: Params = ()) -> list[Row]:
        return self._connection.execute(statement(name), params).fetchall()

    def run(self, name: str, params: Params = ()) -> int:
        return self._connection.execute(statement(name), params).rowcount

    def ask(self, sql: str, params: Params = ()) -> list[Row]:
        return self._connection.execute(sql, params).fetchall()

    @property
    def changes(self) -> int:
        return self._connection.total_changes

    def begin(self, verbs: Sequence[str] = (), *, wait: bool = True) -> bool:
        del verbs  # there is one writer at a time
        if not wait:
            self._connection.execute("PRAGMA busy_timeout = 0")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            if wait:
                raise
            return False
        finally:
            if not wait:
                self._connection.execute(f"PRAGMA busy_timeout = {int(self._busy * 1000)}")
        return True

    def look(self, *, single: bool = False) -> None:
        """Begin to read: everything after this sees one moment. A single query needs no more."""
        if not single:
            self._connection.execute("BEGIN")

    def commit(self) -> None:
        self._connection.execute("COMMIT")
        self.committed += self.appended
        self.appended.clear()

    def savepoint(self) -> None:
        """What follows can be taken back alone, until the savepoint is released."""
        self._connection.execute("SAVEPOINT job")

    def rollback_to_savepoint(self, events: int) -> bool:
        """Take back all since the savepoint but the first events; False if nothing is left."""
        if not self._connection.in_transaction:
            return False
        self.tail = None
        del self.appended[events:]
        self._connection.execute("ROLLBACK TO job")
        self.release_savepoint()
        return True

    def release_savepoint(self) -> None:
        self._connection.execute("RELEASE job")

    def rollback(self) -> None:
        self.tail = None
        self.appended.clear()
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        # No PRAGMA optimize: by the statistics of a young file SQLite would take other indexes, and
        # sort and scan in an old one. Without any it takes those that were made for the question.
        self._connection.close()

    def explain(self, error: Exception) -> RemitError | None:
        if not isinstance(error, sqlite3.Error):
            return None
        return trouble(self._path, error, self._busy)

    def can_go_on_after(self, error: Exception) -> bool:
        # After an operational error nobody knows how much of the transaction is left.
        return not isinstance(error, sqlite3.OperationalError)

    def should_run_again(self) -> bool:
        return False


def trouble(path: Path, error: sqlite3.Error, busy: float = BUSY_SECONDS) -> RemitError:
    """Turn an SQLite error into an error with a sentence."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR | sqlite3.SQLITE_READONLY:
            return StoreFull(str(path), str(error))
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(str(path), busy)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreCorrupt(str(path), str(error))
        case sqlite3.SQLITE_CONSTRAINT:
            return Conflict(f"The store refused the write: {error}.")
        case _:
            return StoreTrouble(f"The store could not do that: {error}.")
