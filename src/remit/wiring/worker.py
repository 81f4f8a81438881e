"""A worker of several machines: it runs legs and duties that Temporal gives it, until stopped."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from remit.engine.dispatcher import Dispatcher
from remit.engine.leg_worker import LegWorker
from remit.engine.loops import keep_logs
from remit.engine.temporal import TemporalLink
from remit.errors import Transient
from remit.journal.scribe import FOLDER, keep_queue
from remit.model.ids import TaskId, WorkerId
from remit.settings import Settings
from remit.store.postgres import duties
from remit.store.postgres.duties import FencedDatabase
from remit.wiring import file_cleanup
from remit.wiring.app import App, build, closers
from remit.wiring.app_context import StoreClock
from remit.wiring.foundation import Foundation, laid, lay
from remit.wiring.running import settle_accounts

DISPATCH: Final = "dispatch"
_CHECKS: Final = 3  # whether the duty is still ours, in the time after which a worker is dead


async def _dispatch(house: App) -> None:
    await settle_accounts(house)
    await house.engine.start()


async def _series(house: App) -> None:
    await house.repeater.start()


async def _conversations(house: App) -> None:
    await house.talk.start()


async def _inbound(house: App) -> None:
    house.outfit.start()
    await house.doors.start()


async def _calendars(house: App) -> None:
    house.calendars.start()


async def _notices(house: App) -> None:
    house.herald.start()


async def _recall(house: App) -> None:
    house.recollection.start()


async def _reflection(house: App) -> None:
    house.reflection.start(house.journal)


async def _checks(house: App) -> None:
    house.deferred.start()


async def _logs(house: App) -> None:
    settings, journal = house.settings, house.journal
    house.background.start("task logs", partial(keep_logs, journal, settings.logs))
    queue = partial(keep_queue, journal, house.db, settings.home / FOLDER)
    house.background.start("review files", queue)


DUTIES: Final[Mapping[str, Callable[[App], Awaitable[None]]]] = {
    DISPATCH: _dispatch,
    "series": _series,
    "conversations": _conversations,
    "inbound": _inbound,
    "calendars": _calendars,
    "notices": _notices,
    "recall": _recall,
    "reflection": _reflection,
    "deferred checks": _checks,
    "logs": _logs,
}


class DutyRunner:
    """Runs duties in this process, as many as Temporal gives it."""

    def __init__(self, base: Foundation, link: TemporalLink, worker: WorkerId) -> None:
        self._ground = base.ground
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
    for close in (*closers(house), base.fitted.close, base.alike.close, fenced.close):
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
        if isinstance(house.clock, StoreClock):
            house.background.start("clock of the database", house.clock.keep_correct)
        await engine.start()
        await house.leftovers.start(house.journal)
        file_cleanup.start(house)
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
                    await self._link.start_duty(name)
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
