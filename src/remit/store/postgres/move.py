"""Copies a store from its file to a Postgres database, all of it or nothing.

The file is marked as moved before the copy is committed. So at no moment can two Remits work on
the same tasks: an interrupted move leaves a file that nobody opens, and can be run again.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import psycopg
from msgspec import Struct
from psycopg import sql

from remit.errors import Conflict, StoreCorrupt
from remit.failpoint import failpoint
from remit.files.kept_files import KeptFiles
from remit.store import audit, events, home, meta
from remit.store.connection import SqliteTx, connect, trouble
from remit.store.postgres import lock, schema
from remit.store.postgres.connection import PostgresTx, location
from remit.store.postgres.connection import connect as connect_postgres
from remit.store.postgres.files import put_copies

# Tables that others refer to come first; `moves` and the version of the schema are there already.
_FIRST: Final = "tasks"
_LEFT_OUT: Final = frozenset(
    {
        "documents",
        "duties",
        "file_contents",
        "journal",
        "moves",
        "rates",
        "secret_fingerprints",
        "tasks_text",
        "tasks_words",
        "unsealed",
        "work_copies",
        "worker_loads",
    }
)
_WITH_TRIGGERS: Final = ("tasks", "turns")  # they would make again what is copied
_ROWS_AT_ONCE: Final = 1000

Tell = Callable[[float], None]


class MoveResult(Struct, frozen=True):
    tasks: int
    events: int


def move(source: Path, url: str, tell: Tell, files: KeptFiles | None = None) -> MoveResult:
    """Copy a file whose directory the caller has locked, and the files of its tasks.

    `tell` gets the share that is done.
    """
    with lock.only_process(url):
        schema.prepare(url)
        try:
            with closing(connect(source)) as file:
                home.refuse_newer(source, file)
                home.check(source, file)
                home.migrate(file)
                return _copy(file, url, tell, files)
        except sqlite3.Error as error:
            raise trouble(source, error) from error


def _copy(file: sqlite3.Connection, url: str, tell: Tell, files: KeptFiles | None) -> MoveResult:
    ours, where = SqliteTx(file), location(url)
    with closing(PostgresTx(url, lambda: connect_postgres(url))) as theirs:
        theirs.begin()
        try:
            if not _is_copied(ours, theirs, where):
                _copy_tables(file, theirs.connection, tell)
            if files is not None:
                put_copies(files, theirs.connection)
            result = _compare(ours, theirs, where)
            ours.begin()
            meta.put(ours, home.MOVED_TO, where)
            ours.commit()
            failpoint("move:marked")
            theirs.commit()
            failpoint("move:done")
        except Exception as error:
            theirs.rollback()
            raise (theirs.explain(error) or error) from error
    return result


def _is_copied(ours: SqliteTx, theirs: PostgresTx, where: str) -> bool:
    """Whether an interrupted move got so far; a database that is used otherwise is refused."""
    tasks, entries, _ = _counts(theirs)
    if not tasks and not entries:
        return False
    if meta.get(ours, home.MOVED_TO) != where or _counts(ours) != _counts(theirs):
        raise Conflict(f"{where} is in use: it has tasks or events. Move to an empty database.")
    return True


def _copy_tables(
    file: sqlite3.Connection, server: "psycopg.Connection[dict[str, object]]", tell: Tell
) -> None:
    columns = _columns(server)
    for table in _WITH_TRIGGERS:
        server.execute(_compose_query("ALTER TABLE {} DISABLE TRIGGER USER", table))
    server.execute("DELETE FROM meta WHERE key <> %s", [schema.VERSION])
    sizes = {table: _count(file, table) for table in columns}
    whole, done = sum(sizes.values()) or 1, 0
    for table, names in columns.items():
        for page in _pages(file, table, names):
            _write(server, table, names, page)
            done += len(page)
            tell(done / whole)
    server.execute("DELETE FROM meta WHERE key = %s", [home.MOVED_TO])
    server.execute(
        "INSERT INTO tasks_text (rowid, words) SELECT no, task_words(title, instructions,"
        " result_summary) FROM tasks"
    )
    _restart_numbers(server)
    for table in _WITH_TRIGGERS:
        server.execute(_compose_query("ALTER TABLE {} ENABLE TRIGGER USER", table))


def _columns(server: "psycopg.Connection[dict[str, object]]") -> dict[str, list[str]]:
    """Return the tables to copy with their columns, which are the same in both databases."""
    found: dict[str, list[str]] = {_FIRST: []}
    query = (
        "SELECT table_name AS t, column_name AS c FROM information_schema.columns"
        " WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position"
    )
    for row in server.execute(query):
        if row["t"] not in _LEFT_OUT:
            found.setdefault(str(row["t"]), []).append(str(row["c"]))
    return found


def _count(file: sqlite3.Connection, table: str) -> int:
    row = file.execute(f"SELECT COUNT(*) AS n FROM {table}").fetchone()  # noqa: S608 - our tables
    return int(row["n"])


def _pages(
    file: sqlite3.Connection, table: str, names: list[str]
) -> Iterator[list[dict[str, object]]]:
    found = file.execute(f"SELECT {', '.join(names)} FROM {table}")  # noqa: S608 - as above
    while page := found.fetchmany(_ROWS_AT_ONCE):
        yield page


def _write(
    server: "psycopg.Connection[dict[str, object]]",
    table: str,
    names: list[str],
    page: list[dict[str, object]],
) -> None:
    listed = sql.SQL(", ").join(map(sql.Identifier, names))
    query = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), listed)
    with server.cursor() as cursor, cursor.copy(query) as copy:
        for row in page:
            copy.write_row([row[name] for name in names])


def _restart_numbers(server: "psycopg.Connection[dict[str, object]]") -> None:
    """Let the next number of a table follow the highest that was copied."""
    query = (
        "SELECT table_name AS t, column_name AS c FROM information_schema.columns"
        " WHERE table_schema = current_schema() AND is_identity = 'YES'"
    )
    for row in server.execute(query).fetchall():
        table, column = str(row["t"]), str(row["c"])
        highest = sql.SQL("(SELECT COALESCE(MAX({}), 0) + 1 FROM {})").format(
            sql.Identifier(column), sql.Identifier(table)
        )
        counter = sql.SQL("SELECT setval(pg_get_serial_sequence({}, {}), {}, FALSE)")
        server.execute(counter.format(sql.Literal(table), sql.Literal(column), highest))


def _compose_query(query: str, table: str) -> sql.Composed:
    return sql.SQL(query).format(sql.Identifier(table))


def _compare(ours: SqliteTx, theirs: PostgresTx, where: str) -> MoveResult:
    """Refuse a copy whose journal, tasks or numbers are not those of the file."""
    found = next(audit.complaints(theirs), None)
    counted = [_counts(each) for each in (ours, theirs)]
    if found is None and counted[0] != counted[1]:
        found = f"it has {counted[1]} instead of {counted[0]}"
    if found is not None:
        raise StoreCorrupt(where, found)
    tasks, entries, _ = counted[1]
    return MoveResult(tasks, entries)


def _counts(tx: SqliteTx | PostgresTx) -> tuple[int, int, bytes | None]:
    (row,) = tx.ask("SELECT COUNT(*) AS n FROM tasks")
    last = tx.one("last_event")
    return int(str(row["n"])), events.last(tx), last["hash"] if last else None  # type: ignore[return-value]
