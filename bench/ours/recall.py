"""Recall: how fast snippets are kept and found, what they weigh, and whether the right one is."""

import asyncio
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.measure import (
    Better,
    Measurement,
    Stopwatch,
    read_peak_bytes,
    read_resident_bytes,
    require_count,
    take_percentile,
)
from bench.recall_probe import WAYS, Probe
from remit.model.ids import SessionId, TaskId, encode
from remit.model.likeness import IndexedTask
from remit.ports import SnippetStore
from remit.recall.vectors import VectorIndex
from remit.settings import RecallSettings, Settings
from remit.wiring import opened
from remit.wiring.recall import embedder

SIZE: Final = 256
BATCH: Final = 500
QUERIES: Final = 200
GROUPS: Final = 200  # tasks are about so many things
TEXT: Final = (
    "Ask the landlord about the heating in the flat of the old town, and tell me on Monday"
)


def memory(size: int, home: Path) -> list[Measurement]:
    """The index as Remit comes: in memory, made of rows of the database."""
    return _kept(lambda: VectorIndex(SIZE), size, home)


def edge(size: int, home: Path) -> list[Measurement]:
    """Qdrant's engine in this process, as it is written to, and then in order."""
    from remit.recall.edge import EdgeStore  # noqa: PLC0415 - what is measured

    return _kept(lambda: EdgeStore(home / "recall", SIZE), size, home)


def local(size: int, home: Path) -> list[Measurement]:
    """The same behind the adapter for a server, in the client's own local mode."""
    from qdrant_client import QdrantClient  # noqa: PLC0415 - what is measured

    from remit.recall.server import ServerStore  # noqa: PLC0415 - as above

    return _kept(lambda: ServerStore(QdrantClient(path=str(home / "recall")), SIZE), size, home)


def read(size: int, home: Path) -> list[Measurement]:
    """Texts into vectors, by the embedder that comes along."""
    del home
    reader = embedder(RecallSettings())
    texts = [f"{TEXT}, number {n}" for n in range(size)]
    asyncio.run(reader.embed(texts[:20]))
    with Stopwatch() as watch:
        found = asyncio.run(reader.embed(texts))
    require_count("vectors", len(found), size)
    rate = size / watch.cpu_seconds
    return [_measured("texts read a CPU second", rate, "1/s", size, watch)]


def probe(size: int, home: Path) -> list[Measurement]:
    """Which way finds what is meant among the first five."""
    del size

    async def asked() -> list[Measurement]:
        async with opened(Settings(home=home)) as app:
            laid = await Probe.laid_out(app)
            with Stopwatch() as watch:
                scores = await laid.scores()
            count = sum(scores.asked.values())
            facts = {way: _told(scores.found[way], scores.asked) for way in WAYS}
            return [
                _measured(f"recall@5, {way}", scores.share(way), "", count, watch, told=facts[way])
                for way in WAYS
            ]

    return asyncio.run(asked())


def _told(found: dict[str, int], asked: dict[str, int]) -> str:
    return ", ".join(f"{each} {found[each]}/{asked[each]}" for each in asked)


def _kept(made: Callable[[], SnippetStore], size: int, home: Path) -> list[Measurement]:
    chance = np.random.default_rng(7)
    middles = chance.normal(size=(GROUPS, SIZE))
    before, store, inserting = read_resident_bytes(), made(), Stopwatch()
    asked: list[Sequence[float]] = []
    for start in range(0, size, BATCH):
        batch = list(_batch(start, middles, chance))
        asked += [each.vector for each in batch[:: max(1, BATCH * size // (QUERIES * BATCH))]]
        with inserting:
            store.put(batch)
    require_count("snippets", store.count(), size)
    asked = asked[:QUERIES]
    added = read_resident_bytes() - before
    rate = _measured(
        "snippets kept a second", size / inserting.wall_seconds, "1/s", size, inserting
    )
    plain = _searched(store, asked, "search, as written")
    with Stopwatch() as tidying:
        store.tidy()
    tidied = _measured("put in order", tidying.cpu_seconds, "CPU s", size, tidying, better="less")
    ordered = _searched(store, asked, "search, in order")
    store.close()
    used = subprocess.run(["du", "-sk", str(home)], capture_output=True, text=True, check=True)
    disk = int(used.stdout.split()[0]) / 1024
    return [
        rate,
        *plain,
        tidied,
        *ordered,
        _measured("memory added", added / 2**20, "MB", size, inserting, better="less"),
        _measured("disk", disk, "MB", size, inserting, better="less"),
    ]


def _batch(
    start: int, middles: NDArray[np.float64], chance: np.random.Generator
) -> Iterator[IndexedTask]:
    numbers = range(start, start + BATCH)
    spread = chance.normal(scale=0.5, size=(BATCH, SIZE))
    vectors = middles[[n % GROUPS for n in numbers]] + spread
    for n, vector in zip(numbers, vectors.tolist(), strict=True):
        task_id = TaskId(f"task-{encode(n + 1)}")
        beside = {"task_id": task_id, "session": f"ses-{n}", "taint": "owner", "text": TEXT}
        yield IndexedTask(task_id, vector, dict(beside))


def _searched(
    store: SnippetStore, asked: Sequence[Sequence[float]], name: str
) -> list[Measurement]:
    """Each query leaves one session out, as a task leaves out its own."""
    took: list[float] = []
    with Stopwatch() as watch:
        for n, vector in enumerate(asked):
            begun = time.perf_counter()
            found = store.near(vector, 30, [SessionId(f"ses-{n}")])
            took.append((time.perf_counter() - begun) * 1000)
            require_count("found", len(found), 30)
    return [
        _measured(
            f"{name}, p{part}", take_percentile(took, part), "ms", len(took), watch, better="less"
        )
        for part in (50, 99)
    ]


def _measured(  # noqa: PLR0913 - as many as a measurement has
    name: str,
    value: float,
    unit: str,
    count: int,
    watch: Stopwatch,
    *,
    better: Better = "more",
    told: str = "",
) -> Measurement:
    return Measurement(
        name=name,
        value=value,
        unit=unit,
        count=count,
        wall_seconds=watch.wall_seconds,
        cpu_seconds=watch.cpu_seconds,
        rss_bytes=read_peak_bytes(),
        better=better,
        facts={"found": told} if told else {},
    )
