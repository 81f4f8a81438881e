"""Which event tells the owner something, and in what words."""

from remit.model.conversation import Notice
from remit.model.event import Event, Kind
from remit.model.status import TERMINAL, Status


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


def _ended(event: Event) -> str:
    to = Status(str(event.data["to"]))
    said = event.data.get("note") or event.data.get("summary")
    return f"{to.value}. {said}" if said else f"{to.value}."
