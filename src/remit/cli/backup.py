"""`remit backup` and `remit restore`: save the whole database, and restore it safely."""

from pathlib import Path
from typing import Annotated

from remit import settings as house_settings
from remit.cli import clock, out, words
from remit.cli.out import AsJson, flag
from remit.errors import BadInput
from remit.store import backup as store_backup
from remit.store import home


def backup(
    *,
    to: Annotated[Path | None, flag("The folder; backups/ in REMIT_HOME, if not said.")] = None,
    json: AsJson = False,
) -> int:
    """Save the database as it stands, checked, into a file of its own; Remit may go on working."""
    settings = house_settings.load()
    if not settings.database.exists():
        raise BadInput(f"There is nothing to save yet in {settings.home}.")
    try:
        with out.measured("Saving") as tell:
            saved = store_backup.save(settings.database, to or settings.backups, clock.now(), tell)
    except OSError as error:
        raise BadInput(f"The backup could not be written: {error}.", field="to") from None
    size = saved.stat().st_size
    if json:
        out.emit({"backup": str(saved), "bytes": size})
    else:
        out.line(str(saved))
        out.say(f"Saved and checked, {size / 1e6:,.1f} MB. `remit restore` puts it back.")
    return 0


def restore(
    file: Annotated[Path, flag("The backup.")],
    /,
    *,
    yes: Annotated[bool, flag("Do not ask.", "--yes", "-y")] = False,
    json: AsJson = False,
) -> int:
    """Put a backup in place of the database, which is kept beside it."""
    settings = house_settings.load()
    if not file.is_file():
        raise BadInput(f"There is no backup {file}.", field="file")
    with home.lock(settings.home):
        if not yes:
            _make_sure(f"Put {file} in place of {settings.database}? The old one is kept.")
        with out.working("Checking the backup"):
            held = store_backup.restore(file.absolute(), settings.database, clock.now())
    if json:
        out.emit({"restored": str(file), "paused": held.paused, "asked": held.asked})
        return 0
    out.line(f"Restored. {_paused(held.paused)}{_asked(held.asked)}")
    return 0


def _paused(held: int) -> str:
    if not held:
        return "Nothing was under way or due, so nothing was paused."
    were = "was" if held == 1 else "were"
    return (
        f"{words.count(held, 'task')} {were} paused: what was under way or due by now may have "
        "been done since the backup, and sent. Look with `remit ls --status paused`, and let go on "
        "with `remit resume` what should."
    )


def _asked(held: int) -> str:
    if not held:
        return ""
    return (
        f" {words.count(held, 'repeating task')} may have run since the backup: `remit inbox` asks "
        "whether to run each once more."
    )


def _make_sure(question: str) -> None:
    if not out.interactive():
        raise BadInput("Nobody can be asked here; say --yes if you are sure.", field="yes")
    if input(f"{out.clean(question)} [y/N] ").strip().lower() not in ("y", "yes"):
        raise BadInput("Nothing was changed.", field="yes")
