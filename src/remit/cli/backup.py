"""`remit backup` and `remit restore`: save the whole database, and restore it safely."""

from pathlib import Path
from typing import Annotated

from remit import settings as house_settings
from remit.cli import clock, out, words
from remit.cli.out import AsJson, flag
from remit.errors import BadInput
from remit.model.codec import JsonMap
from remit.settings import Settings
from remit.store import backup as store_backup
from remit.store import home
from remit.store.after_restore import HeldTasks
from remit.store.postgres import refuse_without_driver


def backup(
    *,
    to: Annotated[Path | None, flag("The folder; backups/ in REMIT_HOME, if not said.")] = None,
    json: AsJson = False,
) -> int:
    """Save the database as it stands, checked, into a file of its own; Remit may go on working."""
    settings = house_settings.load()
    file = _file(settings)
    if not file.exists():
        raise BadInput(f"There is nothing to save yet in {settings.home}.")
    try:
        with out.measured("Saving") as tell:
            where = to or settings.backups
            saved = store_backup.save(file, where, clock.now(), tell, settings.files)
    except OSError as error:
        raise BadInput(f"The backup could not be written: {error}.", field="to") from None
    size = saved.stat().st_size
    sentence = f"Saved and checked, {size / 1e6:,.1f} MB. `remit restore` puts it back."
    return out.done(json, {"backup": str(saved), "bytes": size}, sentence, data=str(saved))


def restore(
    file: Annotated[Path | None, flag("The backup; none after `pg_restore`.")] = None,
    /,
    *,
    yes: Annotated[bool, flag("Do not ask.", "--yes", "-y")] = False,
    json: AsJson = False,
) -> int:
    """Put a backup in place of the database, which is kept beside it."""
    settings = house_settings.load()
    held = _restore_file(settings, file, yes) if file else _hold_back_server(settings, yes)
    restored = str(file) if file else None
    content: JsonMap = {"restored": restored, "paused": held.paused, "asked": held.asked}
    return out.done(
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
    if input(f"{out.clean(question)} [y/N] ").strip().lower() not in ("y", "yes"):
        raise BadInput("Nothing was changed.", field="yes")
