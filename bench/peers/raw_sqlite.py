"""Raw SQLite: the limit. The very statements that our store issues, with nothing around them.

The lives of all tasks are first lived in a scratch store that writes down every statement with its
values. Then, on a fresh file with the production schema, only those statements are run: no hash,
no JSON, no thread, no waiting. No code above SQLite can be faster at the same rows and durability.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Fact, Measurement, Stopwatch, require_count, require_durable
from bench.ours import lives
from remit.store import home as homes
from remit.store.connection import SqliteTx, connect
from remit.store.database import Params, Row, statement

GROUP = 64

Stage = list[tuple[str, Params]]


class RecordingTx(SqliteTx):
    """Writes down what it runs, stage by stage; what only reads is not part of the rows."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.stages: list[Stage] = [[]]

    def one(self, name: str, params: Params = ()) -> Row | None:
        self._note(name, params)
        return super().one(name, params)

    def run(self, name: str, params: Params = ()) -> int:
        self._note(name, params)
        return super().run(name, params)

    def close_stage(self) -> None:
        self.commit()
        self.begin()
        self.stages.append([])

    def _note(self, name: str, params: Params) -> None:
        sql = statement(name)
        if not sql.lstrip().upper().startswith("SELECT"):
            self.stages[-1].append((sql, params))


def run(size: int, home: Path) -> Measurement:
    """The limit: 64 tasks move together, and each move is on disk before the next is made."""
    return _replay(size, home, GROUP)


def run_singly(size: int, home: Path) -> Measurement:
    """What naive code gets: every move of every task is its own commit."""
    return _replay(size, home, 1)


def _replay(size: int, home: Path, group: int) -> Measurement:
    stages = _record(size, home / "record.db", group)
    path = home / "raw.db"
    homes.prepare(path)
    connection = connect(path)
    facts = _prove_durable(connection)
    watch = Stopwatch()
    with watch:
        for stage in stages:
            connection.execute("BEGIN IMMEDIATE")
            for sql, params in stage:
                connection.execute(sql, params).fetchall()
            connection.execute("COMMIT")
    done = connection.execute("SELECT COUNT(*) AS n FROM tasks WHERE status = 'completed'")
    require_count("completed", done.fetchone()["n"], size)
    connection.close()
    return watch.rate(size, {**facts, "tasks_a_commit": group})


def _record(size: int, path: Path, group: int) -> list[Stage]:
    homes.prepare(path)
    connection = connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    tx = RecordingTx(connection)
    tx.begin()
    for numbers in _split(size, group):
        lives.live(tx, numbers, tx.close_stage)
    tx.commit()
    connection.close()
    return [stage for stage in tx.stages if stage]


def _split(size: int, group: int) -> Iterator[range]:
    for start in range(0, size, group):
        yield range(start, min(start + group, size))


def _prove_durable(connection: sqlite3.Connection) -> dict[str, Fact]:
    mode = connection.execute("PRAGMA journal_mode").fetchone()["journal_mode"]
    level = connection.execute("PRAGMA synchronous").fetchone()["synchronous"]
    return require_durable(mode, level)
