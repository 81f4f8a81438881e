"""Postgres: one writer with group commit, and readers, over connections of their own."""

import asyncio
import os
import select
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import psycopg
from psycopg.rows import DictRow

from remit.model.run import GENESIS, Event, chain
from remit.store import rows
from remit.store.database import OnCommit, Row
from remit.store.group_commit import GroupCommit, WriteJob
from remit.store.postgres.connection import Connect, PostgresTx, connect

POLL_SECONDS: Final = 1.0
_BATCH: Final = 1000
_CHANNEL: Final = "remit_journal"
_SEAL_LOCK: Final = 0x5345414C  # "SEAL"
_TAIL: Final = "SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1"
_TAKE: Final = (
    "DELETE FROM unsealed WHERE id IN (SELECT id FROM unsealed ORDER BY id LIMIT %s) RETURNING *"
)
_COLUMNS: Final = ("task_id", "n", "kind", "actor", "at", "data")
_EVENT: Final = ("seq", *_COLUMNS, "hash")
_INSERT: Final = (
    "INSERT INTO events (seq, task_id, n, kind, actor, at, data, hash) SELECT * FROM unnest("
    "%s::BIGINT[], %s::TEXT[], %s::BIGINT[], %s::TEXT[], %s::TEXT[], %s::BIGINT[], %s::JSON[],"
    " %s::BYTEA[])"
)


class JournalSealer(threading.Thread):
    """`hand_on` is called in this thread with sealed events of all processes, in their order."""

    def __init__(self, connect: Connect, hand_on: OnCommit) -> None:
        super().__init__(name="remit-sealer", daemon=True)
        self._connect = connect
        self._hand_on = hand_on
        self._connection = self._listen()
        self._told = _last(self._connection)[0]
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
        while True:
            stopping = self._stopping
            try:
                self._work()
                if stopping:
                    return
                self._wait()
            except psycopg.Error:
                if stopping:
                    return  # another process seals it
                self._replace_connection()

    def _work(self) -> None:
        while sealed := seal(self._connection):
            self._tell(sealed)
        self._catch_up()

    def _tell(self, sealed: Sequence[Event]) -> None:
        """Hand on from memory what directly follows; otherwise read what lies between."""
        if sealed[0].seq == self._told + 1:
            self._told = sealed[-1].seq
            self._hand_on(sealed)
        else:
            self._catch_up()

    def _catch_up(self) -> None:
        query = "SELECT * FROM events WHERE seq > %s ORDER BY seq LIMIT %s"
        while found := self._connection.execute(query, [self._told, _BATCH]).fetchall():
            self._told = found[-1]["seq"]
            self._hand_on([rows.event(row) for row in found])

    def _wait(self) -> None:
        socket = self._connection.fileno()
        ready, _, _ = select.select([socket, self._woken], [], [], POLL_SECONDS)
        if self._woken in ready:
            os.read(self._woken, 65536)
        if socket in ready:
            for _ in self._connection.notifies(timeout=0):
                pass

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


def seal(connection: psycopg.Connection[DictRow]) -> list[Event]:
    """Seal a batch of what waits; nothing if nothing does."""
    if connection.execute("SELECT 1 FROM unsealed LIMIT 1").fetchone() is None:
        return []
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_SEAL_LOCK])
        found = connection.execute(_TAKE, [_BATCH]).fetchall()
        found.sort(key=lambda row: row["id"])
        seq, digest = _last(connection)
        sealed: list[Row] = []
        for row in found:
            seq += 1
            digest = chain(digest, (seq, *(row[name] for name in _COLUMNS)))
            sealed.append({**row, "seq": seq, "hash": digest})
        if sealed:
            # Not COPY: while a server waits for its rows it does not end an idle transaction, and a
            # process that stands still there would keep all others from sealing.
            values = [[row[name] for row in sealed] for name in _EVENT]
            connection.execute(_INSERT, values)
            connection.execute("SELECT pg_notify(%s, %s)", [_CHANNEL, str(seq)])
    return [rows.event(row) for row in sealed]


def _last(connection: psycopg.Connection[DictRow]) -> tuple[int, bytes]:
    row = connection.execute(_TAIL).fetchone()
    return (row["seq"], row["hash"]) if row else (0, GENESIS)


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

    def _settle(self, batch: list[WriteJob], happened: list[Event]) -> None:
        super()._settle(batch, happened)
        self._sealer.wake()

    def _hand_on(self, sealed: Sequence[Event]) -> None:
        def tell() -> None:
            for each in self._tell:
                each(sealed)

        with suppress(RuntimeError):  # the loop is closed: nobody follows any more
            self._loop.call_soon_threadsafe(tell)
