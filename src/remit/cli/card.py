"""Renders a task as a card: its work, its deliveries and its status."""

from collections.abc import Iterator
from typing import Final

from remit.cli.out import clean, cut, width
from remit.model.delivery import DeliveryStatus
from remit.model.plan import ItemStatus
from remit.model.status import Status
from remit.model.task import Task
from remit.model.view import delivery_status

LEAST: Final = 46
MOST: Final = 96
_WORK: Final = {
    ItemStatus.PENDING: "pending",
    ItemStatus.COMPLETED: "done",
    ItemStatus.FAILED: "failed",
}
_DELIVERY: Final = {
    "pending": "pending",
    "completed": "sent",
    "failed": "refused",
    "needs_review": "needs review",
}


def lines(task: Task, why: str | None = None) -> list[str]:
    """Render the card; `why` is what it waits for."""
    title = f"-- Task: {clean(task.title)} "
    inside = [clean(line) for line in _inside(task, why)]
    wide = max(LEAST, width(title) + 2, *(width(line) + 2 for line in inside))
    wide = min(wide, MOST)
    head = cut(title.rstrip(), wide - 3) + " "
    return [
        "+" + head + "-" * (wide - width(head)) + "+",
        *("| " + _fit(line, wide - 1) + "|" for line in inside),
        "+" + "-" * wide + "+",
    ]


def _inside(task: Task, why: str | None) -> Iterator[str]:
    yield ""
    if task.work:
        yield "Work:"
        yield from (f"  [{_WORK[item.status]}] {_flat(item.description)}" for item in task.work)
        yield ""
    if task.delivery:
        yield "Delivery:"
        yield from _deliveries(task, why)
        yield ""
    status = task.status.value
    if task.status is Status.PAUSED and task.resume_to:
        status += f" (was {task.resume_to.value})"
    yield f"Status: {status}"


def _deliveries(task: Task, why: str | None) -> Iterator[str]:
    for delivery in task.delivery:
        word = delivery_status(delivery, task)
        to = f" to {delivery.recipient}" if delivery.recipient else ""
        note = delivery.reason
        if word == "needs_review" and delivery.status is DeliveryStatus.PENDING:
            note = why
        said = f" - {_flat(note)}" if note and word != "completed" else ""
        yield f"  [{_DELIVERY[word]}] {delivery.channel}{to}{said}"


def _flat(text: str) -> str:
    return " ".join(text.split())


def _fit(line: str, wide: int) -> str:
    shown = cut(line, wide - 1)
    return shown + " " * (wide - width(shown))
