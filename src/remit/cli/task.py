"""Commands on tasks: run, retry, pause, undo, resume, cancel, delete, vouch."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from remit import settings as house_settings
from remit.cli import out, remit_client, wait_for_task, words
from remit.cli.codes import OwnerMustAnswer
from remit.cli.out import AsJson, Ids, Timeout, Wait
from remit.cli.remit_client import RemitClient
from remit.cli.request_key import new_key
from remit.cli.tally import CommandTally
from remit.model.ids import TaskId
from remit.operations.arguments import (
    CancelTask,
    DeleteTask,
    PauseTask,
    ResumeTask,
    RetryTask,
    TaskArguments,
    UndoTask,
    VouchTask,
)
from remit.settings import Settings
from remit.store import reviews
from remit.store.read_only import glance

_Begin: TypeAlias = Callable[[Settings, RemitClient, TaskId], tuple[TaskId, int]]


def pause(*ids: Ids, json: AsJson = False) -> int:
    """Stop at the next boundary, never in the middle of a send."""
    return _each(ids, PauseTask, json=json)


def undo(*ids: Ids, json: AsJson = False) -> int:
    """Call back what you approved, while nothing of it is on its way; you are asked again."""
    return _each(ids, UndoTask, json=json)


def resume(*ids: Ids, json: AsJson = False) -> int:
    """Go on where it was."""
    return _each(ids, ResumeTask, json=json)


def cancel(*ids: Ids, json: AsJson = False) -> int:
    """End tasks; one that is at work ends at its next boundary."""
    return _each(ids, CancelTask, json=json)


def delete(*ids: Ids, json: AsJson = False) -> int:
    """Hide ended tasks; live ones are cancelled first. The journal keeps everything."""
    return _each(ids, DeleteTask, json=json)


def vouch(*ids: Ids, json: AsJson = False) -> int:
    """Say that you have looked at what the session of ended tasks remembers: it counts as yours.

    What the tasks came with, and all that is read from now on, stays what it is.
    """
    return _each(ids, VouchTask, json=json)


def run(*ids: Ids, wait: Wait = False, timeout: Timeout = None, json: AsJson = False) -> int:
    """Start now what was planned for later.

    If no Remit runs here, this command does the work itself, until the task rests.
    """
    return _start(ids, _run_now, wait=wait, timeout=timeout, json=json)


def retry(*ids: Ids, wait: Wait = False, timeout: Timeout = None, json: AsJson = False) -> int:
    """Try ended tasks again, each as a new one in the same session."""
    return _start(ids, _retry, wait=wait, timeout=timeout, json=json)


def _each(ids: tuple[str, ...], kind: Callable[[str], TaskArguments], *, json: bool) -> int:
    tally = CommandTally(house_settings.load(), json)
    found = _find_tasks(ids, tally)
    if found:
        with remit_client.opened(tally.settings) as way:

            def one(task_id: TaskId) -> None:
                way.ask(kind(task_id))
                tally.show_task(task_id)

            tally.each(found, one, str)
    return tally.end()


def _start(
    ids: tuple[str, ...], begin: _Begin, *, wait: bool, timeout: float | None, json: bool
) -> int:
    """Start tasks; wait for them on request, or if no other process would do the work."""
    tally = CommandTally(house_settings.load(), json)
    found = _find_tasks(ids, tally)
    if not found:
        return tally.end()
    with remit_client.opened(tally.settings, works=True) as way:
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
    with glance(settings.database) as tx:
        asks = any(review.decision is None for review in reviews.of_task(tx, task_id))
    if asks:
        raise OwnerMustAnswer(
            f"Task {task_id} waits for you; `remit show {task_id}` says for what."
        )
    after = wait_for_task.events_so_far(settings, task_id)
    begun = way.run(task_id)
    return begun, after if begun == task_id else 1


def _retry(_: Settings, way: RemitClient, task_id: TaskId) -> tuple[TaskId, int]:
    made = way.ask(RetryTask(task_id), new_key())
    return TaskId(str(made["id"])), 1


def _find_tasks(ids: tuple[str, ...], tally: CommandTally) -> list[TaskId]:
    with glance(tally.settings.database) as tx:
        return tally.each(words.typed_ids(ids), partial(words.find_task, tx), str)
