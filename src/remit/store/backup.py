"""Backups while Remit runs, and a restore that sends nothing twice."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path

from remit.errors import BadInput
from remit.model.codec import stamp
from remit.store import home, read_only
from remit.store.after_restore import HeldTasks, hold_back
from remit.store.connection import SqliteTx, connect, trouble
from remit.system.files import sync_folder

_PAGES = 2000


def save(
    source: Path,
    folder: Path,
    now: datetime,
    progress: Callable[[float], None],
    files: Path | None = None,
) -> Path:
    """Copy the current database, verified, into a file of its own; the files of tasks beside it.

    Their bytes are stored before a row names them, so they are copied after the rows.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    target = folder / f"agent-{now:%Y%m%dT%H%M%S}Z.db"
    partial = target.with_suffix(".partial")
    try:
        _copy(source, partial, now, progress)
        with closing(connect(partial)) as copy:
            home.check(source, copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        if files is not None and files.is_dir():
            copy_files(files, target.with_suffix(".files"))
        partial.rename(target)
    except sqlite3.Error as error:
        raise trouble(source, error) from error
    finally:
        _remove(partial)
    sync_folder(folder)
    return target


def copy_files(source: Path, target: Path) -> None:
    """Copy files that are named by their hash; what is there already is the same."""
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    for each in source.iterdir():
        fresh = target / each.name
        if each.name.startswith(".") or fresh.exists():
            continue
        half = target / f".{each.name}.half"
        shutil.copyfile(each, half, follow_symlinks=False)
        half.chmod(0o600)
        half.rename(fresh)
    sync_folder(target)


def restore(saved: Path, target: Path, now: datetime, files: Path | None = None) -> HeldTasks:
    """Replace the database by a backup; the old file is kept beside it.

    What was due between the backup and now may have run and sent something. So everything active or
    due waits for the owner. What a series, a calendar or a channel adds later, and may have added
    before, is asked about then (`store.after_restore`).
    """
    if not saved.is_file():
        raise BadInput(f"There is no backup {saved}.")
    read_only.check(saved)
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = target.with_name(home.RESTORING)
    _remove(fresh)  # what an earlier restore left, above all its log
    fresh.touch(mode=0o600)
    shutil.copyfile(saved, fresh)
    home.prepare(fresh)
    with closing(connect(fresh)) as connection:
        tx = SqliteTx(connection)
        tx.begin()
        held = hold_back(tx, now)
        tx.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    if files is not None and saved.with_suffix(".files").is_dir():
        copy_files(saved.with_suffix(".files"), files)
    _swap(fresh, target, now)
    return held


def _copy(source: Path, partial: Path, now: datetime, progress: Callable[[float], None]) -> None:
    def tell(_: int, left: int, total: int) -> None:
        progress(1 - left / total if total else 1.0)

    with (
        closing(connect(source, writable=False)) as reader,
        closing(sqlite3.connect(partial, isolation_level=None)) as writer,
    ):
        partial.chmod(0o600)
        # Otherwise SQLite would restart the copy after every write, and might never finish.
        SqliteTx(reader).look()
        reader.execute("SELECT * FROM meta").fetchall()
        reader.backup(writer, pages=_PAGES, progress=tell)
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute("INSERT OR REPLACE INTO meta VALUES ('backup_at', ?)", (stamp(now),))


def _swap(fresh: Path, target: Path, now: datetime) -> None:
    """Swap the files. A crash here leaves only the restored file; `home.prepare` detects that."""
    for suffix in ("", "-wal", "-shm"):
        old = target.with_name(target.name + suffix)
        if old.exists():
            old.rename(target.with_name(f"agent.replaced-{now:%Y%m%dT%H%M%S}Z.db{suffix}"))
    fresh.rename(target)
    sync_folder(target.parent)


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
