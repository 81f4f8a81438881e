"""`remit audit`: check the store and the logs for changes made outside Remit."""

import os
from collections.abc import Iterator
from typing import Annotated

from cyclopts import App
from msgspec.structs import replace

from remit import settings as house_settings
from remit.cli import out, words
from remit.cli.out import AsJson, Ids, flag
from remit.errors import BadInput
from remit.journal.scribe import TaskLogWriter
from remit.model.codec import Json
from remit.model.ids import TaskId
from remit.settings import home_of
from remit.store import audit as store_audit
from remit.store import events, search
from remit.store.database import Tx
from remit.store.read_only import glance
from remit.store.search import TaskFilter

app = App(name="audit")


@app.default
@app.command
def verify(*, json: AsJson = False) -> int:
    """Walk the journal's chain of hashes and compare every task with it."""
    path = home_of(os.environ) / "agent.db"
    # Remit may be working: without one snapshot, its writes would look like damage.
    with glance(path) as tx, tx.snapshot(), out.working("Reading the journal"):
        found, told = list(store_audit.complaints(tx)), events.last(tx)
    if json:
        out.emit({"whole": not found, "events": told, "complaints": list[Json](found)})
    else:
        for complaint in found:
            out.line(complaint)
        out.say(
            f"{words.count(len(found), 'thing')} not as written: {path} is damaged, or something "
            "else than Remit changed it. Keep a copy of it, then put the newest backup in place "
            "with `remit restore`."
            if found
            else f"Everything is as it was written: {words.count(told, 'event')}."
        )
    return 1 if found else 0


@app.command(name="log-rebuild")
def log_rebuild(
    *ids: Ids,
    all_: Annotated[bool, flag("Those of all tasks.", "--all")] = False,
    json: AsJson = False,
) -> int:
    """Write the logs of tasks anew from the journal."""
    if all_ == bool(ids):
        raise BadInput("Name the tasks, or say --all.", field="id")
    scribe, written = TaskLogWriter(house_settings.load().logs), list[Json]()
    with glance(home_of(os.environ) / "agent.db") as tx, out.measured("Writing") as tell:
        wanted = list(_every(tx)) if all_ else [words.task(tx, word) for word in words.words(ids)]
        for place, task_id in enumerate(wanted, 1):
            written.append(str(scribe.rebuild(task_id, events.of_task(tx, task_id))))
            tell(place / len(wanted))
    if json:
        out.emit({"written": written})
    else:
        for path in written:
            out.line(str(path))
    return 0


def _every(tx: Tx) -> Iterator[TaskId]:
    for deleted in (False, True):
        wanted = TaskFilter(limit=search.MOST, deleted=deleted)
        while True:
            page = search.page(tx, wanted)
            yield from (task.id for task in page.tasks)
            if page.next is None:
                break
            wanted = replace(wanted, before=page.next)
