"""`remit audit`: check the store and the logs for changes made outside Remit."""

from typing import Annotated

from remit import settings as house_settings
from remit.cli import out, words
from remit.cli.commands import CommandGroup
from remit.cli.out import AsJson, Ids, flag
from remit.errors import BadInput
from remit.journal.scribe import TaskLogWriter
from remit.model.codec import JsonMap
from remit.store import audit as store_audit
from remit.store import events, read_only, search
from remit.store.read_only import glance
from remit.store.search import TaskFilter

app = CommandGroup("audit")


@app.default
@app.command()
def verify(*, json: AsJson = False) -> int:
    """Walk the journal's chain of hashes and compare every task with it."""
    path = house_settings.load().database
    # Remit may be working: without one snapshot, its writes would look like damage.
    with glance(path) as tx, tx.snapshot(), out.working("Reading the journal"):
        found, event_count = list(store_audit.complaints(tx)), events.last(tx)
    sentence = f"Everything is as it was written: {words.count(event_count, 'event')}."
    if found:
        sentence = (
            f"{words.count(len(found), 'thing')} not as written: {read_only.location(path)} "
            "is damaged, or something else than Remit changed it. Keep a copy of it, then put the "
            "newest backup in place with `remit restore`."
        )
    payload: JsonMap = {"whole": not found, "events": event_count, "complaints": [*found]}
    return out.done(json, payload, sentence, data="\n".join(found)) or int(bool(found))


@app.command("log-rebuild")
def log_rebuild(
    *ids: Ids,
    all_: Annotated[bool, flag("Those of all tasks.", "--all")] = False,
    json: AsJson = False,
) -> int:
    """Write the logs of tasks anew from the journal."""
    if all_ == bool(ids):
        raise BadInput("Name the tasks, or say --all.", field="id")
    settings = house_settings.load()
    scribe, written = TaskLogWriter(settings.logs), list[str]()
    with glance(settings.database) as tx, out.measured("Writing") as tell:
        filters = [TaskFilter(limit=search.MOST, deleted=deleted) for deleted in (False, True)]
        wanted = (
            [task.id for each in filters for task in words.every_task(tx, each)]
            if all_
            else [words.find_task(tx, word) for word in words.typed_ids(ids)]
        )
        for place, task_id in enumerate(wanted, 1):
            written.append(str(scribe.rebuild(task_id, events.of_task(tx, task_id))))
            tell(place / len(wanted))
    return out.done(json, {"written": [*written]}, data="\n".join(written))
