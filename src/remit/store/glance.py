"""A look into the file without an event loop: read only, for the command line."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from remit.errors import StoreNewer
from remit.store import home
from remit.store.connection import SqliteTx, as_mapping, connect, trouble

SQLITE: Final = sqlite3.sqlite_version


class Glance(SqliteTx):
    """Reads, and a number that changes whenever somebody else has written."""

    @property
    def version(self) -> int:
        found: dict[str, int] = self._connection.execute("PRAGMA data_version").fetchone()
        return found["data_version"]


@contextmanager
def glance(path: Path) -> Iterator[Glance]:
    """Open the file for reading alone; where there is none yet, an empty one is read.

    What SQLite says in a code is said in a sentence.
    """
    try:
        with closing(_open(path)) as connection:
            yield Glance(connection)
    except sqlite3.Error as error:
        raise trouble(path, error) from error


def check(path: Path) -> None:
    """Look whether the file is whole; raises `StoreTrouble` with what is wrong."""
    try:
        with closing(_open(path)) as connection:
            home.check(path, connection)
    except sqlite3.Error as error:
        raise trouble(path, error) from error


def _open(path: Path) -> sqlite3.Connection:
    if not path.exists() or path.stat().st_size == 0:
        return _empty(path)
    home.recognise(path)
    connection = connect(path, writable=False)
    reached, known = home.version(connection), len(home.migrations())
    if reached > known:
        connection.close()
        raise StoreNewer(str(path), reached, known)
    return connection


def _empty(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.row_factory = as_mapping
    home.migrate(path, connection)
    return connection
