"""A hundred thousand tasks wait for another day: what does waiting cost?"""

import asyncio
import gc
import time
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from bench.measure import Measurement, read_resident_bytes
from bench.ours import lives
from bench.ours.throughput import InstantBrain
from remit.intake.admit import make
from remit.settings import Settings
from remit.store import home as homes
from remit.store import queue, tasks
from remit.store.opening import Sqlite
from remit.wiring import opened

WATCHED_SECONDS = 10


def run(size: int, home: Path) -> list[Measurement]:
    """Idle CPU and memory of an app with so many waiting, beside an empty one."""
    empty, full = home / "empty", home / "full"
    homes.prepare(full / "agent.db")
    asyncio.run(_fill(full, size))
    return [
        *asyncio.run(_watch("empty store", empty, 0)),
        *asyncio.run(_watch("scheduled", full, size)),
    ]


async def _fill(home: Path, size: int) -> None:
    db = Sqlite(home / "agent.db")

    async def add(number: int) -> None:
        at = lives.now() + timedelta(days=30, seconds=number)
        planned = make(replace(lives.cue(number), scheduled_for=at), lives.IDS, lives.now())
        admitted = await db.write(tasks.admit, planned)
        await db.write(queue.rank, admitted.id, admitted.priority, lives.RULE, lives.now())

    for start in range(0, size, 5000):
        await asyncio.gather(*map(add, range(start, min(start + 5000, size))))
    await db.close()


async def _watch(name: str, home: Path, size: int) -> list[Measurement]:
    async with opened(Settings(home=home), brain=InstantBrain()) as app:
        await app.engine.start()
        await app.engine.settled()
        gc.collect()
        cpu, wall = time.process_time(), time.perf_counter()
        await asyncio.sleep(WATCHED_SECONDS)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        held = read_resident_bytes()
        await app.engine.stop()
    count = max(size, 1)
    return [
        Measurement(f"{name}: CPU", cpu / wall * 100, "%", count, wall, cpu, held, "less"),
        Measurement(f"{name}: memory", held / 2**20, "MB", count, wall, cpu, held, "less"),
    ]
