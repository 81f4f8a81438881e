"""`remit add`: entrust a task, and get a receipt of what was understood."""

import os
import sys
from datetime import datetime
from typing import Annotated, Final

from remit import settings as house_settings
from remit.cli import clock, codes, door, find, out, rest, words
from remit.cli.options import AsJson, Timeout, Wait, flag, free
from remit.cli.order import Order
from remit.cli.out import Ink, Piece
from remit.errors import BadInput, KeyReused
from remit.model.ids import TaskId
from remit.model.task import Priority, Task
from remit.model.view import View
from remit.model.view import show as view
from remit.settings import Settings
from remit.store import tasks
from remit.store.glance import by_key, glance
from remit.trigger import timer

_TEXT: Final = ("--text", "-t")
_WORK: Final = ("--work", "-w")


def add(  # noqa: PLR0913 - all that a person may say at once
    text: Annotated[str, free("What is to be done, in your words; - reads it from stdin.")],
    /,
    *,
    content: Annotated[str | None, flag("Send exactly this; no brain writes.", *_TEXT)] = None,
    to: Annotated[str | None, flag("Whom it goes to; you, if not said.")] = None,
    channel: Annotated[str, flag("How it goes there; the dashboard, if not said.")] = "dashboard",
    work: Annotated[tuple[str, ...], flag("A thing to work on; may be repeated.", *_WORK)] = (),
    at: Annotated[str | None, flag("When, with offset: 2026-02-22T15:30:00+01:00.")] = None,
    in_: Annotated[str | None, flag("In how long: 90s, 2h30m, 3d.", "--in")] = None,
    priority: Annotated[Priority | None, flag("How urgent; else the rules decide.")] = None,
    key: Annotated[str | None, flag("The same key twice is the same task.")] = None,
    wait: Wait = False,
    timeout: Timeout = None,
    json: AsJson = False,
) -> int:
    """Entrust a task, and get a receipt of what was understood."""
    settings = house_settings.load()
    order = Order(
        text=_whole(text),
        key=f"key:{key}" if key else f"cli:{os.urandom(16).hex()}",
        content=content,
        recipient=to,
        channel=channel,
        work=work,
        scheduled_for=_moment(at, in_),
        priority=priority,
    )
    with door.opened(settings, works=wait) as way:
        task_id = _known(settings, key, order) or way.add(order)
        if wait:
            out.say(f"Task {task_id} was added.")
            task = rest.wait(settings, way, task_id, timeout=timeout, after=1)
            rest.result(settings, task, json=json)
            return codes.of_status(task.status)
        serves = way.serves
    _receipt(settings, task_id, serves=serves, json=json)
    return 0


def _known(settings: Settings, key: str | None, order: Order) -> TaskId | None:
    """What the key became before; other words under the same key are a mistake, and said."""
    if key is None:
        return None
    with glance(settings.database) as tx:
        found = by_key(tx, key)
        task = tasks.get(tx, found) if found else None
    if task is None:
        return None
    if task.request is None or task.request.text != order.text.strip():
        raise KeyReused(key)
    out.say(Ink("Nothing new: this key stands for a task that is there.", "dim"))
    return task.id


def _whole(text: str) -> str:
    return sys.stdin.read() if text == "-" else text


def _moment(at: str | None, in_: str | None) -> datetime | None:
    if at is not None and in_ is not None:
        raise BadInput("Say either --at or --in, not both.", field="at")
    if at is not None:
        return timer.at(at, clock.now())
    return timer.after(in_, clock.now()) if in_ is not None else None


def _receipt(settings: Settings, task_id: TaskId, *, serves: bool, json: bool) -> None:
    with glance(settings.database) as tx:
        task = tasks.get(tx, task_id)
        ref = find.short(tx, task_id)
    if json:
        out.emit({"task": view(task, View.S3)})
    else:
        out.table(_rows(task, serves=serves))
        out.say(Ink(f"See it with: remit show {ref}", "dim"))
    if not serves:
        out.say(door.NOBODY)


def _rows(task: Task, *, serves: bool) -> list[list[Piece]]:
    """What was understood, when it runs, to whom it goes."""
    rows: list[list[Piece]] = [[Ink("Task", "dim"), Ink(task.title, "bold")]]
    if task.plan.precomposed:
        rows.append([Ink("Work", "dim"), "none: your text goes out as it is"])
    rows += [[Ink("Work", "dim"), item.description] for item in task.work]
    for delivery in task.delivery:
        rows.append([Ink("Goes to", "dim"), words.to_whom(delivery)])
        if delivery.content is not None:
            rows.append([Ink("Text", "dim"), delivery.content])
        if delivery.recipient is not None:
            rows.append([Ink("", ""), "you are asked before it is sent"])
    rows.append([Ink("Runs", "dim"), _when(task, serves=serves)])
    if task.rule is not None and task.rule.name == "owner":
        rows.append([Ink("Priority", "dim"), f"{task.priority.value}, as you said"])
    rows.append([Ink("Id", "dim"), str(task.id)])
    return rows


def _when(task: Task, *, serves: bool) -> str:
    if task.scheduled_for is not None:
        return words.planned(task.scheduled_for, clock.now())
    return "now" if serves else "as soon as Remit is up"
