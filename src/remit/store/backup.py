"""Backups while Remit runs, and a restore that sends nothing twice."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from remit.errors import BadInput
from remit.model.codec import Json, stamp
from remit.model.ids import TaskId
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor
from remit.store import after_restore, cues, events, home, meta, notices, read_only, rows
from remit.store.connection import SqliteTx, connect, trouble
from remit.store.database import Tx
from remit.system.files import sync_folder

_PAGES = 2000


def save(source: Path, folder: Path, now: datetime, progress: Callable[[float], None]) -> Path:
    """Copy the current database, verified, into a file of its own."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    target = folder / f"agent-{now:%Y%m%dT%H%M%S}Z.db"
    partial = target.with_suffix(".partial")
    try:
        _copy(source, partial, now, progress)
        with closing(connect(partial)) as copy:
            home.check(source, copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        partial.rename(target)
    except sqlite3.Error as error:
        raise trouble(source, error) from error
    finally:
        _remove(partial)
    sync_folder(folder)
    return target


class HeldTasks(Struct, frozen=True):
    """How many tasks wait for the owner after a restore: paused ones, and ones with a question."""

    paused: int
    asked: int


def restore(saved: Path, target: Path, now: datetime) -> HeldTasks:
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
        held = _hold_back(tx, now)
        tx.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    _swap(fresh, target, now)
    return held


def incarnation(tx: Tx) -> int:
    """Return how often this history was restored, plus one."""
    return int(meta.get(tx, "incarnation") or 1)


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


def _hold_back(tx: Tx, now: datetime) -> HeldTasks:
    number = incarnation(tx) + 1
    meta.put(tx, "incarnation", str(number))
    entry = NewEvent(EventKind.STORE_RESTORED, Actor.OWNER, {"incarnation": number})
    events.append(tx, None, 0, entry, now)
    after_restore.note(tx, now)
    cues.mark_restored(tx, now)
    why = "restored from a backup; it may be out already"
    tx.run("doubt_all_sends", {"why": why, "now": rows.ms(now)})
    notices.doubt_all(tx)
    # Access revoked since the backup must stay revoked: everybody signs in again.
    tx.run("revoke_all_tokens", {"now": rows.ms(now)})
    tx.run("end_all_sign_ins", {"now": rows.ms(now)})
    asked = after_restore.hold_due_slots(tx, now)
    found = tx.all("pause_due_tasks", {"now": rows.ms(now)})
    for row in found:
        was = str(row["resume_to"])
        data: dict[str, Json] = {"was": was, "to": "paused", "note": "restored from a backup"}
        place = rows.number(row["events"])
        moved = NewEvent(EventKind.TASK_MOVED, Actor.OWNER, data)
        events.append(tx, TaskId(str(row["id"])), place, moved, now)
    return HeldTasks(len(found), asked)


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
