"""Ten thousand tasks fall due in one second: how long until all are claimed, and in what order."""

import asyncio
from itertools import pairwise
from pathlib import Path

from bench.measure import Measurement, Stopwatch, read_peak_bytes, require_count
from bench.ours import lives
from remit.model.task import Priority
from remit.store import home as homes
from remit.store import queue
from remit.store.opening import Sqlite

LEVELS = tuple(Priority)


def run(size: int, home: Path) -> list[Measurement]:
    return asyncio.run(_run(size, home))


async def _run(size: int, home: Path) -> list[Measurement]:
    homes.prepare(home / "agent.db")
    db = Sqlite(home / "agent.db")
    await asyncio.gather(*(_prepare(db, number) for number in range(size)))
    ranks: list[int] = []
    watch = Stopwatch()
    with watch:
        while found := await db.write(
            queue.claim, lives.WORKER, lives.wanted(256), lives.IDS.run, lives.now()
        ):
            ranks += [LEVELS.index(claim.task.priority) for claim in found]
    await db.close()
    require_count("claimed", len(ranks), size)
    swapped = sum(later > earlier for earlier, later in pairwise(ranks))
    return [
        _figure("claim all", watch.wall_seconds * 1000, "ms", size, watch),
        _figure("out of order", swapped, "pairs", size, watch),
    ]


async def _prepare(db: Sqlite, number: int) -> None:
    admitted = await db.write(lives.admit, number)
    level = LEVELS[number % len(LEVELS)]
    await db.write(queue.rank, admitted.id, level, lives.RULE, lives.now())


def _figure(name: str, value: float, unit: str, count: int, watch: Stopwatch) -> Measurement:
    return Measurement(
        name, value, unit, count, watch.wall_seconds, watch.cpu_seconds, read_peak_bytes(), "less"
    )
