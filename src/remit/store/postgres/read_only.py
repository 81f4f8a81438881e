"""Read-only access to a Postgres store without an event loop, for the command line."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial

from remit.store import rows
from remit.store.postgres.connection import PostgresTx, connect
from remit.store.postgres.schema import prepare


class ReadOnlyServer(PostgresTx):
    @property
    def version(self) -> int:
        """A number that changes when somebody has written."""
        (row,) = self.ask("SELECT CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS version")
        return int(rows.text(row["version"]) or 0)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        self.look()
        try:
            yield
        finally:
            self.rollback()


@contextmanager
def open_server_read_only(url: str) -> Iterator[ReadOnlyServer]:
    """Open the store read-only; an empty database gets its tables first."""
    prepare(url)
    with closing(ReadOnlyServer(url, partial(connect, url), writable=False)) as tx:
        try:
            yield tx
        except Exception as error:
            meaning = tx.explain(error)
            if meaning is None:
                raise
            raise meaning from error
