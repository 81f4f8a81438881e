"""The tasks of one message: stored together with their questions, or not at all."""

from collections.abc import Sequence
from datetime import datetime
from itertools import count

from remit.errors import KeyReused
from remit.model.review import Review
from remit.model.status import Actor
from remit.model.task import Source, Task
from remit.store import restored, reviews, tasks
from remit.store.database import Row, Tx


def entrust(
    tx: Tx, made: Sequence[Task], asked: Sequence[Review], said_at: datetime | None = None
) -> list[Task]:
    """Store what a message became; the same message again returns what it became before."""
    before = of_message(tx, made[0].source)
    if before:
        return before
    for task in made:
        if restored.admit(tx, task, said_at).id != task.id:
            raise KeyReused(task.source.ref)  # by a message that was called so itself
    for review in asked:
        reviews.open_review(tx, review, Actor.INTAKE, made[0].created_at)
    return [tasks.get(tx, task.id) for task in made]


def of_message(tx: Tx, source: Source) -> list[Task]:
    """All that a message became, in the order it was said."""
    found: list[Task] = []
    for n in count(1):
        row = _find(tx, Source(source.kind, nth(source.ref, n)))
        if row is None:
            break
        found.append(tasks.with_deliveries(tx, row))
    return found


def questions(tx: Tx, made: Sequence[Task]) -> list[Review]:
    """What is still open about some tasks."""
    asked = {each.id: each for task in made for each in reviews.of_task(tx, task.id)}
    return [review for review in asked.values() if review.decision is None]


def nth(ref: str, n: int) -> str:
    """What the first, second, … task of a message is known by."""
    return ref if n == 1 else f"{ref}/{n}"


def _find(tx: Tx, source: Source) -> Row | None:
    return tx.one("get_task_by_source", {"kind": source.kind.value, "ref": source.ref})
