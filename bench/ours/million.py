"""One million tasks in the store: how long does a page take?"""

import random
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench.measure import Measurement, read_peak_bytes, take_percentile, time_calls
from bench.ours import lives
from remit.model.ids import TaskId
from remit.model.status import Status
from remit.model.task import SourceKind
from remit.store import home as homes
from remit.store import search, tasks
from remit.store.connection import SqliteTx, connect
from remit.store.database import statement
from remit.store.search import SortOrder, TaskFilter

REPEATS = 100
WORDS = (
    *("invoice", "garden", "Lisbon", "passport", "dentist", "standup", "budget", "recipe"),
    *("museum", "flight", "contract", "birthday", "insurance", "piano", "heating", "visa"),
)


def run(size: int, home: Path) -> list[Measurement]:
    """The 95th percentile of the lists that people look at."""
    path = home / "agent.db"
    homes.prepare(path)
    with_tasks(path, size)
    tx = SqliteTx(connect(path, writable=False))
    middle = tx.ask("SELECT id FROM tasks WHERE no = :no", {"no": size // 2})[0]["id"]
    looks = {
        "newest 50": TaskFilter(),
        "status failed": TaskFilter(statuses=(Status.FAILED,)),
        "open (5 statuses)": TaskFilter(statuses=tuple(Status)[:5]),
        "source e-mail": TaskFilter(source=SourceKind.EMAIL),
        "a page from the middle": TaskFilter(before=TaskId(str(middle))),
        "search, common word": TaskFilter(text="invoice"),
        "search, two words": TaskFilter(text="invoice Lisbon"),
        "search, rare word": TaskFilter(text="xylophone"),
        "search in failed": TaskFilter(text="invoice", statuses=(Status.FAILED,)),
        "search, what is due": TaskFilter(text="invoice", sort=SortOrder.DUE),
    }
    calls: dict[str, Callable[[], object]] = {
        name: partial(search.page, tx, wanted) for name, wanted in looks.items()
    }
    common, failed = looks["search, common word"], looks["search in failed"]
    calls["count, common word"] = partial(search.count, tx, common)
    calls["count, common word in failed"] = partial(search.count, tx, failed)
    calls["counts by status"] = lambda: tasks.counts(tx)
    return [_time(name, call) for name, call in calls.items()]


def _time(name: str, call: Callable[[], object]) -> Measurement:
    call()
    spans = time_calls(call, 10 if name.startswith("counts") else REPEATS)
    total = sum(spans) / 1000
    p95 = take_percentile(spans, 95)
    return Measurement(
        f"{name}, p95", p95, "ms", len(spans), total, total, read_peak_bytes(), "less"
    )


def with_tasks(path: Path, size: int) -> None:
    """Fill the store through its own insert; then let the tasks stand where tasks stand."""
    chance = random.Random(7)  # noqa: S311 - the same store each time
    connection = connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    for rows in _batches(size, chance):
        connection.execute("BEGIN")
        connection.executemany(statement("insert_task"), rows)
        connection.execute("COMMIT")
    _spread(connection)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _batches(size: int, chance: random.Random) -> Iterator[list[dict[str, str | int | None]]]:
    sources = [source.value for source in SourceKind]
    for start in range(0, size, 10_000):
        rows: list[dict[str, str | int | None]] = []
        for number in range(start, min(start + 10_000, size)):
            row = tasks._columns(lives.task(number))  # noqa: SLF001 - the production row
            words = [*chance.choices(WORDS, k=6), str(number)]
            row["title"] = " ".join(words[:4])
            row["instructions"] = "Prepare the " + " and the ".join(words)
            if number % 50_000 == 1:
                row["title"] = f"Tune the xylophone {number}"
            row["source_kind"] = chance.choices(sources, (1, 20, 1, 70, 0.1, 5, 3))[0]
            rows.append(row)
        yield rows


def _spread(connection: sqlite3.Connection) -> None:
    """Mostly completed, some failed, a few open: by legal moves, in bulk."""
    for sql in (
        "UPDATE tasks SET status = 'ready', due_at = NULL WHERE no % 100 <> 99",
        "UPDATE tasks SET status = 'running' WHERE no % 100 < 97",
        "UPDATE tasks SET status = 'failed' WHERE status = 'running' AND no % 1000 = 5",
        "UPDATE tasks SET status = 'completed' WHERE status = 'running' AND no % 100 < 95",
    ):
        connection.execute(sql)
