"""The copies of unfinished code work, so that every machine can go on with it."""

from typing import cast

from msgspec import Struct

from remit.model.ids import TaskId
from remit.store.database import Tx


class WorkCopy(Struct, frozen=True):
    """What was in a task's folder: a commit on its base, as a git bundle without the base."""

    commit: str
    bundle: bytes


def put(tx: Tx, task_id: TaskId, lease: int, copy: WorkCopy) -> None:
    """Replace a task's copy, unless another leg has it now; forget those of ended tasks."""
    tx.ask(
        "DELETE FROM work_copies WHERE task_id IN"
        " (SELECT id FROM tasks WHERE status IN ('completed', 'failed', 'cancelled'))"
    )
    tx.ask(
        "INSERT INTO work_copies (task_id, commit_id, bundle)"
        " SELECT id, ?, ? FROM tasks WHERE id = ? AND lease = ?"
        " ON CONFLICT (task_id) DO UPDATE"
        " SET commit_id = excluded.commit_id, bundle = excluded.bundle",
        (copy.commit, copy.bundle, task_id, lease),
    )


def commit_of(tx: Tx, task_id: TaskId) -> str | None:
    """Return the commit of a task's copy, without its bundle."""
    found = tx.ask("SELECT commit_id FROM work_copies WHERE task_id = ?", (task_id,))
    return next((str(row["commit_id"]) for row in found), None)


def get(tx: Tx, task_id: TaskId) -> WorkCopy | None:
    found = tx.ask("SELECT commit_id, bundle FROM work_copies WHERE task_id = ?", (task_id,))
    return next(
        (WorkCopy(str(row["commit_id"]), cast("bytes", row["bundle"])) for row in found), None
    )


def remove(tx: Tx, task_id: TaskId) -> None:
    tx.ask("DELETE FROM work_copies WHERE task_id = ?", (task_id,))
