"""Test debt: which files failed, in which project, through which task. Rows are only ever added."""

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby

from remit.model import debt
from remit.model.debt import DECAY, Book, Owes
from remit.model.ids import TaskId
from remit.store import rows
from remit.store.database import Params, Tx


def add(  # noqa: PLR0913 - a row names what it is of
    tx: Tx,
    project: str,
    paths: Iterable[str],
    task_id: TaskId,
    owes: Owes,
    now: datetime,
    *,
    reason: str = "",
) -> None:
    """Remember files that a task failed at; the same again changes nothing."""
    for path in paths:
        owed: Params = {
            "project": project,
            "path": path,
            "task": task_id,
            "kind": owes.value,
            "now": rows.ms(now),
            "reason": reason,
        }
        tx.run("insert_debt", owed)


def book(tx: Tx, project: str, now: datetime, but: TaskId | None = None) -> Book:
    """What a project owes by now, but for what one task added itself."""
    since = rows.ms(now - 2 * DECAY)  # a debt lives on if it fails again before it is forgotten
    asked: Params = {"project": project, "since": since, "but": but or ""}
    found, rest = Book(), tx.all("list_debts", asked)
    # Together what came together: a change may touch hundreds of files.
    for (at, reason), same in groupby(rest, key=lambda row: (row["at"], str(row["reason"]))):
        found = debt.failed(found, [str(row["path"]) for row in same], rows.at(at), reason)
    return debt.alive(found, now)
