"""The bytes of task files in the database, so that every machine can read them.

The folder of a machine has copies of what it wrote and read. The database counts: it is written
before anything refers to a file, and a file that is missing here is fetched from there.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import psycopg
from psycopg.rows import DictRow

from remit.files.kept_files import GRACE, KeptFiles
from remit.model.task_file import TaskFile
from remit.store import rows
from remit.store.postgres.connection import connect, trouble

# One that only deleted tasks had may be on its way into a new one.
_ON_ITS_WAY: Final = timedelta(hours=1)
_PUT: Final = (
    "INSERT INTO file_contents (sha256, content, kept_at) VALUES (%s, %s, remit_now(0))"
    " ON CONFLICT (sha256) DO UPDATE SET kept_at = excluded.kept_at"
)
_TOUCH: Final = "UPDATE file_contents SET kept_at = remit_now(0) WHERE sha256 = %s"
_REMOVE: Final = (
    "DELETE FROM file_contents WHERE sha256 NOT IN (SELECT unnest(CAST(%s AS TEXT[])))"
    " AND (kept_at < %s OR (sha256 = ANY(CAST(%s AS TEXT[])) AND kept_at < %s))"
)


class StoredFiles(KeptFiles):
    """Files in a Postgres database, with copies in a folder. Its methods block."""

    def __init__(self, folder: Path, url: str) -> None:
        super().__init__(folder)
        self._url = url

    def keep(
        self, name: str, content: bytes, *, taint: str = "owner", made: bool = False
    ) -> TaskFile:
        kept = super().keep(name, content, taint=taint, made=made)
        with self._open_connection() as server:
            # The bytes travel only if they are not there yet.
            if not server.execute(_TOUCH, [kept.sha256]).rowcount:
                server.execute(_PUT, [kept.sha256, content])
        return kept

    def read(self, digest: str) -> bytes | None:
        if (near := self.near(digest)) is not None:
            return near
        with self._open_connection() as server:
            query = "SELECT content FROM file_contents WHERE sha256 = %s"
            row = server.execute(query, [digest], binary=True).fetchone()
        if row is None:
            return None
        self._copy(digest, row["content"])
        return self.near(digest)

    def room(self) -> tuple[int, int]:
        query = "SELECT COUNT(*) AS n, COALESCE(SUM(octet_length(content)), 0) AS size"
        with self._open_connection() as server:
            row = server.execute(f"{query} FROM file_contents").fetchone()
        return (int(row["n"]), int(row["size"])) if row else (0, 0)

    def sweep(self, needed: Collection[str], gone: Collection[str], now: datetime) -> int:
        """Remove them in the database and here. Files from before are put into the database."""
        self._put_own(needed)
        super().sweep(needed, gone, now)
        oldest, quiet = rows.ms(now - GRACE), rows.ms(now - _ON_ITS_WAY)
        with self._open_connection() as server:
            return server.execute(_REMOVE, [list(needed), oldest, list(gone), quiet]).rowcount

    def _put_own(self, needed: Collection[str]) -> None:
        """Put what is only in the folder into the database: it was there before the move."""
        with self._open_connection() as server:
            put_copies(self, server, needed)

    @contextmanager
    def _open_connection(self) -> Iterator[psycopg.Connection[DictRow]]:
        with connect(self._url) as connection:
            try:
                yield connection
            except psycopg.Error as error:
                raise trouble(self._url, error) from error


def put_copies(
    near: KeptFiles, server: psycopg.Connection[DictRow], wanted: Collection[str] | None = None
) -> None:
    """Put the files of a folder into a database that does not have them."""
    named = [each for each in near.digests() if wanted is None or each in wanted]
    query = "SELECT sha256 FROM file_contents WHERE sha256 = ANY(CAST(%s AS TEXT[]))"
    there = {row["sha256"] for row in server.execute(query, [named])}
    for digest in named:
        content = None if digest in there else near.near(digest)
        if content is not None:
            server.execute(_PUT, [digest, content])
