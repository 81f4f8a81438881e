"""`remit up` as a user starts it, in its own process: tasks posted through HTTP until delivered."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from bench.http_load import ServerUnderLoad, measure, running
from bench.measure import WARM_UP, Measurement
from remit.server.files import token_of

_SETTINGS = '[brain]\nkind = "scripted"\nscript = "script.yml"\n'
_NO_RECALL = '[recall]\nstore = "off"\n'


def run(size: int, home: Path) -> list[Measurement]:
    """With everything on that is on by default; only the brain is a script without delay."""
    return _run(size, home, _SETTINGS)


def run_without_recall(size: int, home: Path) -> list[Measurement]:
    """The same, and earlier tasks are not looked for."""
    return _run(size, home, _SETTINGS + _NO_RECALL)


def _run(size: int, home: Path, settings: str) -> list[Measurement]:
    (home / "settings.toml").write_text(settings)
    (home / "script.yml").write_text(_write_script(size))
    command = [str(Path(sys.executable).with_name("remit")), "up", "--port", "0", "--json"]
    with running(command, home, REMIT_HOME=str(home)) as (url, pid):
        headers = {"Authorization": f"Bearer {token_of(home)}"}
        with closing(_open_store(home)) as store:
            return measure(ServerUnderLoad(url, headers, pid, lambda: _delivered(store)), size)


def _write_script(size: int) -> str:
    """An answer for each task, so that none was seen before."""
    said = "I looked. <deliverable>All is well with {} of them, as far as I see.</deliverable>"
    once = (f"- {{reply: '{said.format(n)}', times: 1}}\n" for n in range(WARM_UP + size * 5 // 4))
    return "".join((*once, f"- reply: '{said.format('all')}'\n"))


def _open_store(home: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{(home / 'agent.db').as_uri()}?mode=ro", uri=True)


def _delivered(store: sqlite3.Connection) -> int:
    """Read beside the server, so that looking costs it nothing."""
    sql = "SELECT count(*) FROM tasks WHERE status = 'completed'"
    return int(store.execute(sql).fetchone()[0])
