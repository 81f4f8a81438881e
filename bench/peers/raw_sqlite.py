"""Raw SQLite: the same rows with nothing around them, the most this work can reach from Python."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench.measure import Fact, Measurement, Stopwatch, require_count, require_durable
from bench.peers.raw_schema import Row, Work, draft_work

GROUP = 64

Stage = list[tuple[str, list[Row]]]


def load_work() -> Work:
    """THE ONE PLACE TO SWAP THE SCHEMA: return the production DDL and its five stages here."""
    return draft_work()


def run(size: int, home: Path) -> Measurement:
    """The limit: 64 tasks move together, and each move is on disk before the next is made."""
    return _run_grouped(load_work(), size, home, GROUP)


def run_singly(size: int, home: Path) -> Measurement:
    """What naive code gets: every move of every task is its own commit."""
    return _run_grouped(load_work(), size, home, 1)


def run_bulk(size: int, home: Path) -> Measurement:
    """Out of contest: all five stages in one commit, so no move is durable before the next."""
    work = load_work()
    merged = [statement for stage in work.stages for statement in stage]
    return _run_grouped(replace(work, stages=(merged,)), size, home, GROUP)


def _run_grouped(work: Work, size: int, home: Path, group: int) -> Measurement:
    connection = sqlite3.connect(home / "raw.db", isolation_level=None)
    facts = _open_store(connection, work.ddl)
    watch = Stopwatch()
    for numbers in _split_numbers(size, group):
        # The rows are made outside the stopwatch: the limit is SQLite's, not that of a hash.
        stages = _fill_stages(work, numbers)
        with watch:
            for stage in stages:
                _commit_stage(connection, stage)
    for proof, times in work.proofs:
        require_count(proof, connection.execute(proof).fetchone()[0], size * times)
    connection.close()
    return watch.rate(size, {**facts, "tasks_a_commit": group})


def _open_store(connection: sqlite3.Connection, ddl: str) -> dict[str, Fact]:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.executescript(ddl)
    return require_durable(
        connection.execute("PRAGMA journal_mode").fetchone()[0],
        connection.execute("PRAGMA synchronous").fetchone()[0],
    )


def _split_numbers(size: int, group: int) -> Iterator[range]:
    for start in range(0, size, group):
        yield range(start, min(start + group, size))


def _fill_stages(work: Work, numbers: range) -> list[Stage]:
    return [
        [(statement.sql, [statement.fill(number) for number in numbers]) for statement in stage]
        for stage in work.stages
    ]


def _commit_stage(connection: sqlite3.Connection, stage: Stage) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for sql, rows in stage:
        connection.executemany(sql, rows)
    connection.execute("COMMIT")
