"""SQLite: one writer thread with group commit, and reader threads.

Writes that wait together are committed together, so the fsync is paid once. The event loop hands
over a batch after every ready coroutine has run, so a burst becomes one commit, and the writer has
the interpreter to itself.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Concatenate, Final, ParamSpec, TypeVar, cast

from msgspec import Struct

from remit.errors import RemitError, StoreTrouble
from remit.failpoint import failpoint
from remit.model.run import Event
from remit.store.connection import BUSY_SECONDS, SqliteTx, connect, trouble
from remit.store.database import OnCommit, Tx

P = ParamSpec("P")
T = TypeVar("T")

MOST_IN_A_COMMIT: Final = 512
READERS: Final = 2


class WriteJob(Struct):
    """One waiting write: what to run, and who waits for it."""

    name: str
    work: Callable[[Tx], object]
    waiter: "asyncio.Future[object]"
    result: object = None
    error: BaseException | None = None


class Sqlite:
    def __init__(self, path: Path, *, busy: float = BUSY_SECONDS) -> None:
        self._path = path
        self._seconds = busy
        self._connection = self._open()
        self._looking: list[sqlite3.Connection] = []
        self._loop = asyncio.get_running_loop()
        self._waiting: list[WriteJob] = []
        self._busy = self._flush_planned = self._closed = False
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._tell: list[OnCommit] = []
        self._batches: SimpleQueue[list[WriteJob] | None] = SimpleQueue()
        self._local = threading.local()
        self._readers = ThreadPoolExecutor(READERS, "remit-reader")
        self._writer = threading.Thread(target=self._write_for_ever, name="remit-writer")
        self._writer.start()

    async def write(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._closed:
            raise StoreTrouble("The store is closed; nothing was written.")
        waiter: asyncio.Future[object] = self._loop.create_future()
        self._quiet.clear()
        self._waiting.append(WriteJob(work.__name__, lambda tx: work(tx, *args, **kwargs), waiter))
        self._plan_flush()
        return cast("T", await waiter)

    async def read(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        call = partial(self._read, lambda tx: work(tx, *args, **kwargs))
        return cast("T", await self._loop.run_in_executor(self._readers, call))

    def on_commit(self, tell: OnCommit) -> None:
        self._tell.append(tell)

    async def close(self) -> None:
        """Finish waiting writes, then close the file."""
        self._closed = True
        await self._quiet.wait()
        await asyncio.to_thread(self._readers.shutdown)
        for connection in self._looking:
            connection.close()
        # The writer closes last: the last connection folds the log into the file.
        self._batches.put(None)
        await asyncio.to_thread(self._writer.join)

    # On the loop's thread -----------------------------------------------------------------------

    def _plan_flush(self) -> None:
        if not self._flush_planned:
            self._flush_planned = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_planned = False
        if self._busy:
            return  # waiting writes go with the next batch
        if not self._waiting:
            self._quiet.set()
            return
        self._busy = True
        batch = self._waiting[:MOST_IN_A_COMMIT]
        del self._waiting[:MOST_IN_A_COMMIT]
        self._batches.put(batch)

    def _settle(self, batch: list[WriteJob], happened: list[Event]) -> None:
        self._busy = False
        for job in batch:
            if job.waiter.cancelled():
                continue
            if job.error is None:
                job.waiter.set_result(job.result)
            else:
                job.waiter.set_exception(job.error)
        if happened:
            for tell in self._tell:
                tell(happened)
        self._plan_flush()

    # On the writer's thread ---------------------------------------------------------------------

    def _write_for_ever(self) -> None:
        tx = SqliteTx(self._connection)
        while (batch := self._batches.get()) is not None:
            self._commit(tx, batch)
            happened, tx.committed = tx.committed, []
            with suppress(RuntimeError):  # the loop was closed under us: nobody waits any more
                self._loop.call_soon_threadsafe(self._settle, batch, happened)
        # No PRAGMA optimize: by the statistics of a young file SQLite would take other indexes, and
        # sort and scan in an old one. Without any it takes those that were made for the question.
        self._connection.close()

    def _commit(self, tx: SqliteTx, batch: list[WriteJob]) -> None:
        """Commit all together. If one spoils that, each runs again behind a savepoint.

        Only if the transaction itself is lost does each commit for itself.
        """
        for job in batch:
            failpoint(f"{job.name}:before")
        if not self._together(tx, batch) and not self._together(tx, batch, savepoints=True):
            for job in batch:
                self._together(tx, [job])
        for job in batch:
            if job.error is None:
                failpoint(f"{job.name}:after")

    def _together(self, tx: SqliteTx, batch: list[WriteJob], *, savepoints: bool = False) -> bool:
        try:
            tx.begin()
            for job in batch:
                job.result, job.error = None, None
                if not self._run(tx, job, savepoints) and len(batch) > 1:
                    tx.rollback()
                    return False
            if any(job.error is None for job in batch):
                tx.commit()
            else:
                tx.rollback()
        except sqlite3.Error as error:
            tx.rollback()
            for job in batch:
                job.error = self._trouble(error)
        return True

    def _run(self, tx: SqliteTx, job: WriteJob, savepoint: bool) -> bool:
        """Run one job; False if it failed and may have left something half done."""
        before, events = tx.changes, len(tx.appended)
        if savepoint:
            tx.savepoint()
        try:
            job.result = job.work(tx)
        except Exception as error:  # noqa: BLE001 - whoever waits for the job gets it
            job.error = self._trouble(error) if isinstance(error, sqlite3.Error) else error
            if savepoint:
                return tx.rollback_to_savepoint(events)
            # After an operational error nobody knows how much of the transaction is left.
            return tx.changes == before and not isinstance(error, sqlite3.OperationalError)
        if savepoint:
            tx.release_savepoint()
        return True

    def _open(self, *, writable: bool = True) -> sqlite3.Connection:
        try:
            return connect(self._path, writable=writable, busy=self._seconds)
        except sqlite3.Error as error:
            raise self._trouble(error) from error

    def _trouble(self, error: sqlite3.Error) -> RemitError:
        return trouble(self._path, error, self._seconds)

    # On a reader's thread -----------------------------------------------------------------------

    def _read(self, work: Callable[[Tx], T]) -> T:
        tx = getattr(self._local, "tx", None)
        if tx is None:
            connection = self._open(writable=False)
            self._looking.append(connection)
            tx = self._local.tx = SqliteTx(connection)
        try:
            tx.look()
            return work(tx)
        except sqlite3.Error as error:
            raise self._trouble(error) from error
        finally:
            tx.rollback()
