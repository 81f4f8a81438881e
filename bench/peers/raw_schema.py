"""The stand-in schema of the raw limit: a task, its events, and the five moves of one task."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = str | int | float | bytes | None
Row: TypeAlias = Sequence[Value] | Mapping[str, Value]

START_AT = 1_700_000_000_000

DDL = """
CREATE TABLE task (
    id TEXT PRIMARY KEY, status TEXT NOT NULL, version INTEGER NOT NULL, owner TEXT NOT NULL,
    kind TEXT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL, priority INTEGER NOT NULL,
    due_at INTEGER, lease TEXT, lease_until INTEGER, attempts INTEGER NOT NULL,
    created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL, finished_at INTEGER
) STRICT;
CREATE INDEX task_by_due ON task (status, due_at);
CREATE INDEX task_by_owner ON task (owner, status, created_at);
CREATE INDEX task_by_kind ON task (kind, created_at);
CREATE INDEX task_by_lease ON task (lease_until) WHERE lease IS NOT NULL;
CREATE TABLE event (
    seq INTEGER PRIMARY KEY, task TEXT NOT NULL REFERENCES task (id), n INTEGER NOT NULL,
    kind TEXT NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL, data TEXT NOT NULL,
    hash BLOB NOT NULL, UNIQUE (task, n)
) STRICT;
"""
INSERT_TASK = (
    "INSERT INTO task VALUES (?, 'new', 1, ?, 'remind', ?, ?, 3, ?, NULL, NULL, 0, ?, ?, NULL)"
)
INSERT_EVENT = (
    "INSERT INTO event (task, n, kind, at, actor, data, hash) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
MOVE_TASK = (
    "UPDATE task SET status = ?, version = version + 1, lease = ?, lease_until = ?, "
    "changed_at = ?, finished_at = ? WHERE id = ? AND status = ?"
)
MOVES = (("new", "ready"), ("ready", "running"), ("running", "delivering"), ("delivering", "done"))


@dataclass(frozen=True, slots=True)
class Statement:
    """A parameterised statement and the parameters it takes for the task of a given number."""

    sql: str
    fill: Callable[[int], Row]


@dataclass(frozen=True, slots=True)
class Work:
    """A schema and one task's life in it: five stages, each committed before the next begins.

    `proofs` are queries of one number, with how often a task must be counted by it at the end.
    """

    ddl: str
    stages: tuple[list[Statement], ...]
    proofs: tuple[tuple[str, int], ...]


def draft_work() -> Work:
    """Insert, then four guarded moves, an event with a 32-byte hash beside each."""
    insert = [Statement(INSERT_TASK, _fill_task), _append_event(0, "created")]
    moves = [
        [_move_task(n, old, new), _append_event(n, new)] for n, (old, new) in enumerate(MOVES, 1)
    ]
    proofs = (
        ("SELECT count(*) FROM task WHERE status = 'done' AND version = 5", 1),
        ("SELECT count(*) FROM event", 5),
    )
    return Work(DDL, (insert, *moves), proofs)


def _name_task(number: int) -> str:
    # Spread as random ids are, so that indexes are written all over and not only at their end.
    return "task-" + hashlib.blake2b(str(number).encode(), digest_size=13).hexdigest()


def _fill_task(number: int) -> Row:
    at = START_AT + number
    title = f"Remind the owner of matter {number}"
    body = title + ". " + "What was asked, in the words it was asked in. " * 4
    return (_name_task(number), f"user-{number % 50}", title, body, at + 1000, at, at)


def _move_task(n: int, old: str, new: str) -> Statement:
    def fill(number: int) -> Row:
        at = START_AT + number + n
        held = new in {"running", "delivering"}
        lease = ("worker-1", at + 30_000) if held else (None, None)
        return (new, *lease, at, at if new == "done" else None, _name_task(number), old)

    return Statement(MOVE_TASK, fill)


def _append_event(n: int, kind: str) -> Statement:
    def fill(number: int) -> Row:
        task, at = _name_task(number), START_AT + number + n
        data = json.dumps({"status": kind, "attempt": 1, "reason": "as planned"})
        digest = hashlib.sha256(f"{task}{n}{data}".encode()).digest()
        return (task, n, kind, at, "engine", data, digest)

    return Statement(INSERT_EVENT, fill)
