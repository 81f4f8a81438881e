"""`remit log`: what happened to a task, line by line, and what is happening now."""

import os
from typing import Annotated

from remit.cli import clock, event_text, out, words
from remit.cli.database import database_of
from remit.cli.out import AsJson, Id, StyledText, flag
from remit.cli.watch import PAUSE, EventWatch
from remit.model.codec import Json
from remit.model.run import Event, EventKind
from remit.store.read_only import glance


def log(
    id: Id,  # noqa: A002 - the argument is called so
    /,
    *,
    follow: Annotated[bool, flag("Go on until the task has ended.", "--follow", "-f")] = False,
    json: AsJson = False,
) -> int:
    """Print what happened to a task, line by line."""
    with glance(database_of(os.environ)) as tx:
        watch = EventWatch(tx, words.find_task(tx, id), _emit if json else _Printer())
        while True:
            task = watch.poll()
            if not follow or (task is not None and task.ended):
                return 0
            clock.pause(PAUSE)


def _emit(event: Event) -> None:
    from remit.journal.follow import record  # noqa: PLC0415 - loads asyncio

    out.emit(record(event))


class _Printer:
    """Prints one line per event, and below it what was said, without repeating."""

    def __init__(self) -> None:
        self._heard: Json = None  # the run whose progress was printed

    def __call__(self, event: Event) -> None:
        head, *rest = event_text.sentence(event).splitlines() or [""]
        style = event_text.styled(event).style
        when = words.local(event.at)
        out.line(StyledText(f"{when}  {event.actor.value:<10}  ", "dim"), StyledText(head, style))
        for each in (*rest, *self._text_of(event).strip().splitlines()):
            out.line(" " * (len(when) + 14), each)

    def _text_of(self, event: Event) -> str:
        text, run = str(event.data.get("text", "")), event.data.get("run")
        if event.kind is EventKind.RUN_SAID:
            self._heard = run if text else self._heard
            return text
        if event.kind is not EventKind.STEP_DONE:
            return ""
        streamed, self._heard = self._heard, None
        return "" if text and streamed == run else text
