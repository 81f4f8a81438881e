"""The statements in the dialect that SQLite and Postgres share: a real Postgres prepares each."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from remit.store.connection import as_mapping
from remit.store.database import FOLDER, statements
from remit.store.home import migrations
from tests.store.postgres import Postgres, postgres, translated

SCHEMA = FOLDER / "postgres" / "schema.sql"
# On Postgres these need a text of their own.
ONLY_SQLITE = {
    "count_hits": "full text: an FTS5 table",
    "find_word": "full text: the words of an FTS5 table",
    "list_tasks_by_words": "full text: an FTS5 table and bm25",
    "find_table": "asks which tables the file of an older Remit has",
    "list_next_starts": "the columns of the row with the smallest start: DISTINCT ON there",
    "resume_task": "adds to a list inside a JSON document: `||` on JSONB there",
}
FULL_TEXT = re.compile(r"tasks_(text|words)")


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres() as server:
        done = server.psql(f"\\set ON_ERROR_STOP 1\n{SCHEMA.read_text()}\n\\echo made")
        assert done.strip() == "made"
        yield server


def test_every_statement_but_a_few_prepares_on_postgres(server: Postgres) -> None:
    script = [
        f"PREPARE statement AS {translated(sql)}\n"
        f"\\echo {name} :ERROR :LAST_ERROR_MESSAGE\n"
        "DEALLOCATE ALL;"
        for name, sql in statements().items()
    ]

    said = [line.split(" ", 2) for line in server.psql("\n".join(script)).splitlines()]

    assert [name for name, *_ in said] == list(statements())
    refused = {name: why for name, error, *why in said if error == "true"}
    assert {name: why for name, why in refused.items() if name not in ONLY_SQLITE} == {}
    assert set(ONLY_SQLITE) - set(refused) == set(), "these prepare: take them off the list"


def test_no_statement_means_something_else_on_postgres() -> None:
    """There `->> '$.x'` asks for the name `$.x`, and "x" is a column, never a text."""
    shared = {name: sql for name, sql in statements().items() if name not in ONLY_SQLITE}

    other = re.compile(r"->>? *'\$|\"|\bLIMIT -")
    assert [n for n, sql in shared.items() if other.search(re.sub(r"--.*", "", sql))] == []


def test_both_schemas_have_the_same_tables_indexes_and_triggers(server: Postgres) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = as_mapping
        connection.executescript(";".join(migrations()))
        query = "SELECT type, name FROM sqlite_schema WHERE sql IS NOT NULL"
        moves = {(row["was"], row["now"]) for row in connection.execute("SELECT * FROM moves")}
        made = {(row["type"], row["name"]) for row in connection.execute(query)}
        made = {each for each in made if not FULL_TEXT.match(each[1])}
        columns = {
            (table, row["name"], bool(row["notnull"] or row["pk"]))
            for kind, table in made
            if kind == "table"
            for row in connection.execute(f"PRAGMA table_info({table})")
        }

    theirs = server.rows(
        "SELECT 'table', tablename FROM pg_tables WHERE schemaname = 'public' UNION ALL"
        " SELECT 'index', indexname FROM pg_indexes JOIN pg_class ON relname = indexname"
        " WHERE schemaname = 'public' AND NOT EXISTS"
        " (SELECT 1 FROM pg_constraint WHERE conindid = pg_class.oid) UNION ALL"
        " SELECT 'trigger', tgname FROM pg_trigger WHERE NOT tgisinternal"
    )
    assert {(kind, name) for kind, name in theirs} == made
    found = server.rows(
        "SELECT table_name, column_name, is_nullable FROM information_schema.columns"
        " WHERE table_schema = 'public'"
    )
    assert {(table, column, null == "NO") for table, column, null in found} == columns
    assert {(was, now) for was, now in server.rows("SELECT was, now FROM moves")} == moves
