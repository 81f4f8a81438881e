"""`remit edit`: change a task that has not begun."""

from datetime import datetime
from typing import Annotated

from remit import settings as house_settings
from remit.cli import clock, remit_client, words
from remit.cli.out import AsJson, Id, flag
from remit.cli.tally import CommandTally
from remit.errors import BadInput
from remit.model.codec import stamp
from remit.model.task import Priority
from remit.operations.arguments import EditTask
from remit.store.read_only import glance
from remit.triggers import cron


def edit(  # noqa: PLR0913 - all that may be changed
    task: Id,
    /,
    *,
    title: Annotated[str | None, flag("What it is called.")] = None,
    text: Annotated[str | None, flag("What is to be done.", "--text", "-t")] = None,
    priority: Annotated[Priority | None, flag("How urgent; no rule changes it then.")] = None,
    at: Annotated[str | None, flag("When, with offset: 2026-02-22T15:30:00+01:00.")] = None,
    in_: Annotated[str | None, flag("In how long: 90s, 2h30m, 3d.", "--in")] = None,
    json: AsJson = False,
) -> int:
    """Change a task that has not begun; what is not said stays as it is."""
    start = moment(at, in_)
    tally = CommandTally(house_settings.load(), json)
    with glance(tally.settings.database) as tx:
        found = words.find_task(tx, task)
    with remit_client.opened(tally.settings) as way:
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
