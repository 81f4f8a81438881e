"""Counts the results of a command over several ids, and gives the exit code."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from msgspec import Struct, field

from remit.cli import codes, log, out, words
from remit.cli.codes import OwnerMustAnswer
from remit.cli.lookup import EventWatch
from remit.cli.out import StyledText
from remit.cli.proof import SAYS
from remit.cli.remit_client import RemitClient
from remit.errors import RemitError
from remit.model.codec import Json
from remit.model.ids import TaskId
from remit.model.proof import is_unverified, proof_of
from remit.model.run import Event, EventKind
from remit.model.status import Status
from remit.model.task import Task
from remit.model.view import JsonView
from remit.model.view import show as view
from remit.settings import Settings
from remit.store import events, messages, reviews, tasks
from remit.store.database import Tx
from remit.store.read_only import open_read_only

T = TypeVar("T")
R = TypeVar("R")


class CommandTally(Struct):
    """Collects results; a failure does not stop the others, and the first one is the exit code."""

    settings: Settings
    json: bool
    shown: list[Json] = field(default_factory=list)
    problems: list[Json] = field(default_factory=list)
    code: int = codes.DONE

    def each(self, items: Iterable[T], act: Callable[[T], R], name: Callable[[T], str]) -> list[R]:
        """Do one thing to each, as far as possible."""
        done: list[R] = []
        for item in items:
            try:
                done.append(act(item))
            except RemitError as error:
                self._report_failure(name(item), error)
        return done

    def show_task(self, task_id: TaskId) -> None:
        """Print how a task stands now."""
        with open_read_only(self.settings.database) as tx:
            task = tasks.get(tx, task_id)
            asked = messages.questions(tx, [task]) if task.status is Status.NEW else []
        self.shown.append(view(task, JsonView.S3))
        if not self.json:
            out.line(f"{task.id}  {_status_text(task)}  ", StyledText(task.title, "dim"))
            for review in asked:
                out.line(StyledText(f"  Asks you: {review.question}", "yellow"))
                for line in review.evidence.splitlines():
                    out.line(f"  {line}")
                for way in words.answer_commands(review, str(review.id)):
                    out.line(f"  {way}")

    def wait_for(
        self, way: RemitClient, task_id: TaskId, *, timeout: float | None, after: int
    ) -> None:
        """Wait until a task rests; its status becomes the exit code."""
        task = wait_for_rest(self.settings, way, task_id, timeout=timeout, after=after)
        if self.json:
            self.show_task(task_id)
        else:
            show_result(self.settings, task)
        self.code = self.code or codes.of_status(task.status)

    def end(self) -> int:
        if self.json:
            out.emit({"tasks": self.shown, "problems": self.problems})
        return self.code

    def _report_failure(self, name: str, error: RemitError) -> None:
        out.say(StyledText(str(error), "yellow" if isinstance(error, OwnerMustAnswer) else "red"))
        code = codes.of_error(error)
        kind, text = codes.problem_type(error), out.clean(str(error))
        self.problems.append({"id": name, "type": kind, "detail": text, "exit": code})
        self.code = self.code or code


def _status_text(task: Task) -> str:
    stands = words.status_word(task.status)
    if task.deleted_at is not None:
        return f"{stands} and deleted"
    if task.cancel_requested and not task.ended:
        return f"{stands}, ends at its next boundary"
    if task.pause_requested:
        return f"{stands}, pauses at its next boundary"
    return stands


def events_so_far(settings: Settings, task_id: TaskId) -> int:
    """Return how many events of a task are already known."""
    with open_read_only(settings.database) as tx:
        events_found = events.last_of_task(tx, task_id, 1)
    return events_found[-1].n if events_found else 0


def wait_for_rest(
    settings: Settings,
    door: RemitClient,
    task_id: TaskId,
    *,
    timeout: float | None,
    after: int,
    until_tried: bool = False,
) -> Task:
    """Wait until the task rests, printing its steps; return its final state."""
    with open_read_only(settings.database) as tx, out.working("Remit is at work"):
        watch = EventWatch(tx, task_id, _tell, after=after, until_tried=until_tried)
        return door.rest(watch, timeout)


def show_result(settings: Settings, task: Task) -> None:
    """Print the result."""
    with open_read_only(settings.database) as tx:
        _result(tx, task)


def _tell(event: Event) -> None:
    if event.kind is EventKind.REVIEW_OPENED:
        return  # its question follows below, with the possible answers
    head, *_ = log.sentence(event).splitlines() or [""]
    out.say(
        StyledText(f"{words.clock(event.at)}  ", "dim"),
        StyledText(head, log.styled_sentence(event).style),
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
        out.line(StyledText(f"Task {task.id}: ", "dim"), log.styled_sentence(ended[-1]))
        return
    for body in dict.fromkeys(delivery.body or "" for delivery in sent):
        out.line(body)
    if not sent:
        out.line(task.tool_output or "")
    if is_unverified(task):
        out.line(StyledText(SAYS[proof_of(task)], "yellow"))
