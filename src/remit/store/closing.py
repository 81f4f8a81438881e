"""The end of a group: what was found is written to every task that waited, in one transaction."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from remit.model.codec import JsonMap
from remit.model.contract import Finding, Result
from remit.model.debt import Owes
from remit.model.deferred import Batch, Due
from remit.model.ids import TaskId
from remit.model.review import Review
from remit.model.status import Actor
from remit.model.task import Task
from remit.store import debts, deferred, reviews, tasks
from remit.store.database import Tx


class Ended(Struct, frozen=True):
    """A batch that was checked: each criterion with what was found of it.

    Where something failed, `asks` is the task that would mend it, with the question.
    """

    batch: Batch
    found: Sequence[tuple[Due, Finding]]
    asks: tuple[Task, Review] | None = None


def close(tx: Tx, ended: Ended, now: datetime) -> bool:
    """Settle a batch, once; False if it was settled before, and then nothing is written."""
    batch = ended.batch
    about: JsonMap = {"group": batch.group.said, "branch": batch.branch}
    new = [deferred.settle(tx, task, late, about, now) for task, late in _by_task(ended).items()]
    if not any(new):
        return False
    for due, finding in ended.found:
        for each in due.waits if finding.result is Result.FAIL else ():
            debts.add(tx, batch.project, each.paths, each.task_id, Owes.LATE, now)
    if ended.asks is not None:
        fix, question = ended.asks
        tasks.admit(tx, fix)
        reviews.open_review(tx, question, Actor.VERIFIER, now)
    return True


def _by_task(ended: Ended) -> dict[TaskId, dict[int, Finding]]:
    found: dict[TaskId, dict[int, Finding]] = {}
    for due, finding in ended.found:
        for each in due.waits:
            found.setdefault(each.task_id, {})[each.place] = finding
    return found
