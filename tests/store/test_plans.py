"""What is asked often is looked up, not searched for: the indexes that SQLite really takes."""

import re
from collections.abc import Iterator

import pytest

from remit.model.ids import SessionId
from remit.model.status import Status
from remit.model.task import Priority, SourceKind, TaskType
from remit.store import search
from remit.store.connection import SqliteTx
from remit.store.database import SQL, Params, Row, statement
from remit.store.search import Filter
from tests.store.scene import Scene

EVERY = sorted(path.stem for path in SQL.glob("*.sql"))
# These read a whole table or index on purpose.
WHOLE = {
    "audit_gaps": "at the start, of small files",
    "audit_reviews": "at the start, of small files",
    "audit_sends": "at the start, of small files",
    "count_by_status": "along two small indexes",
    "doubt_all_sends": "once, after a restore",
    "last_event": "its first row, from the end",
    "list_open_reviews": "the index holds only what is open",
    "list_orphans": "the index holds only what is held",
    "sweep_keys": "now and then, of a day's keys",
}
INTENDED = {
    "find_due": "tasks_due (queue=? AND due_at<?)",
    "list_due": "tasks_due (queue=? AND due_at<?)",
    "next_due": "tasks_due (queue=? AND due_at>?)",
    "list_session_tasks": "tasks_by_session (session_id=?)",
    "list_task_events": "events_by_task (task_id=? AND n>?)",
    "list_open_reviews": "reviews_open",
    "list_orphans": "tasks_held",
    "list_ids_like": "sqlite_autoindex_tasks_1 (id>? AND id<?)",
}


@pytest.fixture(params=["fresh", "after ANALYZE"])
def stocked(scene: Scene, request: pytest.FixtureRequest) -> Scene:
    """A file with tasks in it, and one whose statistics SQLite knows: plans may change by them."""
    if request.param != "fresh":
        for _ in range(30):
            for status in (Status.NEW, Status.READY, Status.COMPLETED, Status.NEEDS_REVIEW):
                scene.standing(status)
        scene.sql("ANALYZE")
        scene.sql("ANALYZE sqlite_schema")
    return scene


def plan(scene: Scene, sql: str, params: Params) -> list[str]:
    found = scene.connection.execute("EXPLAIN QUERY PLAN " + sql, params).fetchall()
    return [str(row["detail"]) for row in found]


@pytest.mark.parametrize("name", EVERY)
def test_no_statement_reads_a_whole_table_by_accident(stocked: Scene, name: str) -> None:
    steps = _plan_of(stocked, name)

    scans = [step for step in steps if re.match(r"SCAN \w+(?! VIRTUAL)( USING|$)", step)]
    assert bool(scans) is (name in WHOLE), steps


@pytest.mark.parametrize("name", INTENDED)
def test_what_the_engine_asks_goes_along_the_index_made_for_it(stocked: Scene, name: str) -> None:
    steps = _plan_of(stocked, name)

    assert INTENDED[name] in " | ".join(steps)
    assert "TEMP B-TREE" not in " ".join(steps)


def test_whether_a_session_is_free_is_looked_up(stocked: Scene) -> None:
    assert "SEARCH other USING INDEX tasks_held (session_id=?)" in _plan_of(stocked, "list_due")


PAGES = {
    "all": (Filter(), "SCAN tasks"),
    "the next page": (Filter(before=None), "SCAN tasks"),
    "a status": (Filter(statuses=(Status.READY,)), "tasks_by_status (status=?)"),
    "a session": (Filter(session=SessionId("s")), "tasks_by_session (session_id=?)"),
    "deleted": (Filter(deleted=True), "tasks_deleted (status=?)"),
    "a source": (Filter(source=SourceKind.MANUAL), "SCAN tasks"),
    "a type": (Filter(type=TaskType.IMMEDIATE), "SCAN tasks"),
    "a priority": (Filter(priority=Priority.LOW), "SCAN tasks"),
    "words": (Filter(text="plants"), "tasks_text VIRTUAL TABLE"),
    "words and a status": (
        Filter(text="plants", statuses=(Status.READY,)),
        "tasks_text VIRTUAL TABLE",
    ),
}


@pytest.mark.parametrize("what", PAGES)
def test_no_page_sorts_what_it_does_not_show(
    stocked: Scene, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """`SCAN tasks` is the table from its end, in the order of the page, until the page is full."""
    wanted, way = PAGES[what]
    seen = list(_asked(stocked, monkeypatch, wanted))

    assert seen
    for steps in seen:
        assert way in " | ".join(steps)
        assert "TEMP B-TREE" not in " ".join(steps)


def test_the_next_page_begins_where_the_last_one_ended(
    stocked: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = stocked.admit().id

    for wanted, way in (
        (Filter(before=last), "INTEGER PRIMARY KEY (rowid<?)"),
        (Filter(before=last, statuses=(Status.NEW,)), "tasks_by_status (status=? AND no<?)"),
    ):
        (steps,) = _asked(stocked, monkeypatch, wanted)
        assert way in " | ".join(steps)


def _plan_of(scene: Scene, name: str) -> list[str]:
    sql = statement(name)
    named = set(re.findall(r":([a-z_]\w*)", re.sub(r"--.*", "", sql)))
    params = {each: "task-01*" if each == "prefix" else None for each in named}
    return plan(scene, sql, params or [None] * sql.count("?"))


def _asked(scene: Scene, monkeypatch: pytest.MonkeyPatch, wanted: Filter) -> Iterator[list[str]]:
    """The plans of the statements that a page composes."""
    composed: list[tuple[str, Params]] = []

    def ask(_: SqliteTx, sql: str, params: Params = ()) -> list[Row]:
        composed.append((sql, params))
        return []

    with monkeypatch.context() as patched:
        patched.setattr(SqliteTx, "ask", ask)
        search.page(scene.tx, wanted)
    return (plan(scene, sql, params) for sql, params in composed)
