"""Which event tells the owner something, and in what words."""

from enum import StrEnum
from typing import Final

from remit.model.conversation import Notice
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.event import Event, Kind
from remit.model.status import TERMINAL, Actor, Status
from remit.model.task import Task

_MOST_TOLD: Final = 4_000  # characters of a result


class News(StrEnum):
    """What sort of thing is told in a conversation."""

    ASKED = "asked"  # a task needs its owner
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"  # a message did not arrive after all


def notice(event: Event, title: str) -> Notice | None:
    """One line for the owner, or nothing: most of what happens needs no word."""
    if event.task_id is None:
        return None
    if event.kind is Kind.REVIEW_OPENED:
        return Notice(event.task_id, f"{title}: {event.data['question']}", urgent=True)
    if event.kind is Kind.TASK_MOVED and event.data["to"] in TERMINAL:
        return Notice(event.task_id, f"{title}: {_ended(event)}")
    if event.kind is Kind.DELIVERY_REPORTED and event.data["answer"] == "refused":
        said = f"{title}: a message did not arrive. {event.data.get('note', '')}".rstrip()
        return Notice(event.task_id, said, urgent=True)
    return None


def news(event: Event) -> News | None:
    """Whether an event is told in a conversation, and as what.

    What intake asks is asked in the answer to what was said; what the owner cancelled, he knows.
    """
    if event.task_id is None:
        return None
    if event.kind is Kind.REVIEW_OPENED and event.actor is not Actor.INTAKE:
        return News.ASKED
    if event.kind is Kind.TASK_MOVED:
        return _ENDS.get(str(event.data["to"]))
    if event.kind is Kind.DELIVERY_REPORTED and event.data["answer"] == "refused":
        return News.LOST
    return None


def told(news: News, event: Event, task: Task) -> str:
    """What is said in the conversation; a result for the owner is told whole."""
    match news:
        case News.ASKED:
            return f"“{task.title}” needs you: {event.data['question']}"
        case News.DONE:
            return "\n\n".join([_done(task), *_results(task)])
        case News.FAILED:
            why = event.data.get("note") or event.data.get("summary") or ""
            return f"“{task.title}” failed. {why}".rstrip()
        case News.LOST:
            why = event.data.get("note") or ""
            return f"A message of “{task.title}” did not arrive. {why}".rstrip()


def _done(task: Task) -> str:
    went = [_way(each) for each in task.delivery if _is_out(each) and not _is_here(each)]
    sent = f" Sent: {', '.join(dict.fromkeys(went))}." if went else ""
    came = "" if task.delivery else f" {task.result_summary or ''}".rstrip()
    return f"“{task.title}” is done.{sent}{came}"


def _results(task: Task) -> list[str]:
    """What the owner was to read in the dashboard."""
    mine = [each.body or each.content or "" for each in task.delivery if _is_here(each)]
    return [text if len(text) <= _MOST_TOLD else text[:_MOST_TOLD] + "…" for text in mine if text]


def _is_out(delivery: Delivery) -> bool:
    return delivery.status is DeliveryStatus.SENT


def _is_here(delivery: Delivery) -> bool:
    return delivery.channel == "dashboard" and delivery.recipient is None


def _way(delivery: Delivery) -> str:
    return f"{delivery.channel} to {delivery.recipient or 'you'}"


def _ended(event: Event) -> str:
    to = Status(str(event.data["to"]))
    said = event.data.get("note") or event.data.get("summary")
    return f"{to.value}. {said}" if said else f"{to.value}."


_ENDS: Final = {Status.COMPLETED.value: News.DONE, Status.FAILED.value: News.FAILED}
