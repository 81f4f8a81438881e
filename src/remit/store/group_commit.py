"""One writer thread with group commit, and reader threads, over connections of one database.

Writes that wait together are committed together, so the fsync is paid once. The event loop hands
over a batch after every ready coroutine has run, so a burst becomes one commit.

If the database is near and all writes of a batch are quick, they run on the loop's own thread, and
the writer only commits: after each statement a thread must wait for its turn in the interpreter.

Work that nobody watches goes on in turns: after a patient write, and where it asks for a turn. A
few go on at a time, and requests are answered in between; while somebody waits for a write, a turn
comes only every `TURN_EVERY_SECONDS`. What they write next waits until all had their turn, but not
longer than `PATIENT_SECONDS`. A write that somebody watches comes before them, and only a few of
them are committed with it.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial
from queue import SimpleQueue
from typing import ClassVar, Concatenate, Final, ParamSpec, Protocol, TypeVar, cast

from msgspec import Struct

from remit.errors import RemitError, StoreTrouble
from remit.failpoint import failpoint
from remit.model.run import Event
from remit.store.database import OnCommit, Tx

P = ParamSpec("P")
T = TypeVar("T")

MOST_IN_A_COMMIT: Final = 512
MOST_PATIENT_IN_A_COMMIT: Final = 16  # who comes after them waits for them
READERS: Final = 2
PATIENT_SECONDS: Final = 0.01  # that a patient write waits for others, at most
TURNS_AT_ONCE: Final = 8  # of about a millisecond each; a request waits for them
TURN_EVERY_SECONDS: Final = 0.04  # not more often, while somebody waits for a write
LINGER_SECONDS: Final = 0.005  # after a write that somebody waited for another one is expected
MOST_NEAR: Final = 64  # writes that run on the loop's thread at once
_LOOK_AGAIN_SECONDS: Final = 0.002
_TRIES: Final = 5  # of one write, while others are quicker


class StoreConnection(Tx, Protocol):
    """A connection to the database: its transactions, and the meaning of its errors."""

    committed: list[Event]

    @property
    def changes(self) -> int:
        """How many rows were changed so far; it rises with each write."""

    def begin(self, verbs: Sequence[str] = (), *, wait: bool = True) -> bool:
        """Begin to write; False if it may not wait, and another program writes now.

        `verbs` are the names of the functions that will run.
        """

    def look(self, *, single: bool = False) -> None:
        """Begin to read: everything after this sees one moment. A single query needs no more."""

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def savepoint(self) -> None: ...

    def rollback_to_savepoint(self, events: int) -> bool: ...

    def release_savepoint(self) -> None: ...

    def close(self) -> None: ...

    def explain(self, error: Exception) -> RemitError | None:
        """Return an error of the database as one with a sentence; None for any other error."""

    def can_go_on_after(self, error: Exception) -> bool:
        """Whether the transaction is still whole after an error."""

    def should_run_again(self) -> bool:
        """Whether the last transaction was undone only because another one was quicker."""


class WriteJob(Struct):
    """One waiting write: what to run, and who waits for it."""

    name: str
    verb: str  # with its module
    work: Callable[[Tx], object]
    waiter: "asyncio.Future[object]"
    patient: bool
    quick: bool
    result: object = None
    error: BaseException | None = None

    def tell(self) -> None:
        """Give the outcome to who waits for it."""
        if self.waiter.cancelled():
            return
        if self.error is None:
            self.waiter.set_result(self.result)
        else:
            self.waiter.set_exception(self.error)


class GroupCommit:
    near: ClassVar = False  # whether a few rows are there sooner than a thread wakes up

    def __init__(self, connect: Callable[[bool], StoreConnection]) -> None:
        """`connect` opens a connection that may write, or one that only reads."""
        self._connect = connect
        self._connection = connect(True)
        self._looking: list[StoreConnection] = []
        self._loop = asyncio.get_running_loop()
        self._waiting: list[WriteJob] = []
        self._turns: deque[Callable[[], None]] = deque()  # each lets one go on
        self._last_turn = float("-inf")
        self._watched = 0  # writes that somebody waits for
        self._watched_at = float("-inf")  # when the last one was committed
        self._busy = self._closed = False
        self._flush_planned: asyncio.Handle | None = None
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._tell: list[OnCommit] = []
        self._context = Context()  # what runs for many knows nothing of one of them
        self._batches: SimpleQueue[tuple[list[WriteJob], bool] | None] = SimpleQueue()
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
        name, verb = work.__name__, f"{work.__module__}.{work.__name__}"
        patient, is_quick = getattr(work, "patient", False), getattr(work, "quick", False)
        job = WriteJob(name, verb, lambda tx: work(tx, *args, **kwargs), waiter, patient, is_quick)
        self._waiting.append(job)
        self._watched += not patient
        self._plan_flush(patient=patient)
        return cast("T", await waiter)

    async def read(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        single = getattr(work, "single", False)
        call = partial(self._read, lambda tx: work(tx, *args, **kwargs), single)
        if self.near and getattr(work, "quick", False):
            return call()
        # The caller's context goes along, such as the language of a page.
        inside = copy_context().run
        return cast("T", await self._loop.run_in_executor(self._readers, inside, call))

    async def turn(self) -> None:
        """Wait until it is the caller's turn to go on with work that nobody watches."""
        given = asyncio.Event()
        self._add_turn(given.set)
        await given.wait()

    def on_commit(self, tell: OnCommit) -> None:
        self._tell.append(tell)

    async def close(self) -> None:
        """Finish waiting writes, then close the connections."""
        self._closed = True
        await self._quiet.wait()
        await asyncio.to_thread(self._readers.shutdown)
        for connection in self._looking:
            connection.close()
        # The writer closes last: the last connection to an SQLite file folds the log into it.
        self._batches.put(None)
        await asyncio.to_thread(self._writer.join)

    # On the loop's thread -----------------------------------------------------------------------

    def _plan_flush(self, *, patient: bool) -> None:
        """Hand over what waits: soon, or after those who go on one by one have written, too."""
        planned = self._flush_planned
        if not (patient and self._turns):
            if isinstance(planned, asyncio.TimerHandle):
                planned.cancel()
                planned = None
            self._flush_planned = planned or self._loop.call_soon(
                self._flush, context=self._context
            )
        elif planned is None:
            later = self._loop.call_later(PATIENT_SECONDS, self._flush, context=self._context)
            self._flush_planned = later

    def _flush(self) -> None:
        self._flush_planned = None
        if self._busy:
            return  # waiting writes go with the next batch
        if not self._waiting:
            if not self._turns:
                self._quiet.set()
            return
        self._busy = True
        batch = self._take_batch()
        for job in batch:
            failpoint(f"{job.name}:before")
        self._batches.put((batch, self._run_near(batch)))

    def _take_batch(self) -> list[WriteJob]:
        """Take what is committed next: what somebody watches first, and a few patient writes."""
        urgent = [job for job in self._waiting if not job.patient][:MOST_IN_A_COMMIT]
        patient = [job for job in self._waiting if job.patient]
        batch = urgent + patient[:MOST_PATIENT_IN_A_COMMIT]
        taken = set(map(id, batch))
        self._waiting = [job for job in self._waiting if id(job) not in taken]
        return batch

    def _run_near(self, batch: list[WriteJob]) -> bool:
        """Run a batch here, if all of it is quick; False if the writer must run it."""
        if not self.near or len(batch) > MOST_NEAR or not all(job.quick for job in batch):
            return False
        tx = self._connection
        try:
            if tx.begin(wait=False) and self._run_all(tx, batch):
                return True
        except Exception:  # noqa: BLE001, S110 - the writer meets it again, and tells who waits
            pass
        tx.rollback()
        return False

    def _settle(self, batch: list[WriteJob], happened: list[Event]) -> None:
        self._busy = False
        for job in batch:
            if job.patient:
                self._add_turn(job.tell)
            else:
                self._watched -= 1
                self._watched_at = self._loop.time()
                job.tell()
        if happened:
            for tell in self._tell:
                tell(happened)
        self._plan_flush(patient=all(job.patient for job in self._waiting))

    def _add_turn(self, go_on: Callable[[], None]) -> None:
        self._turns.append(go_on)
        if len(self._turns) == 1:
            self._loop.call_soon(self._give_turns)

    def _give_turns(self) -> None:
        """Let the next few go on, unless somebody waits for a write and some just went on."""
        now = self._loop.time()
        is_watched = self._watched or now - self._watched_at < LINGER_SECONDS
        if is_watched and now - self._last_turn < TURN_EVERY_SECONDS:
            self._loop.call_later(_LOOK_AGAIN_SECONDS, self._give_turns)
            return
        self._last_turn = now
        for _ in range(min(TURNS_AT_ONCE, len(self._turns))):
            self._turns.popleft()()
        if self._turns:
            self._loop.call_soon(self._give_turns)
        else:
            self._plan_flush(patient=False)

    # On the writer's thread ---------------------------------------------------------------------

    def _write_for_ever(self) -> None:
        tx = self._connection
        while (given := self._batches.get()) is not None:
            batch, has_run = given
            if has_run:
                self._finish_commit(tx, batch)
            else:
                self._commit(tx, batch)
            for job in batch:
                if job.error is None:
                    failpoint(f"{job.name}:after")
            happened, tx.committed = tx.committed, []
            with suppress(RuntimeError):  # the loop was closed under us: nobody waits any more
                self._loop.call_soon_threadsafe(self._settle, batch, happened)
        tx.close()

    def _commit(self, tx: StoreConnection, batch: list[WriteJob]) -> None:
        """Commit all together. If one spoils that, each runs again behind a savepoint.

        Only if the transaction itself is lost does each commit for itself.
        """
        done = self._commit_together(tx, batch) or self._commit_together(tx, batch, savepoints=True)
        if not done or tx.should_run_again():
            for job in batch:
                self._commit_alone(tx, job)

    def _commit_alone(self, tx: StoreConnection, job: WriteJob) -> None:
        for _ in range(_TRIES):
            self._commit_together(tx, [job])
            if not tx.should_run_again():
                break

    def _commit_together(
        self, tx: StoreConnection, batch: list[WriteJob], *, savepoints: bool = False
    ) -> bool:
        """Run and commit a batch; False if it was rolled back and each job must run again."""
        try:
            tx.begin([job.verb for job in batch])
            if not self._run_all(tx, batch, savepoints=savepoints):
                tx.rollback()
                return False
        except Exception as error:  # noqa: BLE001 - who waits gets it; the writer must not end
            _fail(tx, batch, error)
        else:
            self._finish_commit(tx, batch)
        return True

    def _finish_commit(self, tx: StoreConnection, batch: list[WriteJob]) -> None:
        """Commit what a batch wrote."""
        try:
            if any(job.error is None for job in batch):
                tx.commit()
            else:
                tx.rollback()
        except Exception as error:  # noqa: BLE001 - as above
            _fail(tx, batch, error)

    def _run_all(
        self, tx: StoreConnection, batch: list[WriteJob], *, savepoints: bool = False
    ) -> bool:
        """Run a batch; False if one of several failed and may have left something half done."""
        for job in batch:
            job.result, job.error = None, None
            if not self._run(tx, job, savepoints) and len(batch) > 1:
                return False
        return True

    def _run(self, tx: StoreConnection, job: WriteJob, savepoint: bool) -> bool:
        """Run one job; False if it failed and may have left something half done."""
        before, events = tx.changes, len(tx.appended)
        if savepoint:
            tx.savepoint()
        try:
            job.result = job.work(tx)
        except Exception as error:  # noqa: BLE001 - whoever waits for the job gets it
            job.error = tx.explain(error) or error
            if savepoint:
                return tx.rollback_to_savepoint(events)
            return tx.changes == before and tx.can_go_on_after(error)
        if savepoint:
            tx.release_savepoint()
        return True

    # On a reader's thread -----------------------------------------------------------------------

    def _read(self, work: Callable[[Tx], T], single: bool) -> T:
        tx: StoreConnection | None = getattr(self._local, "tx", None)
        if tx is None:
            tx = self._local.tx = self._connect(False)
            self._looking.append(tx)
        try:
            tx.look(single=single)
            return work(tx)
        except Exception as error:
            meaning = tx.explain(error)
            if meaning is None:
                raise
            raise meaning from error
        finally:
            tx.rollback()


def _fail(tx: StoreConnection, batch: list[WriteJob], error: Exception) -> None:
    """Undo a batch; all who wait for it get the error."""
    tx.rollback()
    meaning = tx.explain(error) or error
    for job in batch:
        job.error = meaning
