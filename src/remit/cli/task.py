"""Commands on tasks: edit, run, retry, pause, undo, resume, cancel, delete, vouch."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Annotated, TypeAlias

from remit import settings as app_settings
from remit.cli import clock, out, remit_client, words
from remit.cli.codes import OwnerMustAnswer
from remit.cli.commands import Command
from remit.cli.out import AsJson, Id, Ids, Timeout, Wait, flag
from remit.cli.remit_client import RemitClient
from remit.cli.request_key import new_key
from remit.cli.tally import CommandTally, events_so_far
from remit.errors import BadInput
from remit.model.codec import stamp
from remit.model.ids import TaskId
from remit.model.task import Priority
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
from remit.store import reviews
from remit.store.read_only import open_read_only
from remit.triggers import cron

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
