"""Work on code goes on where its folder is; if that machine is gone, another goes on with it."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path

import pytest

from remit.engine.dispatcher import SWEEP_SECONDS
from remit.model.review import ReviewAnswer
from remit.model.status import Status
from remit.model.task import Task
from remit.settings import EngineSettings
from remit.store.database import Tx
from remit.store.postgres import legs, machines
from remit.testing import World
from remit.wiring import app as app_module
from tests.machines.story_engine import StoryEngine
from tests.machines.temporal import TemporalServer
from tests.store.postgres import Postgres
from tests.stories.shop.rig import QUICK, Shop, opened, settle, turn
from tests.stories.shop.sample import GOOD, sample

Open = Callable[[], AbstractAsyncContextManager[Shop]]


@pytest.fixture
def on_ada(
    tmp_path: Path,
    postgres_server: Postgres,
    temporal: TemporalServer,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Open]:
    monkeypatch.setattr(World, "store_url", postgres_server.store)
    settings = EngineSettings(address=temporal.address)
    monkeypatch.setattr(StoryEngine, "temporal", settings, raising=False)
    monkeypatch.setattr(StoryEngine, "machine", "ada")
    monkeypatch.setattr(app_module, "LocalEngine", StoryEngine)
    repository = sample(tmp_path / "plain" / "shop")
    turns = [turn(GOOD), turn(GOOD)]
    yield lambda: opened(tmp_path, repository, hand=turns, commands=QUICK)
    postgres_server.wipe()


def engine(shop: Shop) -> StoryEngine:
    found = shop.world.app.engine
    assert isinstance(found, StoryEngine)
    return found


async def test_work_goes_on_where_its_folder_is(on_ada: Open) -> None:
    async with on_ada() as shop:
        task = await shop.order()
        await settle(shop, task)

        places = [await engine(shop).link.queue_of_leg(task.id, lease) for lease in (1, 2)]
        assert places == ["machines-code", "machines-code-ada"]
        assert len(shop.hands["hand"].told) == 1


@pytest.mark.parametrize("copied", [True, False])
async def test_work_of_a_machine_that_is_gone_goes_on_elsewhere(
    on_ada: Open, monkeypatch: pytest.MonkeyPatch, *, copied: bool
) -> None:
    """Without a copy, because it is too large or of an older version, it is done again."""
    async with on_ada() as shop:
        task = await shop.order()
        asked = await shop.question()
        await _ben_takes_over(shop, monkeypatch)
        if not copied:
            await shop.world.app.db.write(machines.remove_work_copy, task.id)
        await shop.world.decide(asked, ReviewAnswer.APPROVE)
        await _ada_is_missed(shop, task)

        done = await shop.world.get(task.id)
        if not copied:
            done = await settle(shop, done)
        assert (done.status, shop.text()) == (Status.COMPLETED, GOOD)
        again = shop.hands["hand"].told[1:]
        assert len(again) == (0 if copied else 1)
        assert copied or "is gone, or on another machine" in again[0]


@pytest.mark.parametrize("stale", [True, False])
async def test_work_that_is_sent_back_goes_on_from_what_the_last_machine_left(
    on_ada: Open, monkeypatch: pytest.MonkeyPatch, *, stale: bool
) -> None:
    """Ben may have an older folder of it, from before ada took it over."""
    async with on_ada() as shop:
        task = await shop.order()
        asked = await shop.question()
        await _ben_takes_over(shop, monkeypatch)
        if stale:
            ports = engine(shop)._rooms.code_ports
            assert ports is not None
            older = await ports.specialists._trees.open(str(shop.repo), task.id)
            Path(older.folder, "older.txt").touch()  # noqa: ASYNC240 - a test
        shop.hands["hand"].then(turn(GOOD), turn(write={"notes.txt": "again"}))
        await shop.world.decide(asked, ReviewAnswer.BACK, "Add notes.")
        await _ada_is_missed(shop, task)

        folder = shop.folder(task)
        assert (folder / "shop/price.py").read_text() == GOOD
        assert (folder / "notes.txt").exists()
        assert not (folder / "older.txt").exists()


async def _ada_is_missed(shop: Shop, task: Task) -> None:
    """Let time pass until ben gets what waits for ada."""
    while (await shop.world.get(task.id)).status is not Status.RUNNING:  # noqa: ASYNC110 - for ada
        await asyncio.sleep(0.05)
    shop.world.clock.advance(legs.ALIVE)
    for _ in range(3):
        shop.world.clock.advance(timedelta(seconds=SWEEP_SECONDS + 1))
        await asyncio.sleep(0.2)
    await shop.world.run()


async def _ben_takes_over(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine, with a disk of its own; ada died, and nobody knows it yet."""
    monkeypatch.setattr(StoryEngine, "machine", "ben")
    shutil.rmtree(shop.world.app.settings.home / "worktrees")
    await shop.world.restart()

    def forget_the_end(tx: Tx) -> None:
        tx.ask("UPDATE workers SET ended_at = NULL")

    await shop.world.app.db.write(forget_the_end)
