"""The power is cut, at once after a write was acknowledged or in the midst of one: nothing is lost.

Everything goes through a disk that forgets what was not synced (`power.py`); the store, its
connection with all its settings, and its writer are the real ones.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from random import Random

import pytest

from remit.model.delivery import Delivery
from remit.model.ids import DeliveryId, TaskId
from remit.store import connection, deliveries, home, tasks
from remit.store import opening as store
from remit.store.opening import Sqlite
from remit.store.queue import ClaimedTask
from tests.store import power
from tests.store.scene import BODY, DIGEST, Scene

ROUNDS = 40
_numbers = count()


class Bench:
    """A store on a disk that forgets; what was acknowledged, and what a start finds after a cut."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.dice = Random(3)  # noqa: S311 - dice
        self.disk = power.Disk(f"forgetful-{next(_numbers)}")
        self.maker = Scene(folder / "maker.db")
        self.claimed: set[DeliveryId] = set()
        self.admitted: set[TaskId] = set()

    @asynccontextmanager
    async def opened(
        self, monkeypatch: pytest.MonkeyPatch, *, relaxed: bool = False
    ) -> AsyncIterator[tuple[Sqlite, ClaimedTask]]:
        path = self.folder / "agent.db"
        scene = Scene(path)
        sends = tuple(Delivery("outbox", id=scene.ids.delivery()) for _ in range(ROUNDS))
        claim = scene.running("Write to many", delivery=sends)
        scene.close()
        with monkeypatch.context() as patched:
            patched.setattr(sqlite3, "connect", lambda *_, **__: power.Connection(path, self.disk))
            opened = connection.connect(path)  # with every setting that the real one gets
            if relaxed:
                opened.execute("PRAGMA synchronous = NORMAL")
            patched.undo()
            patched.setattr(store, "connect", lambda *_, **__: opened)
            db = Sqlite(path)
        try:
            yield db, claim
        finally:
            await db.close()
            self.maker.close()

    async def write(self, db: Sqlite, claim: ClaimedTask, n: int) -> None:
        """A claim to send among other writes; once they return, they are acknowledged."""
        made, send = [self.maker.task() for _ in range(3)], claim.task.delivery[n]
        told = (claim.lease, send, BODY, DIGEST, self.maker.now)
        await asyncio.gather(
            db.write(deliveries.claim_send, *told),
            *(db.write(tasks.admit, task) for task in made),
        )
        assert send.id is not None
        self.claimed.add(send.id)
        self.admitted.update(task.id for task in made)

    def lost(self, files: dict[str, bytes], acknowledged: set[str]) -> set[str]:
        """What was acknowledged and is not there; whatever is left must be whole."""
        folder = self.folder / f"after-{next(_numbers)}"
        folder.mkdir()
        for name, left in files.items():
            (folder / name).write_bytes(left)
        home.prepare(folder / "agent.db")
        scene = Scene(folder / "agent.db")
        there = scene.sql(
            "SELECT id FROM deliveries WHERE status = 'sending' UNION SELECT id FROM tasks"
        )
        scene.close()
        return acknowledged - {str(row["id"]) for row in there}


async def cut_after_every_write(bench: Bench, db: Sqlite, claim: ClaimedTask) -> int:
    """Cut as soon as a write returns; how often was something lost?"""
    losses = 0
    for n in range(ROUNDS):
        await bench.write(db, claim, n)
        files = bench.disk.cut(bench.dice)
        losses += bool(bench.lost(files, bench.claimed | bench.admitted))
    return losses


async def test_what_was_acknowledged_survives_a_cut_in_the_same_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)
    async with bench.opened(monkeypatch) as (db, claim):
        assert await cut_after_every_write(bench, db, claim) == 0


async def test_the_same_cuts_find_out_a_store_that_does_not_wait_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the test above would prove nothing."""
    bench = Bench(tmp_path)
    async with bench.opened(monkeypatch, relaxed=True) as (db, claim):
        assert await cut_after_every_write(bench, db, claim) > ROUNDS / 2


async def test_a_cut_in_the_midst_of_a_write_leaves_all_that_was_acknowledged_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, cuts = Bench(tmp_path), list[tuple[dict[str, bytes], set[str]]]()

    def maybe_cut() -> None:
        if bench.dice.random() < 0.05:
            cuts.append((bench.disk.cut(bench.dice), bench.claimed | bench.admitted))

    async with bench.opened(monkeypatch) as (db, claim):
        bench.disk.on_write = maybe_cut
        for n in range(ROUNDS):
            await bench.write(db, claim, n)

    assert len(cuts) > 20
    assert [bench.lost(*cut) for cut in cuts] == [set()] * len(cuts)
