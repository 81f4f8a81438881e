"""Opens the store (a file, or a Postgres database for one process or several) and its files."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from remit.errors import StoreTrouble
from remit.files.kept_files import KeptFiles
from remit.settings import Settings
from remit.store import home
from remit.store.connection import BUSY_SECONDS, SqliteTx, connect, trouble
from remit.store.database import Database
from remit.store.group_commit import GroupCommit
from remit.store.postgres import refuse_without_driver


class Sqlite(GroupCommit):
    near = True

    def __init__(self, path: Path, *, busy: float = BUSY_SECONDS) -> None:
        def open_file(writable: bool) -> SqliteTx:
            try:
                return SqliteTx(connect(path, writable=writable, busy=busy), path, busy)
            except sqlite3.Error as error:
                raise trouble(path, error, busy) from error

        super().__init__(open_file)


def task_files(settings: Settings) -> KeptFiles:
    """Return the files of tasks: in a folder, or in a Postgres database with copies there."""
    place = settings.database
    if isinstance(place, Path):
        return KeptFiles(settings.files)
    refuse_without_driver()
    from remit.store.postgres.files import StoredFiles  # noqa: PLC0415 - an extra

    return StoredFiles(settings.files, place)


@asynccontextmanager
async def open_store(
    place: Path | str, home_folder: Path, *, process_clock: bool = False, shared: bool = False
) -> AsyncIterator[Database]:
    """Create or migrate the store, then open it; a text is the address of a Postgres database.

    With `process_clock` the time of this process decides what is due there, for tests; with
    `shared` other processes may work on that database, too.
    """
    if isinstance(place, str):
        async with _opened_server(
            place, home_folder, process_clock=process_clock, shared=shared
        ) as db:
            yield db
        return
    await asyncio.to_thread(home.prepare, place)
    file = Sqlite(place)
    try:
        yield file
    finally:
        await file.close()


@asynccontextmanager
async def _opened_server(
    url: str, home_folder: Path, *, process_clock: bool, shared: bool
) -> AsyncIterator[Database]:
    refuse_without_driver()
    from remit.store.postgres import lock, schema  # noqa: PLC0415 - an extra
    from remit.store.postgres.connection import location  # noqa: PLC0415 - as above
    from remit.store.postgres.database import Postgres, SharedPostgres  # noqa: PLC0415 - as above

    with lock.shared_process(url) if shared else lock.only_process(url):
        await asyncio.to_thread(schema.prepare, url)
        seen = schema.LastEventFile(home_folder, location(url))
        db = (SharedPostgres if shared else Postgres)(url, process_clock=process_clock)
        try:
            await db.read(seen.refuse_older)
            db.on_commit(seen.follow)
            yield db
        finally:
            await db.close()
        # Closing seals what was written last.
        with suppress(StoreTrouble):  # what the file says already is true as well
            await asyncio.to_thread(schema.write_last_event, url, seen)
