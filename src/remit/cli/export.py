"""`remit export`: tasks in the formats of other programs."""

import os
from typing import Annotated, Final

from remit.cli import clock, out, words
from remit.cli.commands import CommandGroup
from remit.cli.database import database_of
from remit.cli.out import AsJson, Ids, flag
from remit.errors import BadInput
from remit.journal import tries
from remit.model.codec import JsonMap
from remit.model.reply import PROJECT
from remit.model.task import Task
from remit.store import tasks
from remit.store.database import Tx
from remit.store.read_only import glance

MOST: Final = 1_000  # tasks of a project
app = CommandGroup("export", "What other programs read of tasks, on stdout.")


@app.command("builder-state")
def builder_state(
    *ids: Ids,
    project: Annotated[str | None, flag("The tasks of this project.")] = None,
    json: AsJson = False,
) -> int:
    """Contracts, what the checks found, attempts and times: S2's builder-state.json."""
    if (project is None) == (not ids):
        raise BadInput("Name tasks, or a project with --project.", field="project")
    with glance(database_of(os.environ)) as tx:
        state = _state(tx, ids, project)
    if json:
        return out.done(json, {"builderState": state})
    out.document(state)
    return 0


def _state(tx: Tx, ids: tuple[str, ...], project: str | None) -> JsonMap:
    if project is None:
        found = [tasks.get(tx, words.find_task(tx, word)) for word in words.typed_ids(ids)]
    else:
        found = _project_tasks(tx, project)
    return tries.builder_state(tx, found, clock.now(), project=project)


def _project_tasks(tx: Tx, project: str) -> list[Task]:
    found = tasks.of_agent(tx, f"{PROJECT}{project}", MOST + 1)
    if not found:
        raise BadInput(f"No task is work on a project {project!r:.60}.", field="project")
    if len(found) > MOST:
        out.say(f"There are more; these are the newest {MOST:,}.")
    return found[-MOST:]
