"""What the databases share, what Postgres has of its own, and a store that moved there."""

import re
import sqlite3
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from remit.errors import BadInput, Conflict, StoreAway, StoreBusy, StoreFull, StoreTrouble
from remit.files.kept_files import KeptFiles
from remit.model.conversation import Action, Conversation, Role, TaskRef
from remit.model.ids import ConversationId
from remit.model.reply import Usage
from remit.model.status import Status
from remit.store import conversations, cues, home, spending, tasks
from remit.store.connection import row_to_dict
from remit.store.conversations import NewTurnRecord
from remit.store.cues import Arrival, InboundCaps
from remit.store.database import load_statements, statements
from remit.store.home import migrations
from remit.store.postgres import schema
from remit.store.postgres.connection import OVERRIDES, location, postgres_statements, trouble
from remit.store.postgres.files import StoredFiles
from remit.store.postgres.move import MoveResult, move
from remit.store.read_only import open_read_only
from tests.store.postgres import Postgres
from tests.store.scene import AT, PostgresScene, Scene
from tests.tables import for_each

# Full text, and what only several processes on one database need.
OWN = re.compile(
    r"tasks_(text|words)|unsealed|journal|duties|worker_loads|rates|documents|file_contents"
    r"|secret_fingerprints|work_copies"
)


def test_every_statement_prepares_on_postgres(postgres_server: Postgres) -> None:
    refused = {}
    with psycopg.connect(postgres_server.store, autocommit=True) as connection:
        for name, sql in postgres_statements(locking=True).items():
            try:
                connection.execute(f"PREPARE statement AS {_numbered(sql)}")
                connection.execute("DEALLOCATE statement")
            except psycopg.Error as error:
                refused[name] = str(error)

    assert refused == {}


def test_a_statement_of_postgres_overrules_one_that_exists() -> None:
    assert set(load_statements(OVERRIDES)) - set(statements()) == set()


def test_no_statement_means_something_else_on_postgres() -> None:
    """There `->> '$.x'` asks for the name `$.x`, and "x" is a column, never a text."""
    own = load_statements(OVERRIDES)
    shared = {name: sql for name, sql in statements().items() if name not in own}

    other = re.compile(r"->>? *'\$|\"|\bLIMIT -")
    assert [n for n, sql in shared.items() if other.search(re.sub(r"--.*", "", sql))] == []


def test_both_schemas_have_the_same_tables_indexes_and_triggers(postgres_server: Postgres) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = row_to_dict
        connection.executescript(";".join(migrations()))
        query = "SELECT type, name FROM sqlite_schema WHERE sql IS NOT NULL"
        moves = {(row["was"], row["now"]) for row in connection.execute("SELECT * FROM moves")}
        made = {(row["type"], row["name"]) for row in connection.execute(query)}
        made = {each for each in made if not OWN.match(each[1])}
        columns = {
            (table, row["name"], bool(row["notnull"] or row["pk"]))
            for kind, table in made
            if kind == "table"
            for row in connection.execute(f"PRAGMA table_info({table})")
        }

    theirs = _rows(
        postgres_server,
        "SELECT 'table', tablename FROM pg_tables WHERE schemaname = 'public' UNION ALL"
        " SELECT 'index', indexname FROM pg_indexes JOIN pg_class ON relname = indexname"
        " WHERE schemaname = 'public' AND NOT EXISTS"
        " (SELECT 1 FROM pg_constraint WHERE conindid = pg_class.oid) UNION ALL"
        " SELECT 'trigger', tgname FROM pg_trigger WHERE NOT tgisinternal",
    )
    assert {each for each in theirs if not OWN.match(each[1])} == made
    found = _rows(
        postgres_server,
        "SELECT table_name, column_name, is_nullable FROM information_schema.columns"
        " WHERE table_schema = 'public'",
    )
    assert {
        (table, column, null == "NO") for table, column, null in found if not OWN.match(table)
    } == columns
    assert {
        (was, now) for was, now in _rows(postgres_server, "SELECT was, now FROM moves")
    } == moves


MEANING = {
    "23505": Conflict,
    "P0001": Conflict,
    "53100": StoreFull,
    "55P03": StoreBusy,
    "42601": StoreTrouble,
    "57P01": StoreAway,
}


@for_each("code", MEANING)
def test_an_error_of_the_server_is_a_sentence_without_the_password(code: str) -> None:
    error = psycopg.errors.lookup(code)("it went wrong")

    said = trouble("postgresql://me:secret@db/remit", error)

    assert type(said) is MEANING[code]
    assert "secret" not in str(said)


_TO = 'connection failed: connection to server at "::1", port 5432 failed: '
NOT_REACHED = {
    f'{_TO}FATAL:  password authentication failed for user "me"': (
        'password authentication failed for user "me". Check PGPASSWORD or ~/.pgpass'
    ),
    f"{_TO}fe_sendauth: no password supplied": "no password supplied. Check PGPASSWORD",
    f"{_TO}Connection refused\n\tIs the server running on that host and accepting TCP/IP "
    "connections?": "Connection refused. Check the address",
    f'{_TO}FATAL:  database "remit" does not exist': 'database "remit" does not exist. Check the',
    "consuming input failed: server closed the connection unexpectedly\n\tThis probably means the "
    "server terminated": "server closed the connection unexpectedly. Check the address",
}


@for_each(("error", "reason"), NOT_REACHED.items())
def test_why_there_is_no_connection_is_said_once(error: str, reason: str) -> None:
    said = trouble("postgresql://me:secret@db/remit", psycopg.OperationalError(error))

    assert f"The database postgresql://db/remit cannot be reached: {reason}" in str(said)


def test_a_server_that_is_too_old_is_refused(
    postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "_OLDEST_SERVER", 990000)

    with pytest.raises(StoreTrouble, match="use 17 or newer"):
        schema.prepare(postgres_server.store)


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with (
        pytest.raises(BadInput, match=r"remit\[postgres\]"),
        open_read_only("postgresql://db/remit"),
    ):
        pass


def _numbered(sql: str) -> str:
    """Return a statement with the parameters as PREPARE takes them."""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        name = found[1] or f"no name {len(names)}"
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return re.sub(r"%(?:\((\w+)\))?s", number, sql).replace("%%", "%")


def _rows(server: Postgres, query: str) -> set[tuple[str, ...]]:
    with psycopg.connect(server.store) as connection:
        return {tuple(map(str, row)) for row in connection.execute(query)}


# A store that moved -------------------------------------------------------------------------------

OWN_KEYS = (home.MOVED_TO, "postgres_schema", "postgres_oldest_schema")
ONLY_ONE_HAS = (
    "sqlite_",
    "tasks_text",
    "tasks_words",
    "documents",
    "duties",
    "unsealed",
    "worker_loads",
    "rates",
    "file_contents",
    "secret_fingerprints",
    "work_copies",
)


def populate(scene: Scene) -> None:
    made = [scene.standing(status) for status in Status]
    scene.do(tasks.delete, made[-1].id, scene.wait())
    talk = Conversation(ConversationId("conv-1"), "Plants", AT, AT)
    refs = (TaskRef(made[0].id, Action.CREATED),)
    said = NewTurnRecord(role=Role.USER, content="Water it", task_refs=refs)
    scene.do(conversations.begin, talk)
    scene.do(conversations.say, talk.id, said, AT)
    scene.do(spending.reserve, "key", made[0], Usage(10, 1, 1), [], AT)
    arrival = Arrival(ref="mail-1", door="mail", body={"subject": "Grüße"})
    scene.do(cues.come, arrival, InboundCaps(), AT, AT - timedelta(hours=9))
    scene.sql(
        "INSERT INTO snippets (task_id, words, beside, vector) VALUES (?, 'a', 'b', ?)",
        made[0].id,
        b"\x00\xff\x10",
    )


def test_every_row_is_there_as_it_was(tmp_path: Path, postgres_server: Postgres) -> None:
    old = Scene(tmp_path / "agent.db")
    populate(old)
    shares: list[float] = []

    near = KeptFiles(tmp_path / "files")
    file = near.keep("notes.txt", b"words\n")

    moved = move(old.path, postgres_server.store, shares.append, near)

    assert StoredFiles(tmp_path / "other", postgres_server.store).read(file.sha256) == b"words\n"
    new = PostgresScene(postgres_server.store)
    before, after = old.image(), new.image()
    for rows in (before["meta"], after["meta"]):
        rows[:] = [row for row in rows if row["key"] not in OWN_KEYS]
    assert {
        table: sorted(map(str, rows))
        for table, rows in before.items()
        if not table.startswith(ONLY_ONE_HAS)
    } == {
        table: sorted(map(str, rows))
        for table, rows in after.items()
        if not table.startswith(ONLY_ONE_HAS)
    }
    assert moved == MoveResult(len(Status), len(before["events"]))
    assert shares[-1] == 1.0
    assert new.complaints() == []
    new.ids = old.ids
    assert new.admit("The next one").id
    (row,) = new.sql("SELECT no FROM tasks ORDER BY no DESC LIMIT 1")
    assert row["no"] == len(Status) + 1
    old.close()
    new.close()
    postgres_server.wipe()


@for_each(
    ("url", "name"),
    {
        "postgresql://remit:secret@db:5433/remit": "postgresql://db:5433/remit",
        "postgresql://db/remit": "postgresql://db/remit",
        "host=one,two port=5433 dbname=remit": "postgresql://one:5433,two:5433/remit",
        "host=/run/pg port=5433 dbname=remit": "postgresql:///run/pg:5433/remit",
    }.items(),
)
def test_two_servers_of_one_host_have_two_names_and_no_password(url: str, name: str) -> None:
    assert location(url) == name
