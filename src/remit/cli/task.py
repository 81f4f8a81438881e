"""Commands on tasks (edit, run, retry, pause, undo, …), and what each did to several of them."""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from typing import Annotated, TypeAlias, TypeVar

from msgspec import Struct, field

from remit import settings as app_settings
from remit.cli import clock, codes, log, out, remit_client, words
from remit.cli.codes import OwnerMustAnswer
from remit.cli.commands import Command
from remit.cli.lookup import EventWatch
from remit.cli.out import AsJson, Id, Ids, StyledText, Timeout, Wait, flag
from remit.cli.proof import SAYS
from remit.cli.remit_client import RemitClient
from remit.cli.request_key import new_key
from remit.errors import BadInput, RemitError
from remit.model.codec import Json, stamp
from remit.model.ids import TaskId
from remit.model.proof import is_unverified, proof_of
from remit.model.run import Event, EventKind
from remit.model.status import Status
from remit.model.task import Priority, Task
from remit.model.view import JsonView
from remit.model.view import show as view
from remit.operations.arguments import (
    CancelTask,
    DeleteTask,
    EditTask,
    PauseTask,
    ResumeTask,
    RetryTask,
    TaskArguments,
    UndoTask,
    VouchTask,
)
from remit.settings import Settings
from remit.store import events, messages, reviews, tasks
from remit.store.database import Tx
from remit.store.read_only import open_read_only
from remit.triggers import cron

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


# The commands -------------------------------------------------------------------------------------

_Begin: TypeAlias = Callable[[Settings, RemitClient, TaskId], tuple[TaskId, int]]


def _on_each(kind: Callable[[str], TaskArguments], text: str) -> Command:
    """Return a command that does one thing to tasks; `text` is its help."""

    def act(*ids: Ids, json: AsJson = False) -> int:
        tally = CommandTally(app_settings.load(), json)
        if found := _find_tasks(ids, tally):
            with remit_client.open_client(tally.settings) as way:

                def one(task_id: TaskId) -> None:
                    way.ask(kind(task_id))
                    tally.show_task(task_id)

                tally.each(found, one, str)
        return tally.end()

    act.__doc__ = text
    return act


pause = _on_each(PauseTask, "Pause tasks between two steps, never in the middle of a send.")
undo = _on_each(
    UndoTask, "Take back an approval or a decline within seconds, or a delete at any time."
)
resume = _on_each(ResumeTask, "Continue a paused task.")
cancel = _on_each(CancelTask, "End tasks; a running one ends between two steps.")
delete = _on_each(
    DeleteTask, "Hide ended tasks; live ones are cancelled first. The journal keeps everything."
)
vouch = _on_each(
    VouchTask,
    """Say that you have looked at what the session of ended tasks remembers: it counts as yours.

    What the tasks came with, and all that is read from now on, stays what it is.
    """,
)


def run(*ids: Ids, wait: Wait = False, timeout: Timeout = None, json: AsJson = False) -> int:
    """Start planned tasks now.

    If no Remit runs here, this command does the work itself, until the task rests.
    """
    return _start(ids, _run_now, wait=wait, timeout=timeout, json=json)


def retry(*ids: Ids, wait: Wait = False, timeout: Timeout = None, json: AsJson = False) -> int:
    """Try ended tasks again, each as a new one in the same session."""
    return _start(ids, _retry, wait=wait, timeout=timeout, json=json)


def _start(
    ids: tuple[str, ...], begin: _Begin, *, wait: bool, timeout: float | None, json: bool
) -> int:
    """Start tasks; wait for them on request, or if no other process would do the work."""
    tally = CommandTally(app_settings.load(), json)
    found = _find_tasks(ids, tally)
    if not found:
        return tally.end()
    with remit_client.open_client(tally.settings, works=True) as way:
        stays = wait or (begin is _run_now and not way.serves)

        def one(task_id: TaskId) -> None:
            begun, after = begin(tally.settings, way, task_id)
            if stays:
                tally.wait_for(way, begun, timeout=timeout, after=after)
            else:
                tally.show_task(begun)

        tally.each(found, one, str)
        if tally.shown and not (way.serves or stays):
            out.say(remit_client.NOBODY)
    return tally.end()


def _run_now(settings: Settings, way: RemitClient, task_id: TaskId) -> tuple[TaskId, int]:
    with open_read_only(settings.database) as tx:
        asks = any(review.decision is None for review in reviews.of_task(tx, task_id))
    if asks:
        raise OwnerMustAnswer(
            f"Task {task_id} waits for you; `remit show {task_id}` says for what."
        )
    after = events_so_far(settings, task_id)
    begun = way.run(task_id)
    return begun, after if begun == task_id else 1


def _retry(_: Settings, way: RemitClient, task_id: TaskId) -> tuple[TaskId, int]:
    made = way.ask(RetryTask(task_id), new_key())
    return TaskId(str(made["id"])), 1


def _find_tasks(ids: tuple[str, ...], tally: CommandTally) -> list[TaskId]:
    with open_read_only(tally.settings.database) as tx:
        return tally.each(words.typed_ids(ids), partial(words.find_task, tx), str)


def edit(  # noqa: PLR0913 - all that may be changed
    task: Id,
    /,
    *,
    title: Annotated[str | None, flag("The new title.")] = None,
    text: Annotated[str | None, flag("The new instructions.", "--text", "-t")] = None,
    priority: Annotated[Priority | None, flag("The new priority; no rule changes it then.")] = None,
    at: Annotated[str | None, flag("The time, with offset: 2026-02-22T15:30:00+01:00.")] = None,
    in_: Annotated[str | None, flag("After this long: 90s, 2h30m, 3d.", "--in")] = None,
    json: AsJson = False,
) -> int:
    """Change a task that has not begun; what you leave out stays."""
    start = moment(at, in_)
    tally = CommandTally(app_settings.load(), json)
    with open_read_only(tally.settings.database) as tx:
        found = words.find_task(tx, task)
    with remit_client.open_client(tally.settings) as way:
        way.ask(EditTask(found, title, text, stamp(start) if start else None, priority))
    tally.show_task(found)
    return tally.end()


def moment(at: str | None, in_: str | None) -> datetime | None:
    """Return when it begins, if given."""
    if at is not None and in_ is not None:
        raise BadInput("Say either --at or --in, not both.", field="at")
    if at is not None:
        return cron.parse_moment(at, clock.now())
    return cron.parse_delay(in_, clock.now()) if in_ is not None else None
