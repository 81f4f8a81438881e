"""What is asked often is looked up, not searched for: the indexes that SQLite really takes."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.model.contract import ContractType
from remit.model.ids import SeriesId, SessionId
from remit.model.status import Status
from remit.model.task import Priority, SourceKind, Taint, TaskType
from remit.store import home, queue, search, tasks
from remit.store.connection import SqliteTx
from remit.store.database import Params, Row, statement, statements
from remit.store.opening import Sqlite
from remit.store.search import SortOrder, TaskFilter
from tests.store.scene import AT, ROOMY, WORKER, Scene
from tests.tables import for_each

pytestmark = pytest.mark.only_sqlite("the hints and plans of SQLite")

EVERY = sorted(statements())
# These read a whole table or index on purpose.
WHOLE = {
    "audit_gaps": "at the start, of small files",
    "audit_restores": "at the start, of small files",
    "correct_sign_in_times": "after a wrong clock, of a few browsers",
    "correct_token_times": "after a wrong clock, of a few programs",
    "end_future_codes": "after a wrong clock, of a few codes",
    "count_unstarted_with_reviews": "the index holds only what is open",
    "count_by_status": "along two small indexes",
    "count_caller_tasks": "what one caller created, which the index of sources found",
    "count_planned": "of what is ready, the newest, as far as is counted",
    "count_open_reviews": "the index holds only what is open",
    "count_unseen_resources": "the index holds only what cannot be read",
    "count_unseen_results": "of the newest results, as many as are looked through",
    "count_subscriptions": "a few browsers",
    "count_views": "a few, as many as a person names",
    "doubt_all_notices": "once, after a restore",
    "doubt_all_sends": "once, after a restore",
    "doubt_claimed_notices": "the index holds only what is on its way",
    "end_all_sign_ins": "once, after a restore",
    "find_conversation_by_channel": "from the newest on, until one is of this channel",
    "last_event": "its first row, from the end",
    "list_calendars": "a few, as many as a person has",
    "list_file_references": "once an hour, and only where files are kept",
    "list_caller_tasks": "what one caller created, which the index of sources found",
    "list_deferred": "the index holds only what waits",
    "list_refused_resources": "for who asks to see them",
    "list_open_reviews_about": "the index holds only what is open",
    "list_open_reviews": "the index holds only what is open",
    "list_old_mirrored": "once a day",
    "list_orphans": "the index holds only what is held",
    "list_unanswered_turns": "the index holds only what is owed",
    "prune_notices": "once a day",
    "list_permissions": "a few lines, for who asks to see them",
    "revoke_all_tokens": "once, after a restore",
    "list_channel_permissions": "the owner's own words about people are few",
    "list_sign_ins": "a few browsers, for who asks to see them",
    "list_subscriptions": "a few browsers",
    "list_tokens": "a few lines, for who asks to see them",
    "delete_expired_subscriptions": "a few browsers, when another one comes",
    "delete_expired_codes": "a handful, when a link is made",
    "list_session_runs": "of the newest tasks of a session, as many as are looked through",
    "list_unseen_results": "of the newest results, as many as are looked through",
    "list_views": "a few, as many as a person names",
    "count_cues": "of what came in, for who asks to see it",
    "count_snippets": "for who asks how the index stands",
    "delete_snippets": "once, when the index is made anew",
    "has_snippets": "its first row",
    "list_outlook": "the five ranks that it names itself",
    "list_cues": "from the newest on, for who asks to see them",
    "list_lesson_reviews": "a change of the rules now and then, once a night",
    "list_rule_versions": "a change of the rules now and then",
    "list_waiting_cues": "the index holds only what waits",
    "delete_expired_keys": "now and then, of a day's keys",
    "journal_times": "its first row, and the last few",
    "list_series_with_future_tasks": "once, after a wrong clock was put right",
    "correct_calendar_times": "once, after a wrong clock was put right",
    "correct_delivery_times": "once, after a wrong clock was put right",
    "correct_review_times": "once, after a wrong clock was put right",
    "correct_task_times": "once, after a wrong clock was put right",
}
INTENDED = {
    "list_due": "tasks_due (queue=? AND due_at<?)",
    "list_due_doubts": "tasks_by_status (status=?)",
    "list_outlook": "tasks_due (queue=? AND due_at>?)",
    "list_taken_slots": "tasks_by_slot (series_id=? AND slot_at>?)",
    "list_assigned_tasks": "tasks_by_agent (assigned_agent=?)",
    "list_due_series": "series_due (due_at<?)",
    "next_due_series": "series_due (due_at>?)",
    "list_unstarted_slots": "tasks_by_slot (series_id=? AND slot_at<?)",
    "list_corrections": "tasks_by_session (session_id=?)",
    "list_reported": "tasks_by_session (session_id=?)",
    "list_task_events": "events_by_task (task_id=? AND n>?)",
    "list_open_reviews": "reviews_open",
    "list_orphans": "tasks_held",
    "list_next_tasks": "tasks_planned (scheduled_for>?)",
    "list_planned_tasks": "tasks_planned (scheduled_for>? AND scheduled_for<?)",
    "list_ended_tasks": "tasks_ended (status=? AND completed_at>? AND completed_at<?)",
    "list_unseen_failures": "tasks_ended (status=? AND completed_at>?)",
    "count_status": "COVERING INDEX tasks_by_status (status=?)",
    "list_task_ids_like": "sqlite_autoindex_tasks_1 (id>? AND id<?)",
}


def plan(scene: Scene, sql: str, params: Params) -> list[str]:
    found = scene.connection.execute("EXPLAIN QUERY PLAN " + sql, params).fetchall()
    return [str(row["detail"]) for row in found]


@for_each("name", EVERY)
def test_no_statement_reads_a_whole_table_by_accident(scene: Scene, name: str) -> None:
    steps = _plan_of(scene, name)

    scans = [step for step in steps if re.match(r"SCAN \w+(?! VIRTUAL)( USING|$)", step)]
    assert bool(scans) is (name in WHOLE), steps


@for_each("name", INTENDED)
def test_what_the_engine_asks_goes_along_the_index_made_for_it(scene: Scene, name: str) -> None:
    steps = _plan_of(scene, name)

    assert INTENDED[name] in " | ".join(steps)
    assert "TEMP B-TREE" not in " ".join(steps)


def test_a_store_gathers_no_statistics_that_would_change_these_plans(tmp_path: Path) -> None:
    """With them, whether a session is free would be searched for among all its tasks."""

    async def story() -> None:
        home.prepare(tmp_path / "agent.db")
        db = Sqlite(tmp_path / "agent.db")
        maker = Scene(tmp_path / "other.db")
        for _ in range(40):
            await db.write(tasks.admit, maker.task())
            await db.write(queue.claim, WORKER, ROOMY, maker.ids.run, AT)
        maker.close()
        await db.close()

    asyncio.run(story())

    scene = Scene(tmp_path / "agent.db")
    assert scene.sql("SELECT name FROM sqlite_master WHERE name LIKE 'sqlite_stat%'") == []
    scene.close()


def test_whether_a_session_is_free_is_looked_up(scene: Scene) -> None:
    assert "SEARCH other USING INDEX tasks_held (session_id=?)" in _plan_of(scene, "list_due")


PAGES = {
    "all": (TaskFilter(), "SCAN tasks"),
    "a status": (TaskFilter(statuses=(Status.READY,)), "tasks_by_status (status=?)"),
    "a session": (TaskFilter(session=SessionId("s")), "tasks_by_session (session_id=?)"),
    "deleted": (TaskFilter(deleted=True), "tasks_deleted (status=?)"),
    "a source": (TaskFilter(source=SourceKind.MANUAL), "SCAN tasks"),
    "a type": (TaskFilter(type=TaskType.IMMEDIATE), "SCAN tasks"),
    "a priority": (TaskFilter(priority=Priority.LOW), "SCAN tasks"),
    "a rare source": (TaskFilter(source=SourceKind.EMAIL), "tasks_by_source (source_kind=?)"),
    "a rare priority": (TaskFilter(priority=Priority.HIGH), "tasks_by_priority (priority=?)"),
    "a taint": (TaskFilter(taint=Taint.PUBLIC), "tasks_by_taint (taint=?)"),
    "a common contract": (TaskFilter(contract=ContractType.VERIFIABLE), "SCAN tasks"),
    "a rare contract": (
        TaskFilter(contract=ContractType.ADVISORY),
        "tasks_by_contract (contract_type=?)",
    ),
    "a channel": (TaskFilter(channel="email"), "deliveries_by_channel (channel=?)"),
    "a series": (TaskFilter(series=SeriesId("s")), "tasks_by_series (series_id=?)"),
    "what comes back": (TaskFilter(recurring=True), "tasks_recurring"),
    "what has a time": (TaskFilter(type=TaskType.SCHEDULED), "tasks_scheduled"),
    "what is due": (TaskFilter(sort=SortOrder.DUE), "tasks_planned (scheduled_for>?)"),
    "what changed last": (TaskFilter(sort=SortOrder.UPDATED), "SCAN events"),
    "words": (TaskFilter(text="plants"), "tasks_text VIRTUAL TABLE"),
    "words and a status": (
        TaskFilter(text="plants", statuses=(Status.READY,)),
        "tasks_text VIRTUAL TABLE",
    ),
}


@pytest.mark.parametrize("what", PAGES)
def test_no_page_sorts_what_it_does_not_show(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """`SCAN tasks` is the table from its end, in the order of the page, until the page is full."""
    wanted, way = PAGES[what]
    seen = list(_asked(scene, monkeypatch, wanted))

    assert seen
    for steps in seen:
        assert way in " | ".join(steps)
        assert "TEMP B-TREE" not in " ".join(steps)


def test_the_next_page_begins_where_the_last_one_ended(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = scene.admit().id

    for wanted, way in (
        (TaskFilter(before=last), "INTEGER PRIMARY KEY (rowid<?)"),
        (TaskFilter(before=last, statuses=(Status.NEW,)), "tasks_by_status (status=? AND no<?)"),
    ):
        (steps,) = _asked(scene, monkeypatch, wanted)
        assert way in " | ".join(steps)


def _plan_of(scene: Scene, name: str) -> list[str]:
    sql = statement(name)
    named = set(re.findall(r":([a-z_]\w*)", re.sub(r"--.*", "", sql)))
    params: dict[str, None] = dict.fromkeys(named)
    return plan(scene, sql, params or [None] * sql.count("?"))


def _asked(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, wanted: TaskFilter
) -> Iterator[list[str]]:
    """The plans of the statements that a page composes."""
    composed: list[tuple[str, Params]] = []

    def ask(_: SqliteTx, sql: str, params: Params = ()) -> list[Row]:
        composed.append((sql, params))
        return []

    with monkeypatch.context() as patched:
        patched.setattr(SqliteTx, "ask", ask)
        search.page(scene.tx, wanted)
    return (plan(scene, sql, params) for sql, params in composed)
