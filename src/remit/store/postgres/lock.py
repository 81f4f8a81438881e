"""Who may work on a database: one process alone, or several that share it.

The lock ends with the connection that holds it.
"""

import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Final

import psycopg
from psycopg.rows import DictRow

from remit.errors import StoreLocked, StoreTrouble
from remit.store.postgres.connection import connect, location

_PROCESS_LOCK: Final = 0x52454D4954  # "REMIT"
CHECK_SECONDS: Final = 5.0
GRACE_SECONDS: Final = 1.0
LOST: Final = 74  # exit code: an input/output error


@contextmanager
def only_process(url: str, on_lost: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock of a database; if it is lost, end this process at once.

    Another process may take over from then on. To stop in good order would go on sending.
    """
    lost = on_lost or _end_process(location(url))
    with closing(_LockWatch(_take_lock(url, "pg_try_advisory_lock"), lost)) as watch:
        watch.start()
        yield


@contextmanager
def shared_process(url: str, on_lost: Callable[[], None] | None = None) -> Iterator[None]:
    """Keep out who wants the database alone.

    After a lost connection the lock is taken again. Until then leases and numbers of duties keep
    out what is late. If somebody has the database alone meanwhile, this process ends.
    """
    lost = on_lost or _end_process(location(url))
    with closing(_LockWatch(_lock_shared(url), lost, partial(_lock_shared, url))) as watch:
        watch.start()
        yield


def _lock_shared(url: str) -> psycopg.Connection[DictRow]:
    return _take_lock(url, "pg_try_advisory_lock_shared")


def _take_lock(url: str, take: str) -> psycopg.Connection[DictRow]:
    """Take the lock. The server may learn a moment later that the process before has ended."""
    connection, end = connect(url), time.monotonic() + GRACE_SECONDS
    while True:
        row = connection.execute(f"SELECT {take}(%s) AS held", [_PROCESS_LOCK]).fetchone()
        if row is not None and row["held"]:
            return connection
        if time.monotonic() > end:
            connection.close()
            raise StoreLocked(location(url))
        time.sleep(GRACE_SECONDS / 10)


class _LockWatch(threading.Thread):
    """Notices the end of a connection: by its socket, and by asking now and then."""

    def __init__(
        self,
        connection: psycopg.Connection[DictRow],
        on_lost: Callable[[], None],
        again: Callable[[], psycopg.Connection[DictRow]] | None = None,
    ) -> None:
        super().__init__(name="remit-store-lock", daemon=True)
        self._connection = connection
        self._on_lost = on_lost
        self._again = again
        self._ended, self._end = os.pipe()

    def close(self) -> None:
        os.write(self._end, b".")
        self.join()
        os.close(self._ended)
        os.close(self._end)
        self._connection.close()

    def run(self) -> None:
        while not self._is_over([self._connection.fileno()]):
            try:
                self._connection.execute("SELECT 1")
            except psycopg.Error:
                if not self._take_again():
                    return

    def _is_over(self, sockets: list[int]) -> bool:
        return self._ended in select.select([*sockets, self._ended], [], [], CHECK_SECONDS)[0]

    def _take_again(self) -> bool:
        while self._again is not None:
            try:
                self._connection = self._again()
            except StoreLocked:
                break
            except StoreTrouble:
                if self._is_over([]):
                    return False
            else:
                return True
        self._on_lost()
        return False


def _end_process(where: str) -> Callable[[], None]:
    def end() -> None:
        sys.stderr.write(
            f"Remit has lost its lock on {where} and stops at once: another Remit may work there "
            "now. Nothing is lost; start it again when the server answers.\n"
        )
        sys.stderr.flush()
        os._exit(LOST)

    return end
