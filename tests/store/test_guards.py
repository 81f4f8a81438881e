"""What the file itself refuses, whoever writes: illegal moves, forgotten tasks, a changed past."""

import re
from itertools import product

import pytest

from remit.errors import Conflict
from remit.model import conversation
from remit.model.conversation import Action, NoticeKind, Role
from remit.model.deferred import DebtCause, GroupEnd
from remit.model.delivery import DeliveryStatus
from remit.model.recurrence import OnMissed, Overlap, SlotFate
from remit.model.reply import Policy
from remit.model.status import BY_PAIR, MOVES, PAUSABLE, TERMINAL, Reason, Status
from remit.model.task import Creator, Priority, SourceKind, Taint, TaskType
from remit.store import cues, home
from remit.store.occurrences import OccurrenceState
from tests.store.scene import Scene
from tests.tables import for_each

PAIRS = [(was, to) for was, to in product(Status, Status) if was is not to]
ILLEGAL = [pair for pair in PAIRS if pair not in BY_PAIR]
# The shortest legal way to each status, as raw statements may go it.
WAY: dict[Status, tuple[Status, ...]] = {
    Status.NEW: (),
    Status.READY: (Status.READY,),
    Status.RUNNING: (Status.READY, Status.RUNNING),
    Status.VERIFYING: (Status.READY, Status.RUNNING, Status.VERIFYING),
    Status.DELIVERING: (Status.READY, Status.DELIVERING),
    Status.NEEDS_REVIEW: (Status.READY, Status.RUNNING, Status.NEEDS_REVIEW),
    Status.PAUSED: (Status.PAUSED,),
    Status.COMPLETED: (Status.READY, Status.RUNNING, Status.COMPLETED),
    Status.FAILED: (Status.READY, Status.RUNNING, Status.FAILED),
    Status.CANCELLED: (Status.CANCELLED,),
}
# Every list of words in the schema, and the words of the code.
WORDS: dict[tuple[str, str], set[str]] = {
    ("tasks", "type"): set(TaskType),
    ("tasks", "source_kind"): set(SourceKind),
    ("tasks", "status"): set(Status),
    ("tasks", "reason"): set(Reason),
    ("tasks", "priority"): set(Priority),
    ("tasks", "wish"): {"pause", "cancel", "delete"},
    ("tasks", "created_by"): set(Creator),
    ("tasks", "taint"): set(Taint),
    ("runs", "outcome"): {
        *("done", "wait", "retry", "fail", "cancelled", "paused", "parked", "crashed")
    },
    ("deliveries", "status"): set(DeliveryStatus),
    ("attempts", "answer"): {"accepted", "retry", "refused", "unknown"},
    ("permissions", "policy"): set(Policy),
    ("sessions", "taint"): set(Taint),
    ("series", "missed"): set(OnMissed),
    ("series", "overlap"): set(Overlap),
    ("skips", "fate"): {SlotFate.SKIPPED, SlotFate.MISSED},
    ("occurrences", "taint"): set(Taint),
    ("occurrences", "state"): set(OccurrenceState),
    ("notices", "kind"): set(NoticeKind),
    ("notices", "state"): set(conversation.NoticeState),
    ("turns", "role"): set(Role),
    ("turns", "task_action"): set(Action),
    ("mentions", "action"): set(Action),
    ("inbound", "fate"): set(cues.CueFate),
    ("deferred", "ends"): set(GroupEnd),
    ("debts", "kind"): set(DebtCause),
}


def test_the_illegal_pairs_are_those_of_the_specification() -> None:
    assert (len(BY_PAIR), len(ILLEGAL)) == (34, 56)


def test_the_moves_in_the_file_are_the_moves_of_the_table(scene: Scene) -> None:
    stored = {(row["was"], row["now"]) for row in scene.sql("SELECT was, now FROM moves")}

    assert stored == {(move.was.value, move.to.value) for move in MOVES}


@for_each(("was", "to"), ILLEGAL)
def test_no_statement_makes_an_illegal_move(scene: Scene, was: Status, to: Status) -> None:
    task = _standing(scene, was)

    with pytest.raises(Conflict, match="illegal move"):
        _force(scene, task, to)

    assert _status(scene, task) is was


@for_each(("was", "to"), sorted(BY_PAIR))
def test_every_move_of_the_table_is_let_through(scene: Scene, was: Status, to: Status) -> None:
    if was is Status.PAUSED and to in PAUSABLE:
        task = _standing(scene, to)
        _force(scene, task, Status.PAUSED)
    else:
        task = _standing(scene, was)

    _force(scene, task, to)

    assert _status(scene, task) is to


@for_each(
    ("was", "to"), [(a, b) for a, b in product(sorted(PAUSABLE), sorted(PAUSABLE)) if a is not b]
)
def test_a_pause_ends_only_where_it_began(scene: Scene, was: Status, to: Status) -> None:
    task = _standing(scene, was)
    _force(scene, task, Status.PAUSED)

    with pytest.raises(Conflict, match="illegal move"):
        _force(scene, task, to)


@for_each("status", [status for status in Status if status is not Status.NEW])
def test_a_task_is_born_new_and_nothing_else(scene: Scene, status: Status) -> None:
    scene.admit()
    row = dict(scene.sql("SELECT * FROM tasks")[0])
    del row["no"]
    row |= {"id": scene.ids.task(), "source_ref": "another", "status": status.value}
    row |= {"reason": "input" if status is Status.NEEDS_REVIEW else None, "resume_to": "ready"}

    columns, copied = ", ".join(row), ", ".join("?" * len(row))
    with pytest.raises(Conflict, match="a task starts as new"):
        scene.sql(f"INSERT INTO tasks ({columns}) VALUES ({copied})", *row.values())  # noqa: S608


def test_no_statement_forgets_a_task_or_a_part_of_the_journal(scene: Scene) -> None:
    scene.admit()
    before = scene.image()

    for statement in ("DELETE FROM tasks", "DELETE FROM events", "UPDATE events SET data = '{}'"):
        with pytest.raises(Conflict, match=r"kept|append-only"):
            scene.sql(statement)

    assert scene.image() == before


@pytest.mark.only_sqlite("Postgres has no INSERT OR REPLACE")
@for_each("table", ["tasks", "events"])
def test_no_row_is_replaced_by_another_of_the_same_name(scene: Scene, table: str) -> None:
    scene.admit()

    with pytest.raises(Conflict, match=r"kept|append-only"):
        scene.sql(f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}")  # noqa: S608


@for_each(
    ("status", "change"),
    [
        *((status, "deleted_at = 1") for status in sorted(set(Status) - TERMINAL)),
        *((status, "resume_to = NULL") for status in (Status.NEEDS_REVIEW, Status.PAUSED)),
        (Status.NEEDS_REVIEW, "reason = NULL"),
        (Status.RUNNING, "reason = 'input'"),
    ],
)
def test_only_an_ended_task_is_hidden_and_only_a_wait_says_why_and_where_it_leads(
    scene: Scene, status: Status, change: str
) -> None:
    task = _standing(scene, status)
    with pytest.raises(Conflict, match=r"(?i)check"):
        scene.sql(f"UPDATE tasks SET {change} WHERE id = ?", task)  # noqa: S608 - written above


@pytest.mark.parametrize(("table", "column"), WORDS)
def test_the_words_in_the_schema_are_the_words_of_the_code(table: str, column: str) -> None:
    assert _checked(table, column) == WORDS[table, column]


def test_no_list_of_words_in_the_schema_is_left_unwatched() -> None:
    schema = "\n".join(home.migrations())
    lists = re.findall(r"CHECK \((\w+) (?:IN \(|= ')", schema)

    assert sorted(lists) == sorted(column for _, column in WORDS)


def _standing(scene: Scene, status: Status) -> str:
    task = scene.admit()
    for step in WAY[status]:
        _force(scene, task.id, step)
    return task.id


def _status(scene: Scene, task: str) -> Status:
    return Status(str(scene.sql("SELECT status FROM tasks WHERE id = ?", task)[0]["status"]))


def _force(scene: Scene, task: str, to: Status) -> None:
    waits = to in (Status.NEEDS_REVIEW, Status.PAUSED)
    scene.sql(
        "UPDATE tasks SET resume_to = CASE WHEN ? THEN status END, status = ?, reason = ?"
        " WHERE id = ?",
        waits,
        to.value,
        "input" if to is Status.NEEDS_REVIEW else None,
        task,
    )


def _checked(table: str, column: str) -> set[str]:
    """The words that the schema allows in a column."""
    schema = "\n".join(home.migrations())
    body = re.search(rf"CREATE TABLE {table} \((.*?)\n\)", schema, re.DOTALL)
    assert body is not None
    added = re.findall(rf"ALTER TABLE {table} ADD COLUMN [^;]*;", schema)
    whole = "\n".join((body[1], *added))
    check = re.search(rf"CHECK \(({column} (?:IN|=) [^)]*)\)", whole)
    return set(re.findall(r"'(\w+)'", check[1])) if check else set()
