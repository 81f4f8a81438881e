"""Postgres: one writer with group commit, and readers, over connections of their own."""

import asyncio
import os
import select
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import psycopg
from psycopg.rows import DictRow

from remit.model.run import Event
from remit.store import rows
from remit.store.database import OnCommit
from remit.store.group_commit import GroupCommit, StoreConnection, WriteJob
from remit.store.postgres.connection import Connect, PostgresTx, connect

POLL_SECONDS: Final = 1.0
# From one look at the journal to the next, at least. In a flood each commit would else have every
# process read once more; what comes in a quiet moment is sealed at once.
ROUND_SECONDS: Final = 0.02
_BATCH: Final = 1000
_CHANNEL: Final = "remit_journal"


class JournalSealer(threading.Thread):
    """`hand_on` is called in this thread with sealed events of all processes, in their order."""

    def __init__(self, connect: Connect, hand_on: OnCommit) -> None:
        super().__init__(name="remit-sealer", daemon=True)
        self._connect = connect
        self._hand_on = hand_on
        self._connection = self._listen()
        newest = self._connection.execute("SELECT COALESCE(MAX(seq), 0) AS seq FROM events")
        self._told: int = rows.found(newest.fetchone())["seq"]  # type: ignore[assignment]
        self._woken, self._bell = os.pipe()
        os.set_blocking(self._bell, False)
        self._stopping = False

    def wake(self) -> None:
        """Something was committed that waits for its seal."""
        with suppress(BlockingIOError):  # it is full: the thread will wake anyway
            os.write(self._bell, b".")

    def stop(self) -> None:
        """Seal what is left and end."""
        self._stopping = True
        self.wake()
        self.join()
        self._connection.close()
        os.close(self._woken)
        os.close(self._bell)

    def run(self) -> None:
        may_seal = True
        while True:
            stopping, began = self._stopping, time.monotonic()
            try:
                if may_seal or stopping:
                    seal(self._connection)
                self._catch_up()
                if stopping:
                    return
                time.sleep(max(0.0, began + ROUND_SECONDS - time.monotonic()))
                may_seal = self._wait()
            except psycopg.Error:
                if stopping:
                    return  # another process seals it
                self._replace_connection()
                may_seal = True

    def _catch_up(self) -> None:
        query = "SELECT * FROM events WHERE seq > %s ORDER BY seq LIMIT %s"
        found = None
        while found is None or len(found) == _BATCH:
            found = self._connection.execute(query, [self._told, _BATCH]).fetchall()
            if found:
                self._told = found[-1]["seq"]
                self._hand_on([rows.event(row) for row in found])

    def _wait(self) -> bool:
        """Wait for news; return False if all of them are sealed already."""
        while True:
            # First what came with an answer: the socket does not tell of it again.
            notices = self._connection.notifies(timeout=0)
            is_sealed = max((int(each.payload) for each in notices), default=0) > self._told
            sources = [self._connection.fileno(), self._woken]
            ready, _, _ = select.select(sources, [], [], 0 if is_sealed else POLL_SECONDS)
            if self._woken in ready:
                os.read(self._woken, 65536)
                return True
            if is_sealed or not ready:
                return not is_sealed

    def _replace_connection(self) -> None:
        self._connection.close()
        while not self._stopping:
            with suppress(Exception):  # the writer says what is wrong with the server
                self._connection = self._listen()
                return
            select.select([self._woken], [], [], POLL_SECONDS)

    def _listen(self) -> psycopg.Connection[DictRow]:
        connection = self._connect()
        connection.execute(f"LISTEN {_CHANNEL}")
        return connection


def seal(connection: psycopg.Connection[DictRow]) -> None:
    """Seal all that waits."""
    while True:
        row = connection.execute("SELECT seal_events(%s) AS sealed", [_BATCH]).fetchone()
        if row is None or row["sealed"] < _BATCH:
            return


class Postgres(GroupCommit):
    """The database for the only process that writes: its events are sealed as they are written."""

    def __init__(self, url: str, *, process_clock: bool = False, shared: bool = False) -> None:
        self._again = partial(connect, url, process_clock=process_clock)

        def open_connection(writable: bool) -> PostgresTx:
            return PostgresTx(url, self._again, writable=writable, shared=shared)

        super().__init__(open_connection)


class SharedPostgres(Postgres):
    """The database for one of several processes: those who follow hear of events of all of them."""

    shared: Final = True

    def __init__(self, url: str, *, process_clock: bool = False) -> None:
        super().__init__(url, process_clock=process_clock, shared=True)
        self._sealer = JournalSealer(self._again, self._hand_on)
        self._sealer.start()

    async def close(self) -> None:
        await super().close()
        await asyncio.to_thread(self._sealer.stop)

    def _commit(self, tx: StoreConnection, batch: list[WriteJob]) -> None:
        super()._commit(tx, batch)
        self._sealer.wake()  # not by way of the loop, which may be busy

    def _hand_on(self, sealed: Sequence[Event]) -> None:
        def tell() -> None:
            for each in self._tell:
                each(sealed)

        with suppress(RuntimeError):  # the loop is closed: nobody follows any more
            self._loop.call_soon_threadsafe(tell)
