"""A worker of several machines: it runs legs and duties that Temporal gives it, until stopped."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from remit.engine.dispatcher import Dispatcher
from remit.engine.leg_worker import LegWorker
from remit.engine.temporal import CODE_DUTIES, CONTROL, TemporalLink
from remit.errors import Transient
from remit.model.ids import TaskId, WorkerId
from remit.settings import Settings
from remit.store.postgres import duties
from remit.store.postgres.duties import FencedDatabase
from remit.wiring.app import App, build, closers
from remit.wiring.foundation import Foundation, laid, lay
from remit.wiring.running import DUTIES, ON_CODE, start_upkeep

_CHECKS: Final = 3  # whether the duty is still ours, in the time after which a worker is dead


class DutyRunner:
    """Runs duties in this process, as many as Temporal gives it."""

    def __init__(self, base: Foundation, link: TemporalLink, worker: WorkerId) -> None:
        self._ground = base
        self._link = link
        self._worker = worker
        self.current: dict[str, int] = {}  # the numbers of the duties that run here

    async def run(self, name: str) -> None:
        """Do a duty until another worker has taken it over, or this is cancelled."""
        ground = self._ground
        now = ground.clock.now()
        number = await ground.db.write(duties.take_over, name, self._worker, now)
        fenced = FencedDatabase(ground.db, name, number)
        base = lay(ground.settings, fenced, ground.clock, ground.brain, {})
        house = build(base, engine=Dispatcher)
        assert isinstance(house.engine, Dispatcher)  # noqa: S101 - as built
        house.engine.link = self._link
        self.current[name] = number
        try:
            await DUTIES[name](house)
            while True:
                await asyncio.sleep(ground.settings.engine.heartbeat / _CHECKS)
                await ground.db.read(duties.check, name, number)
        finally:
            if self.current.get(name) == number:
                del self.current[name]
            await _close(house, base, fenced)


async def _close(house: App, base: Foundation, fenced: FencedDatabase) -> None:
    await house.engine.stop()
    await house.background.close()
    for close in (*closers(house), base.outfit.close, base.recollection.close, fenced.close):
        await close()


ENSURE_SECONDS: Final = 10.0
SERVING: Final = "legs and duties"


class Worker:
    def __init__(
        self, house: App, engine: LegWorker, link: TemporalLink, duties: DutyRunner
    ) -> None:
        self.house = house
        self._engine = engine
        self._link = link
        self._duties = duties

    async def run_leg(self, task_id: TaskId, lease: int) -> str:
        return await self._engine.run_leg(task_id, lease)

    async def release_leg(self, task_id: TaskId, lease: int) -> None:
        await self._engine.release_leg(task_id, lease)

    async def run_duty(self, name: str) -> None:
        await self._duties.run(name)

    async def start(self, queues: Sequence[str]) -> None:
        """Begin to take on work from some queues."""
        house, engine = self.house, self._engine
        engine.queues, engine.duties = queues, lambda: tuple(self._duties.current)
        await engine.start()
        await house.leftovers.start(house.journal)
        start_upkeep(house)
        slots = house.settings.engine.parallel
        house.background.start(SERVING, lambda: self._link.serve(self, queues, slots))
        house.background.start("start of duties", self._ensure_duties)

    async def stop(self) -> None:
        """Take on nothing more, let running steps end, and leave the rest to others."""
        await asyncio.gather(self._engine.stop(), self._link.stop_serving())

    async def _ensure_duties(self) -> None:
        """Temporal may have lost everything; then all duties are started again."""
        while True:
            try:
                for name in DUTIES:
                    queue = CODE_DUTIES if name in ON_CODE else CONTROL
                    await self._link.start_duty(name, queue)
            except Transient:
                pass  # the loop that serves says so
            await self.house.clock.sleep(ENSURE_SECONDS)


@asynccontextmanager
async def opened_worker(settings: Settings) -> AsyncIterator[Worker]:
    """Open the store together with others; nothing is started."""
    async with laid(settings) as base:
        house = build(base, engine=LegWorker)
        engine = house.engine
        assert isinstance(engine, LegWorker)  # noqa: S101 - as built
        link = TemporalLink(settings.engine)
        try:
            yield Worker(house, engine, link, DutyRunner(base, link, engine.worker))
        finally:
            await house.background.close()
            for close in (*closers(house), link.close):
                await close()
