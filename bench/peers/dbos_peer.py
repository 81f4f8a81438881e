"""DBOS: a workflow of four steps from a queue, on SQLite (WAL, FULL) and on Postgres (fsync)."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import psycopg
import sqlalchemy
from dbos import DBOS, DBOSConfig

from bench.measure import (
    WARM_UP,
    Fact,
    Measurement,
    Stopwatch,
    require_count,
    require_durable,
    wait_for_count,
)
from tests.store.postgres import postgres

QUEUE = "bench"
POLL_SECONDS = 0.05
THREADS = 32
# Measured best: more connections only wait for each other in SQLite's busy handler.
POOL = 1
STEPS = 4
DURABLE = "-c fsync=on"
Reader: TypeAlias = "sqlite3.Connection | psycopg.Connection[tuple[int, ...]]"


def run(size: int, home: Path) -> Measurement:
    """Enqueue `size` workflows while the queue runs them; wait for the last SUCCESS."""
    store = home / "dbos.db"
    engine = _open_engine(store)
    DBOS(config=_draft_config(engine))
    workflow = DBOS.workflow()(_take_four_steps)
    DBOS.launch()
    DBOS.register_queue(QUEUE, polling_interval_sec=POLL_SECONDS)
    reader = sqlite3.connect(store)
    watch = Stopwatch()
    _push(workflow, range(WARM_UP), reader, WARM_UP)
    total = WARM_UP + size
    with watch:
        _push(workflow, range(WARM_UP, total), reader, total)
    facts = _read_settings(engine)
    steps = reader.execute("SELECT count(*) FROM operation_outputs").fetchone()[0]
    require_count("steps recorded", steps, total * STEPS)
    DBOS.destroy()
    return watch.rate(
        size, {**facts, "poll_seconds": POLL_SECONDS, "threads": THREADS, "pool": POOL}
    )


def run_postgres(size: int, home: Path) -> Measurement:
    """The same on Postgres."""
    del home
    with postgres(DURABLE) as server:
        url = server.create("dbos")
        config = _draft_config(None)
        config["system_database_url"] = url
        DBOS(config=config)
        workflow = DBOS.workflow()(_take_four_steps)
        DBOS.launch()
        DBOS.register_queue(QUEUE, polling_interval_sec=POLL_SECONDS)
        with psycopg.connect(url, autocommit=True) as reader:
            watch, total = Stopwatch(), WARM_UP + size
            _push(workflow, range(WARM_UP), reader, WARM_UP)
            with watch:
                _push(workflow, range(WARM_UP, total), reader, total)
            row = reader.execute("SELECT count(*) FROM dbos.operation_outputs").fetchone()
        require_count("steps recorded", int(row[0]) if row else 0, total * STEPS)
        DBOS.destroy()
    return watch.rate(size, {"poll_seconds": POLL_SECONDS, "threads": THREADS})


def _open_engine(store: Path) -> sqlalchemy.Engine:
    engine = sqlalchemy.create_engine(
        f"sqlite:///{store}", pool_size=POOL, max_overflow=0, pool_timeout=120
    )

    @sqlalchemy.event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        # The first, third and fourth are what DBOS itself sets on an engine of its own.
        connection.isolation_level = "IMMEDIATE"
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA busy_timeout = 30000")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        require_durable(
            connection.execute("PRAGMA journal_mode").fetchone()[0],
            connection.execute("PRAGMA synchronous").fetchone()[0],
        )

    return engine


def _draft_config(engine: sqlalchemy.Engine | None) -> DBOSConfig:
    own: DBOSConfig = {"name": "bench"}
    if engine is not None:
        own["system_database_engine"] = engine
    return {
        **own,
        "application_version": "bench-1",
        "executor_id": "bench-executor-1",
        "max_executor_threads": THREADS,
        "log_level": "ERROR",
        "enable_otlp": False,
    }


@DBOS.step()
def _advance(number: int, step: int) -> int:
    return number + step


def _take_four_steps(number: int) -> int:
    return sum(_advance(number, step) for step in range(STEPS))


def _push(workflow: Callable[[int], int], numbers: range, reader: Reader, total: int) -> None:
    for number in numbers:
        DBOS.enqueue_workflow(QUEUE, workflow, number)
    wait_for_count("workflows", lambda: _count_successes(reader), total, 280)


def _count_successes(reader: Reader) -> int:
    place = "" if isinstance(reader, sqlite3.Connection) else "dbos."
    query = f"SELECT count(*) FROM {place}workflow_status WHERE status = 'SUCCESS'"  # noqa: S608
    row = reader.execute(query).fetchone()
    return int(row[0]) if row else 0


def _read_settings(engine: sqlalchemy.Engine) -> dict[str, Fact]:
    with engine.connect() as connection:
        return require_durable(
            connection.exec_driver_sql("PRAGMA journal_mode").scalar(),
            connection.exec_driver_sql("PRAGMA synchronous").scalar(),
        )
