"""Test debt: which files failed, in which project, through which task. Rows are only added.

It also closes a group of deferred checks: one transaction writes the findings to every waiting task
and adds what failed to the project's debt.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby

from msgspec import Struct

from remit.model import deferred as model_deferred
from remit.model.codec import JsonMap
from remit.model.contract import Finding, Result
from remit.model.deferred import DECAY, DebtBook, DebtCause, DeferredBatch, DueCriterion
from remit.model.ids import TaskId
from remit.model.review import Review
from remit.model.status import Actor
from remit.model.task import Task
from remit.store import deferred, reviews, rows, tasks
from remit.store.database import Params, Tx


class CheckedBatch(Struct, frozen=True):
    """A checked batch: each criterion with its finding.

    If something failed, `asks` is the task that would fix it, with the question.
    """

    batch: DeferredBatch
    found: Sequence[tuple[DueCriterion, Finding]]
    asks: tuple[Task, Review] | None = None


def add(  # noqa: PLR0913 - a row names what it is of
    tx: Tx,
    project: str,
    paths: Iterable[str],
    task_id: TaskId,
    owes: DebtCause,
    now: datetime,
    *,
    reason: str = "",
) -> None:
    """Record files that a task failed at; repeating it changes nothing."""
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


def book(tx: Tx, project: str, now: datetime, but: TaskId | None = None) -> DebtBook:
    """Return a project's current debt, without what one task added itself."""
    since = rows.ms(now - 2 * DECAY)  # a debt lives on if it fails again before it expires
    asked: Params = {"project": project, "since": since, "but": but or ""}
    found, rest = DebtBook(), tx.all("list_debts", asked)
    # Handle rows of one time together: a change may touch hundreds of files.
    for (at, reason), same in groupby(rest, key=lambda row: (row["at"], str(row["reason"]))):
        found = model_deferred.add_failures(
            found, [str(row["path"]) for row in same], rows.parse_time(at), reason
        )
    return model_deferred.current_debts(found, now)


def close_group(tx: Tx, ended: CheckedBatch, now: datetime) -> bool:
    """Settle a batch once; False if it was settled before, and then nothing is written."""
    batch = ended.batch
    about: JsonMap = {"group": batch.group.said, "branch": batch.branch}
    new = [deferred.settle(tx, task, late, about, now) for task, late in _by_task(ended).items()]
    if not any(new):
        return False
    for due, finding in ended.found:
        for each in due.waits if finding.result is Result.FAIL else ():
            add(tx, batch.project, each.paths, each.task_id, DebtCause.LATE, now)
    if ended.asks is not None:
        fix, question = ended.asks
        tasks.admit(tx, fix)
        reviews.open_review(tx, question, Actor.VERIFIER, now)
    return True


def _by_task(ended: CheckedBatch) -> dict[TaskId, dict[int, Finding]]:
    found: dict[TaskId, dict[int, Finding]] = {}
    for due, finding in ended.found:
        for each in due.waits:
            found.setdefault(each.task_id, {})[each.place] = finding
    return found
