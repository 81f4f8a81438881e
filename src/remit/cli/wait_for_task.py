"""Waits for a task: its steps on stderr, its result on stdout."""

from remit.cli import event_text, out, words
from remit.cli.out import StyledText
from remit.cli.proof import SAYS
from remit.cli.remit_client import RemitClient
from remit.cli.show import task_to_json
from remit.cli.watch import EventWatch
from remit.model.ids import TaskId
from remit.model.proof import is_unverified, proof_of
from remit.model.run import Event, EventKind
from remit.model.status import Status
from remit.model.task import Task
from remit.settings import Settings
from remit.store import events, reviews
from remit.store.database import Tx
from remit.store.read_only import glance


def events_so_far(settings: Settings, task_id: TaskId) -> int:
    """Return how many events of a task are already known."""
    with glance(settings.database) as tx:
        events_found = events.last_of_task(tx, task_id, 1)
    return events_found[-1].n if events_found else 0


def wait(
    settings: Settings, door: RemitClient, task_id: TaskId, *, timeout: float | None, after: int
) -> Task:
    """Wait until the task rests, printing its steps; return its final state."""
    with glance(settings.database) as tx, out.working("Remit is at work"):
        return door.rest(EventWatch(tx, task_id, _tell, after=after), timeout)


def result(settings: Settings, task: Task, *, json: bool) -> None:
    """Print the result."""
    with glance(settings.database) as tx:
        if json:
            out.emit({"task": task_to_json(tx, task.id)})
        else:
            _result(tx, task)


def _tell(event: Event) -> None:
    if event.kind is EventKind.REVIEW_OPENED:
        return  # its question follows below, with the possible answers
    head, *_ = event_text.sentence(event).splitlines() or [""]
    out.say(
        StyledText(f"{words.clock(event.at)}  ", "dim"),
        StyledText(head, event_text.styled(event).style),
    )


def _result(tx: Tx, task: Task) -> None:
    for review in reviews.of_task(tx, task.id):
        if review.decision is None:
            out.line(
                StyledText(f"Waits for you ({review.reason.value}): ", "yellow"), review.question
            )
            for way in words.answer_commands(review, words.short_id(tx, task.id)):
                out.line(f"  {way}")
            return
    sent = [delivery for delivery in task.delivery if delivery.sent_at is not None]
    if task.status is not Status.COMPLETED or not (sent or task.tool_output):
        ended = events.last_of_task(tx, task.id, 1)
        out.line(StyledText(f"Task {task.id}: ", "dim"), event_text.styled(ended[-1]))
        return
    for body in dict.fromkeys(delivery.body or "" for delivery in sent):
        out.line(body)
    if not sent:
        out.line(task.tool_output or "")
    if is_unverified(task):
        out.line(StyledText(SAYS[proof_of(task)], "yellow"))
