"""The schema of a Postgres store: created, migrated, and checked, also after a restore."""

import json
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Final

import psycopg
from psycopg.rows import DictRow

from remit.errors import StoreForeign, StoreNewer, StoreTrouble
from remit.model.run import Event
from remit.store import after_restore, events, meta
from remit.store.after_restore import HeldTasks
from remit.store.database import FOLDER, Tx
from remit.store.postgres import lock
from remit.store.postgres.connection import PostgresTx, connect, location, trouble
from remit.system.files import write_atomic

VERSION: Final = "postgres_schema"  # in meta
# While machines are upgraded one by one, processes of the version before work on the new schema.
# A migration that they cannot work with raises this to its own number, one release after the
# migration that made it needless.
OLDEST: Final = "postgres_oldest_schema"  # in meta: of processes that can work on this one
OLDEST_ABLE: Final = 2
DATABASE: Final = "postgres_database"  # in meta: the server's number of this database
_MIGRATION_LOCK: Final = 0x524D4954  # "RMIT"
_OLDEST_SERVER: Final = 170000


_NUMBER: Final = (
    "SELECT CAST(oid AS TEXT) AS number FROM pg_database WHERE datname = current_database()"
)
_RECORD_DATABASE: Final = (
    f"INSERT INTO meta (key, value) SELECT '{DATABASE}', number FROM ({_NUMBER}) AS this"  # noqa: S608 - no input
    " ON CONFLICT (key) DO NOTHING"
)


def prepare(url: str) -> None:
    """Create the tables in an empty database, or apply the missing numbered migrations."""
    with connect(url) as connection:
        try:
            _refuse_unsuitable(url, connection)
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", [_MIGRATION_LOCK])
                _migrate(url, connection)
                connection.execute(_RECORD_DATABASE)
        except psycopg.Error as error:
            raise trouble(url, error) from error


def _migrate(url: str, connection: psycopg.Connection[DictRow]) -> None:
    reached, steps = version(url, connection), migrations()
    if reached > len(steps):
        if (_number(connection, OLDEST) or reached) > len(steps):
            raise StoreNewer(location(url), reached, len(steps))
        return
    for script in steps[reached:]:
        connection.execute(script)
    if reached < len(steps):
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO meta (key, value) VALUES (%s, CAST(%s AS TEXT))"
                " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                [(VERSION, str(len(steps))), (OLDEST, str(OLDEST_ABLE))],
            )


def version(url: str, connection: psycopg.Connection[DictRow]) -> int:
    """Return how many migrations this database has; 0 if it is empty."""
    tables = connection.execute(
        "SELECT to_regclass('meta') IS NOT NULL AS ours,"
        " EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema()) AS used"
    ).fetchone()
    assert tables is not None  # noqa: S101 - it always has one row
    if tables["ours"] and (known := _number(connection, VERSION)):
        return known
    if tables["used"]:
        raise StoreForeign(location(url), "it has tables of another program")
    return 0


def _number(connection: psycopg.Connection[DictRow], key: str) -> int:
    row = connection.execute("SELECT value FROM meta WHERE key = %s", [key]).fetchone()
    return int(row["value"]) if row else 0


def _refuse_unsuitable(url: str, connection: psycopg.Connection[DictRow]) -> None:
    row = connection.execute(
        "SELECT datlocprovider <> 'i' AND datcollate IN ('C', 'POSIX', 'C.UTF-8', 'C.UTF8')"
        " AND pg_encoding_to_char(encoding) = 'UTF8' AS sorts_by_bytes FROM pg_database"
        " WHERE datname = current_database()"
    ).fetchone()
    assert row is not None  # noqa: S101 - it is the one that we are connected to
    if connection.info.server_version < _OLDEST_SERVER:
        found = connection.info.server_version // 10000
        raise StoreTrouble(f"The server of {location(url)} is Postgres {found}; use 17 or newer.")
    if not row["sorts_by_bytes"]:
        raise StoreTrouble(
            f"The database {location(url)} is not in UTF-8, sorted by bytes. Create one with "
            "`createdb -T template0 -E UTF8 --locale=C NAME` and put it into `[store] url`."
        )


@cache
def migrations() -> list[str]:
    """Return the migration scripts in order; a gap in their numbers is a bug."""
    named = sorted((FOLDER / "postgres" / "migrations").glob("*.sql"))
    for number, path in enumerate(named, 1):
        assert int(path.name[:4]) == number, path  # noqa: S101 - checked by the tests of the store
    return [path.read_text(encoding="utf-8") for path in named]


_SAY_SO: Final = (
    "was put back from a dump, run `remit restore` without a file: what may be done or sent since "
    "then will wait for you."
)
FILE: Final = "last-event.json"
_EVERY: Final = 100  # events between two writes of the file


def _number_of_database(tx: Tx) -> str:
    (row,) = tx.ask(_NUMBER)
    return str(row["number"])


class LastEventFile:
    """The last event that a machine saw in a database, and after how many restores."""

    def __init__(self, home: Path, where: str) -> None:
        self._path = home / FILE
        self._where = where
        self._written = 0
        self._incarnation = 1

    def refuse_older(self, tx: Tx) -> None:
        """Refuse a database that came from a dump, and nobody said so.

        It is another one than its tables were made in, or has lost what this machine saw in it.
        """
        self._incarnation = after_restore.incarnation(tx)
        if meta.get(tx, DATABASE) not in (None, _number_of_database(tx)):
            raise StoreTrouble(
                f"{self._where} is a new database with the tables of another one. If it {_SAY_SO}"
            )
        if not self._path.exists():
            return
        seen = json.loads(self._path.read_text(encoding="utf-8"))
        if (
            seen["where"] != self._where
            or seen.get("incarnation", self._incarnation) < self._incarnation
        ):
            return
        found = events.list_after(tx, seen["seq"] - 1, 1)
        if not found or found[0].hash != seen["hash"]:
            raise StoreTrouble(
                f"{self._where} is not as this Remit left it: event {seen['seq']:,} is missing or "
                f"another one. If it {_SAY_SO}"
            )

    def follow(self, happened: Sequence[Event]) -> None:
        """Write the file now and then, as events come."""
        if happened[-1].seq >= self._written + _EVERY:
            self._write(happened[-1])

    def write_last(self, tx: Tx) -> None:
        self._incarnation = after_restore.incarnation(tx)
        found = events.list_after(tx, events.last(tx) - 1, 1)
        if found:
            self._write(found[0])

    def _write(self, event: Event) -> None:
        content = {"where": self._where, "seq": event.seq, "hash": event.hash}
        content["incarnation"] = self._incarnation
        write_atomic(self._path, json.dumps(content))
        self._written = event.seq


def write_last_event(url: str, seen: LastEventFile) -> None:
    """Write down the last event of a database that nobody here has open any more."""
    with closing(PostgresTx(url, partial(connect, url))) as tx:
        try:
            seen.write_last(tx)
        except psycopg.Error as error:
            raise tx.explain(error) or error from error


def hold_back(url: str, home: Path, now: datetime) -> HeldTasks:
    """Pause, doubt and ask, as after the restore of a file; from then on Remit starts again."""
    with lock.only_process(url):
        prepare(url)
        with closing(PostgresTx(url, partial(connect, url))) as tx:
            tx.begin()
            held = after_restore.hold_back(tx, now)
            meta.put(tx, DATABASE, _number_of_database(tx))
            tx.commit()
            LastEventFile(home, location(url)).write_last(tx)
    return held
