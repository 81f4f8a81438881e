"""Commands on the whole store: backup, restore, move to Postgres, audit, and export."""

import os
from pathlib import Path
from typing import Annotated, Final

from remit import settings as app_settings
from remit.cli import clock, out, words
from remit.cli.commands import CommandGroup
from remit.cli.lookup import database_of
from remit.cli.out import AsJson, Ids, flag
from remit.errors import BadInput
from remit.files.kept_files import KeptFiles
from remit.journal import tries
from remit.journal.scribe import TaskLogWriter
from remit.model.codec import JsonMap
from remit.model.reply import PROJECT
from remit.model.task import Task
from remit.settings import Settings, sections
from remit.settings.checks import check_store_url
from remit.store import audit as store_audit
from remit.store import backup as store_backup
from remit.store import events, home, read_only, search, tasks
from remit.store.after_restore import HeldTasks
from remit.store.database import Tx
from remit.store.postgres import refuse_without_driver
from remit.store.read_only import open_read_only
from remit.store.search import TaskFilter


def backup(
    *,
    to: Annotated[Path | None, flag("The folder; default: backups/ in REMIT_HOME.")] = None,
    json: AsJson = False,
) -> int:
    """Save a checked copy of the database; Remit may go on working."""
    settings = app_settings.load()
    file = _file(settings)
    if not file.exists():
        raise BadInput(f"There is nothing to save yet in {settings.home}.")
    try:
        with out.progress_bar("Saving") as tell:
            where = to or settings.backups
            saved = store_backup.save(file, where, clock.now(), tell, settings.files)
    except OSError as error:
        raise BadInput(f"The backup could not be written: {error}.", field="to") from None
    size = saved.stat().st_size
    sentence = f"Saved and checked, {size / 1e6:,.1f} MB. `remit restore` puts it back."
    return out.print_result(json, {"backup": str(saved), "bytes": size}, sentence, data=str(saved))


def restore(
    file: Annotated[Path | None, flag("The backup file; leave it out after `pg_restore`.")] = None,
    /,
    *,
    yes: Annotated[bool, flag("Do not ask.", "--yes", "-y")] = False,
    json: AsJson = False,
) -> int:
    """Restore a backup; the present database is kept beside it."""
    settings = app_settings.load()
    held = _restore_file(settings, file, yes) if file else _hold_back_server(settings, yes)
    restored = str(file) if file else None
    content: JsonMap = {"restored": restored, "paused": held.paused, "asked": held.asked}
    return out.print_result(
        json,
        content,
        data=f"Restored. {_paused_sentence(held.paused)}{_asked_sentence(held.asked)}",
    )


def _restore_file(settings: Settings, file: Path, yes: bool) -> HeldTasks:
    if not file.is_file():
        raise BadInput(f"There is no backup {file}.", field="file")
    place = _file(settings)
    with home.lock(settings.home):
        if not yes:
            _confirm(f"Put {file} in place of {place}? The old one is kept.")
        with out.working("Checking the backup"):
            return store_backup.restore(file.absolute(), place, clock.now(), settings.files)


def _hold_back_server(settings: Settings, yes: bool) -> HeldTasks:
    if not settings.store.url:
        raise BadInput("Name the backup: `remit restore FILE`.", field="file")
    refuse_without_driver()
    from remit.store.postgres.schema import hold_back  # noqa: PLC0415 - an extra

    with home.lock(settings.home):
        if not yes:
            _confirm("Was the database put back from a dump? What may be done since then waits.")
        return hold_back(settings.store.url, settings.home, clock.now())


def _file(settings: Settings) -> Path:
    if settings.store.url:
        raise BadInput(
            "The store is on a Postgres server: save it with `pg_dump`. To put it back, use "
            "`pg_restore`, then `remit restore` without a file."
        )
    return settings.database_file


def _paused_sentence(held: int) -> str:
    if not held:
        return "Nothing was under way or due, so nothing was paused."
    were = "was" if held == 1 else "were"
    return (
        f"{words.count(held, 'task')} {were} paused: what was under way or due by now may have "
        "been done since the backup, and sent. Look with `remit ls --status paused`, and let go on "
        "with `remit resume` what should."
    )


def _asked_sentence(held: int) -> str:
    if not held:
        return ""
    return (
        f" {words.count(held, 'repeating task')} may have run since the backup: `remit inbox` asks "
        "whether to run each once more."
    )


def _confirm(question: str) -> None:
    if not out.interactive():
        raise BadInput("Nobody can be asked here; say --yes if you are sure.", field="yes")
    if not out.agrees(question):
        raise BadInput("Nothing was changed.", field="yes")


def move(
    *,
    to: Annotated[str, flag("An empty database: postgresql://user@host/name.")],
    json: AsJson = False,
) -> int:
    """Copy everything to a Postgres database, check it, and work there from then on."""
    settings = app_settings.load()
    check_store_url(to, "--to")
    if settings.store.url:
        raise BadInput("The store is on a Postgres server already.", field="to")
    if not settings.database_file.exists():
        raise BadInput(
            f"There is nothing to move yet in {settings.home}. Write the address under [store] in "
            "settings.toml, and start.",
            field="to",
        )
    refuse_without_driver()
    from remit.store.postgres import move as store_move  # noqa: PLC0415 - an extra

    with home.lock(settings.home), out.progress_bar("Copying") as tell:
        moved = store_move.move(settings.database_file, to, tell, KeptFiles(settings.files))
        sections.set_values(settings.home / "settings.toml", {"store": {"url": to}})
    sentence = (
        f"Moved and checked: {words.count(moved.tasks, 'task')}, "
        f"{words.count(moved.events, 'event')}. settings.toml names the database; "
        f"{settings.database_file} stays as it was and is not used any more."
    )
    return out.print_result(json, {"tasks": moved.tasks, "events": moved.events}, data=sentence)


audit_app = CommandGroup("audit")


@audit_app.default
@audit_app.command("verify")
def verify_store(*, json: AsJson = False) -> int:
    """Check the journal's chain of hashes, and every task and delivery against it."""
    path = app_settings.load().database
    # Remit may be working: without one snapshot, its writes would look like damage.
    with open_read_only(path) as tx, tx.snapshot(), out.working("Reading the journal"):
        found, event_count = list(store_audit.complaints(tx)), events.last(tx)
    sentence = f"Everything is as it was written: {words.count(event_count, 'event')}."
    if found:
        sentence = (
            f"{words.count(len(found), 'thing')} not as written: {read_only.location(path)} "
            "is damaged, or something else than Remit changed it. Keep a copy of it, then put the "
            "newest backup in place with `remit restore`."
        )
    payload: JsonMap = {"whole": not found, "events": event_count, "complaints": [*found]}
    return out.print_result(json, payload, sentence, data="\n".join(found)) or int(bool(found))


@audit_app.command("log-rebuild")
def log_rebuild(
    *ids: Ids,
    all_: Annotated[bool, flag("The logs of all tasks.", "--all")] = False,
    json: AsJson = False,
) -> int:
    """Rewrite the log files of tasks from the journal."""
    if all_ == bool(ids):
        raise BadInput("Name the tasks, or say --all.", field="id")
    settings = app_settings.load()
    scribe, written = TaskLogWriter(settings.logs), list[str]()
    with open_read_only(settings.database) as tx, out.progress_bar("Writing") as tell:
        filters = [TaskFilter(limit=search.MOST, deleted=deleted) for deleted in (False, True)]
        wanted = (
            [task.id for each in filters for task in words.every_task(tx, each)]
            if all_
            else [words.find_task(tx, word) for word in words.typed_ids(ids)]
        )
        for place, task_id in enumerate(wanted, 1):
            written.append(str(scribe.rebuild(task_id, events.of_task(tx, task_id))))
            tell(place / len(wanted))
    return out.print_result(json, {"written": [*written]}, data="\n".join(written))


_MOST_TASKS: Final = 1_000  # tasks of a project
export_app = CommandGroup("export", "Export tasks for other programs, to stdout.")


@export_app.command("builder-state")
def builder_state(
    *ids: Ids,
    project: Annotated[str | None, flag("The tasks of this project.")] = None,
    json: AsJson = False,
) -> int:
    """Print contracts, findings, attempts and times as builder-state.json."""
    if (project is None) == (not ids):
        raise BadInput("Name tasks, or a project with --project.", field="project")
    with open_read_only(database_of(os.environ)) as tx:
        state = _builder_state(tx, ids, project)
    if json:
        return out.print_result(json, {"builderState": state})
    out.document(state)
    return 0


def _builder_state(tx: Tx, ids: tuple[str, ...], project: str | None) -> JsonMap:
    if project is None:
        found = [tasks.get(tx, words.find_task(tx, word)) for word in words.typed_ids(ids)]
    else:
        found = _project_tasks(tx, project)
    return tries.builder_state(tx, found, clock.now(), project=project)


def _project_tasks(tx: Tx, project: str) -> list[Task]:
    found = tasks.of_agent(tx, f"{PROJECT}{project}", _MOST_TASKS + 1)
    if not found:
        raise BadInput(f"No task is work on a project {project!r:.60}.", field="project")
    if len(found) > _MOST_TASKS:
        out.say(f"There are more; these are the newest {_MOST_TASKS:,}.")
    return found[-_MOST_TASKS:]
