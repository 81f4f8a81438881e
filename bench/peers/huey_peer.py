"""huey: a pipeline of four tasks on SQLite, thread workers in the same process."""

import logging
import sqlite3
from pathlib import Path

from huey import SqliteHuey
from huey.api import Task, TaskWrapper

from bench.measure import (
    WARM_UP,
    Measurement,
    Stopwatch,
    require_count,
    require_durable,
    wait_for_count,
)

STEPS = 4
# Measured best for tasks that do nothing: its workers share one connection behind one lock.
WORKERS = 1


def run(size: int, home: Path) -> Measurement:
    """Enqueue `size` pipelines while the workers run them; wait for the last stored result."""
    logging.getLogger("huey").setLevel(logging.ERROR)
    store = home / "huey.db"
    huey = SqliteHuey(filename=str(store), journal_mode="wal", fsync=True, timeout=30)
    facts = require_durable(
        huey.storage.conn.execute("PRAGMA journal_mode").fetchone()[0],
        huey.storage.conn.execute("PRAGMA synchronous").fetchone()[0],
    )
    advance = huey.task(name="advance")(_advance)
    consumer = huey.create_consumer(
        workers=WORKERS, initial_delay=0.001, max_delay=0.01, backoff=1.15, periodic=False
    )
    reader = sqlite3.connect(store)
    consumer.start()
    watch = Stopwatch()
    _push(advance, range(WARM_UP), reader, WARM_UP)
    total = WARM_UP + size
    with watch:
        _push(advance, range(WARM_UP, total), reader, total)
    consumer.stop(graceful=True)
    require_count("tasks left", reader.execute("SELECT count(*) FROM task").fetchone()[0], 0)
    require_count("results stored", _count_results(reader), total * STEPS)
    return watch.rate(size, {**facts, "workers": WORKERS})


def _advance(number: int, step: int) -> tuple[int, int]:
    # The stored result is huey's nearest to an event row; without it a step leaves no trace.
    return number, step + 1


def _push(advance: TaskWrapper, numbers: range, reader: sqlite3.Connection, total: int) -> None:
    for number in numbers:
        advance.huey.enqueue(_draft_pipeline(advance, number))
    wait_for_count("results stored", lambda: _count_results(reader), total * STEPS, 280)


def _draft_pipeline(advance: TaskWrapper, number: int) -> Task:
    pipeline = advance.s(number, 0)
    for _ in range(STEPS - 1):
        pipeline = pipeline.then(advance)
    return pipeline


def _count_results(reader: sqlite3.Connection) -> int:
    return int(reader.execute("SELECT count(*) FROM kv").fetchone()[0])
