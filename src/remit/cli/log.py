"""`remit log`: what happened to a task, line by line, and what is happening."""

import os
from typing import Annotated

from remit.cli import clock, find, out, tell, words
from remit.cli.options import AsJson, Id, flag
from remit.cli.out import Ink
from remit.cli.watch import PAUSE, Watch
from remit.journal import transcript
from remit.model.event import Event, Kind
from remit.settings import home_of
from remit.store.glance import glance


def log(
    id: Id,  # noqa: A002 - the argument is called so
    /,
    *,
    follow: Annotated[bool, flag("Go on until the task has ended.", "--follow", "-f")] = False,
    json: AsJson = False,
) -> int:
    """Print what happened to a task, line by line."""
    with glance(home_of(os.environ) / "agent.db") as tx:
        watch = Watch(tx, find.task(tx, id), _emit if json else _print)
        while True:
            task = watch.look()
            if not follow or (task is not None and task.ended):
                return 0
            clock.pause(PAUSE)


def _emit(event: Event) -> None:
    out.emit(transcript.record(event))


def _print(event: Event) -> None:
    """One line, and beneath it what somebody said."""
    head, *rest = tell.sentence(event).splitlines() or [""]
    style = tell.inked(event).style
    when = words.local(event.at)
    out.line(Ink(f"{when}  {event.actor.value:<10}  ", "dim"), Ink(head, style))
    said = str(event.data.get("text", "")) if event.kind is Kind.STEP_DONE else ""
    for each in (*rest, *said.strip().splitlines()):
        out.line(" " * (len(when) + 14), each)
