"""A Remit that is killed, and what its history says afterwards.

The verdict rests on two witnesses: the provider's own file and the database rows, read with plain
SQL. What Remit says about itself is compared with them, never believed.
"""

import json
import os
import signal
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import ClassVar, Final

from remit.store.audit import complaints
from remit.store.connection import SqliteTx, connect
from tests import forks
from tests.engine import crash_worker

WORKER: Final = str(Path(crash_worker.__file__))
REFS: Final = {each.source.ref for each in crash_worker.CUES}
ENDS: Final = {ref: "cancelled" if ref == "cancelled" else "completed" for ref in REFS}
PATIENCE: Final = 100  # seconds a life may take on a busy machine


def environ(**more: str) -> dict[str, str]:
    """Return the environment of a process; coverage settings go along."""
    kept = (*forks.PLAIN, "COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG")
    return {name: os.environ[name] for name in kept if name in os.environ} | more


def ended(process: forks.Started) -> str:
    """Wait for a process to end, and return its stderr; one that hangs is killed."""
    try:
        return process.communicate(timeout=PATIENCE)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        raise


class Home:
    """One directory, and the processes that ran and died in it."""

    cut_sends: ClassVar[str]  # which were claimed and never recorded

    def __init__(self, home: Path) -> None:
        self.home = home
        self.kills = 0
        self.cut: set[str] = set()

    def run(self, *words: str, failpoint: str = "", fresh: bool = False) -> forks.Started:
        """Start a process; `fresh`: in an interpreter of its own."""
        self.home.mkdir(exist_ok=True)
        env = environ(REMIT_FAILPOINT=failpoint)
        return forks.start(*words, env=env, stderr=subprocess.PIPE, fresh=fresh)

    def died(self, process: forks.Started) -> bool:
        """Wait for its end: killed, or in good order."""
        errors = ended(process)
        died = process.returncode == -signal.SIGKILL
        assert died or process.returncode == 0, errors
        self.kills += died
        self.cut |= {str(row[0]) for row in self.ask(self.cut_sends)}
        return died

    def ask(self, sql: str) -> list[tuple[object, ...]]:
        path = self.home / "agent.db"
        if not path.exists():
            return []
        with closing(sqlite3.connect(path)) as connection:
            if not connection.execute("PRAGMA user_version").fetchone()[0]:
                return []  # killed before the first schema existed
            return connection.execute(sql).fetchall()

    def accepted(self) -> list[str]:
        """Return the keys that the provider wrote into its file."""
        path = self.home / "provider.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line)["key"] for line in lines]

    def check_journal(self) -> None:
        with closing(connect(self.home / "agent.db", writable=False)) as connection:
            assert list(complaints(SqliteTx(connection))) == []


class Life(Home):
    cut_sends = """
    SELECT DISTINCT task_id FROM attempts JOIN deliveries ON deliveries.id = attempts.delivery_id
     WHERE attempts.answer IS NULL
    """

    def __init__(self, home: Path, *, fresh: bool = False) -> None:
        super().__init__(home)
        self._fresh = fresh

    def killed_at(self, failpoint: str) -> bool:
        """Run until the failpoint; return whether it was reached."""
        return self.died(self.start(failpoint))

    def killed_after(self, seconds: float) -> bool:
        """Run this long, then be killed from outside, wherever it is."""
        process = self.start()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        return self.died(process)

    def lives_on(self) -> Counter[str]:
        """Run to the end; return which failpoints were passed, and how often."""
        census = self.home.with_suffix(".census")
        process = self.start(census=census)
        errors = ended(process)
        assert process.returncode == 0, errors
        return Counter(json.loads(census.read_text()))

    def start(self, failpoint: str = "", census: Path | None = None) -> forks.Started:
        more = [str(census)] if census else []
        return self.run(WORKER, str(self.home), *more, failpoint=failpoint, fresh=self._fresh)

    # What history says --------------------------------------------------------------------------

    def judge(self) -> None:
        """Check: nothing lost, nothing twice, and asked about exactly what is unknown."""
        self._nothing_lost()
        self._nothing_twice()
        asked = {str(row[0]) for row in self.ask(_ASKED)}
        assert asked == self.cut
        self._journal_whole()

    def _nothing_lost(self) -> None:
        found = {
            str(ref): (str(status), reason, id_) for ref, status, reason, id_ in self.ask(_TASKS)
        }
        assert found.keys() == REFS
        for ref, (status, reason, id_) in found.items():
            if id_ in self.cut:
                assert (status, reason) == ("needs_review", "ambiguous"), ref
            else:
                assert (status, reason) == (ENDS[ref], None), ref

    def _nothing_twice(self) -> None:
        accepted = Counter(self.accepted())
        assert set(accepted.values()) <= {1}
        deliveries = {str(key): str(status) for key, status in self.ask(_OUTBOX)}
        assert accepted.keys() <= deliveries.keys()
        for key, status in deliveries.items():
            wanted = {"sent": {1}, "unknown": {0, 1}, "pending": {0}}[status]
            assert accepted[key] in wanted, (key, status)

    def _journal_whole(self) -> None:
        self.check_journal()
        seqs = [row[0] for row in self.ask("SELECT seq FROM events ORDER BY seq")]
        assert seqs == list(range(1, len(seqs) + 1))
        gaps = self.ask(
            "SELECT task_id FROM events GROUP BY task_id HAVING COUNT(*) <> MAX(n) OR MIN(n) <> 1"
        )
        assert gaps == []
        held = self.ask("SELECT id FROM tasks WHERE worker IS NOT NULL")
        assert held == []


_ASKED: Final = "SELECT DISTINCT task_id FROM reviews WHERE reason = 'ambiguous'"
_TASKS: Final = "SELECT source_ref, status, reason, id FROM tasks"
_OUTBOX: Final = "SELECT id, status FROM deliveries WHERE channel = 'outbox'"
