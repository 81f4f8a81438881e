"""Between a claim and the end of its leg anything may be lost; the task goes on all the same."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from temporalio.client import Client

from remit.engine.dispatcher import POLL, SWEEP_SECONDS
from remit.engine.local import DISPATCH
from remit.engine.temporal import TemporalLink, leg_id
from remit.errors import Transient
from remit.model.contract import RankingRule
from remit.model.ids import TaskId, WorkerId
from remit.model.task import Priority
from remit.settings import EngineSettings
from remit.store import queue
from remit.store.database import Tx
from remit.store.postgres import legs
from remit.store.postgres.legs import DISPATCHED
from remit.store.queue import ClaimFilter
from remit.system.background import LoopState
from remit.testing import World
from remit.wiring import app as app_module
from tests.machines.story_engine import StoryEngine
from tests.machines.temporal import TemporalServer
from tests.soak import each_value
from tests.store.postgres import Postgres

SWEEP = timedelta(seconds=SWEEP_SECONDS + 1)
ANYTHING = ClaimFilter(9, {}, suspects=True, ageing=timedelta())


@pytest.fixture(autouse=True)
def on_temporal(
    postgres_server: Postgres, temporal: TemporalServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    monkeypatch.setattr(World, "store_url", postgres_server.store)
    settings = EngineSettings(address=temporal.address)
    monkeypatch.setattr(StoryEngine, "temporal", settings, raising=False)
    monkeypatch.setattr(app_module, "LocalEngine", StoryEngine)
    yield
    postgres_server.wipe()


async def claim(world: World) -> TaskId:
    """Claim a task as a dispatcher does, which is lost before it has done more."""
    engine, db, now = world.app.engine, world.app.db, world.now
    await engine._background.stop(DISPATCH)
    task = await world.add("Greet", content="Hello")
    await db.write(queue.rank, task.id, Priority.MED, RankingRule("default", "a test"), now)
    (held,) = await db.write(queue.claim, DISPATCHED, ANYTHING, engine._ids.run, now)
    assert held.task.id == task.id
    engine._background.start(DISPATCH, engine._dispatch)
    return task.id


async def claimed_and_not_started(world: World) -> TaskId:
    return await claim(world)


async def begun_by_a_worker_that_vanished(world: World) -> TaskId:
    """Its workflow never was, or Temporal has forgotten it."""
    task = await claim(world)
    lease = (await world.app.db.read(legs.held, world.now + timedelta(days=1)))[0].lease
    await world.app.db.write(legs.begin, task, lease, WorkerId("wrk-lost"), world.now)
    return task


async def not_taken_by_temporal(world: World) -> TaskId:
    """Temporal is away while the leg is to be started."""
    engine = world.app.engine
    assert isinstance(engine, StoryEngine)
    tries: list[int] = []

    class Deaf(TemporalLink):
        async def start_leg(self, task_id: TaskId, lease: int, queue: str, priority: int) -> None:
            tries.append(lease)
            if len(tries) == 1:
                raise Transient("Temporal does not answer.")
            await super().start_leg(task_id, lease, queue, priority)

    engine.link.__class__ = Deaf
    task = await world.add("Greet", content="Hello")
    engine.nudge()
    while not tries:  # noqa: ASYNC110 - the engine tries in its own time
        await asyncio.sleep(0.01)
    return task.id


async def due_without_a_word(world: World) -> TaskId:
    """No notification says that it is due now."""
    task = await world.add("Greet", content="Hello", at=world.now + timedelta(days=9))
    await world.run()

    def bring_forward(tx: Tx) -> None:
        tx.ask("UPDATE tasks SET due_at = due_at - 777600000 WHERE id = ?", (task.id,))

    await world.app.db.write(bring_forward)
    return task.id


async def ended_by_an_administrator(world: World) -> TaskId:
    """Its workflow is over, and nobody ran the leg."""
    engine = world.app.engine
    assert isinstance(engine, StoryEngine)
    task = await claim(world)
    lease = (await world.app.db.read(legs.held, world.now + timedelta(days=1)))[0].lease
    await engine.link.start_leg(task, lease, "a queue that nobody serves", 1)
    client = await Client.connect(engine.temporal.address)
    await client.get_workflow_handle(leg_id(task, lease)).terminate()
    return task


LOSSES: tuple[Callable[[World], Awaitable[TaskId]], ...] = (
    claimed_and_not_started,
    begun_by_a_worker_that_vanished,
    not_taken_by_temporal,
    due_without_a_word,
    ended_by_an_administrator,
)


@each_value
@pytest.mark.parametrize("again", [False, True], ids=["same dispatcher", "next dispatcher"])
@pytest.mark.parametrize("lose", LOSSES)
async def test_whatever_is_lost_around_a_claim_the_task_goes_on_and_is_sent_once(
    tmp_path: Path, lose: Callable[[World], Awaitable[TaskId]], again: bool
) -> None:
    async with World(tmp_path) as world:
        task = await lose(world)
        if again:
            await world.restart()
        for _ in range(3):  # two sweeps, if the first one is about to begin; then a claim
            world.clock.advance(max(SWEEP, POLL))
            await asyncio.sleep(0.05)
        await world.run(timedelta(hours=2))
        assert (await world.get(task)).status == "completed"
        assert [parcel.body for parcel in world.outbox.sent] == ["Hello"]


REFUSES = """
CREATE FUNCTION spoil_start() RETURNS trigger LANGUAGE plpgsql
  AS 'BEGIN PERFORM 1 / 0; RETURN NEW; END';
CREATE TRIGGER spoil_start BEFORE UPDATE ON tasks FOR EACH ROW
  WHEN (OLD.title = 'Stuck' AND NEW.worker LIKE 'wrk-%') EXECUTE FUNCTION spoil_start();
"""


async def test_a_leg_that_no_worker_can_begin_is_shown_as_failing_and_others_go_on(
    tmp_path: Path, postgres_server: Postgres
) -> None:
    async with World(tmp_path) as world:
        with psycopg.connect(postgres_server.store, autocommit=True) as connection:
            connection.execute(REFUSES)
            try:
                stuck = await world.add("Stuck", content="Hello")
                other = await world.add("Other", content="Hello")
                failing: tuple[LoopState, ...] = ()
                while not failing or not world.outbox.sent:
                    world.clock.advance(timedelta(seconds=1))
                    await asyncio.sleep(0.01)
                    failing = world.app.background.failing
            finally:
                connection.execute("DROP FUNCTION spoil_start CASCADE")
        assert [each.name for each in failing] == [f"start: {stuck.id}"]
        assert "division by zero" in failing[0].error
        assert (await world.get(other.id)).status == "completed"
