"""A worker of several machines: it runs legs and duties that Temporal gives it, until stopped."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from remit.engine.dispatcher import Dispatcher
from remit.engine.leg_worker import LegWorker
from remit.engine.temporal import CODE_DUTIES, CONTROL, TemporalLink
from remit.errors import StoreTrouble, Transient
from remit.model.ids import TaskId, WorkerId
from remit.settings import Settings
from remit.store.postgres import duties, legs
from remit.store.postgres.duties import FencedDatabase
from remit.wiring.app import App, build, closers
from remit.wiring.foundation import Foundation, build_foundation, open_foundation
from remit.wiring.running import DUTIES, ON_CODE, start_upkeep

_CHECKS: Final = 3  # whether the duty is still ours, in the time after which a worker is dead


class DutyRunner:
    """Runs duties in this process, as many as Temporal gives it."""

    def __init__(self, base: Foundation, link: TemporalLink, worker: WorkerId) -> None:
        self._context = base
        self._link = link
        self._worker = worker
        self.current: dict[str, int] = {}  # the numbers of the duties that run here

    async def run(self, name: str) -> None:
        """Do a duty until another worker has taken it over, or this is cancelled."""
        context = self._context
        now = context.clock.now()
        number = await context.db.write(duties.take_over, name, self._worker, now)
        fenced = FencedDatabase(context.db, name, number)
        base = build_foundation(context.settings, fenced, context.clock, context.brain, {})
        app = build(base, engine=Dispatcher)
        assert isinstance(app.engine, Dispatcher)  # noqa: S101 - as built
        app.engine.link = self._link
        self.current[name] = number
        try:
            await DUTIES[name](app)
            while True:
                await asyncio.sleep(context.settings.engine.heartbeat / _CHECKS)
                await context.db.read(duties.check, name, number)
        finally:
            if self.current.get(name) == number:
                del self.current[name]
            await _close(app, base, fenced)


async def _close(app: App, base: Foundation, fenced: FencedDatabase) -> None:
    await app.engine.stop()
    await app.background.close()
    for close in (*closers(app), base.outfit.close, base.recollection.close, fenced.close):
        await close()


ENSURE_SECONDS: Final = 10.0
SERVING: Final = "legs and duties"


class Worker:
    def __init__(self, app: App, engine: LegWorker, link: TemporalLink, duties: DutyRunner) -> None:
        self.app = app
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
        app, engine = self.app, self._engine
        engine.queues, engine.duties = queues, lambda: tuple(self._duties.current)
        await engine.start()
        await app.leftovers.start(app.journal)
        start_upkeep(app)
        slots = app.settings.engine.parallel
        app.background.start(SERVING, lambda: self._serve(queues, slots))
        app.background.start("start of duties", self._ensure_duties)

    async def stop(self) -> None:
        """Take on nothing more, let running steps end, and leave the rest to others."""
        await asyncio.gather(self._engine.stop(), self._link.stop_serving())
        await self._give_back()

    async def _serve(self, queues: Sequence[str], slots: int) -> None:
        await self._give_back()  # a connection that was lost may have dropped some, too
        await self._link.serve(self, queues, slots)

    async def _give_back(self) -> None:
        """Release what Temporal handed to this worker just as it took on nothing more.

        Its library drops such a leg; nobody would begin it. If a server does not answer, Temporal
        notices after `heartbeat` seconds.
        """
        db, link = self.app.db, self._link
        with suppress(Transient, StoreTrouble):
            for leg in await db.read(legs.held, self.app.clock.now()):
                if not leg.begun and await link.was_handed_here(leg.task_id, leg.lease):
                    await link.end_leg(leg.task_id, leg.lease)
                    await self.release_leg(leg.task_id, leg.lease)

    async def _ensure_duties(self) -> None:
        """Temporal may have lost everything; then all duties are started again."""
        while True:
            try:
                for name in DUTIES:
                    queue = CODE_DUTIES if name in ON_CODE else CONTROL
                    await self._link.start_duty(name, queue)
            except Transient:
                pass  # the loop that serves says so
            await self.app.clock.sleep(ENSURE_SECONDS)


@asynccontextmanager
async def open_worker(settings: Settings) -> AsyncIterator[Worker]:
    """Open the store together with others; nothing is started."""
    async with open_foundation(settings) as base:
        app = build(base, engine=LegWorker)
        engine = app.engine
        assert isinstance(engine, LegWorker)  # noqa: S101 - as built
        link = TemporalLink(settings.engine, engine.worker)
        try:
            yield Worker(app, engine, link, DutyRunner(base, link, engine.worker))
        finally:
            await app.background.close()
            for close in (*closers(app), link.close):
                await close()
