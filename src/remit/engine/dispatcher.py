"""The dispatcher for many machines: ranks and claims due tasks, and has Temporal run their legs.

It is a duty: one process does it at a time. Rows are the only authority. A row that was claimed and
not started is started again under the same name, which Temporal takes once. A row is released only
if Temporal says that its leg is over, or does not know it.
"""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from remit.engine.local import DISPATCH, LocalEngine
from remit.engine.temporal import LegStatus, TemporalLink
from remit.errors import Transient
from remit.model.task import Task
from remit.store import queue, tasks
from remit.store.postgres import legs
from remit.store.postgres.legs import DISPATCHED, HeldLeg
from remit.store.queue import ClaimFilter
from remit.system.background import wait_until

SWEEP: Final = "sweep of legs"
POLL: Final = timedelta(seconds=5)
RETRY: Final = timedelta(seconds=1)
SWEEP_SECONDS: Final = 10.0
_LOG: Final = logging.getLogger("remit.dispatch")


class Dispatcher(LocalEngine):
    link: TemporalLink
    _passed_over = False  # whether something was due and nothing was claimed

    async def start(self) -> int:
        await self._sweep(self._clock.now())  # what the one before had claimed
        self._background.start(DISPATCH, self._dispatch)
        self._background.start(SWEEP, self._sweeping)
        return 0

    async def stop(self) -> None:
        self._stopping = True
        self._wake.set()
        await self._background.stop(DISPATCH, SWEEP)
        for weighing in self._weighed.values():
            weighing.cancel()

    async def _claim(self, now: datetime) -> bool:
        names = {name: self.link.queue(name) for name in queue.QUEUES}
        load = await self._db.read(legs.load, names, now)
        left = {name: n - load.sources.get(name, 0) for name, n in self._limits.sources.items()}
        ageing = timedelta(seconds=self._limits.ageing)
        alone = load.suspects == 0
        wanted = ClaimFilter(load.free, left, alone, ageing, load.queues, deaths=legs.SUSPECT)
        if not load.free and not await self._db.read(queue.any_doubt, now):
            return False
        found = await self._db.write(queue.claim, DISPATCHED, wanted, self._ids.run, now)
        await self._start_all([(each.task, each.lease.number) for each in found])
        self._passed_over = not found  # perhaps because somebody was writing to that row
        return bool(found)

    async def _start_all(self, found: Sequence[tuple[Task, int]]) -> None:
        """Start legs; what Temporal does not take now is started by the next sweep."""
        starts = (self._start_leg(task, lease) for task, lease in found)
        for failed in await asyncio.gather(*starts, return_exceptions=True):
            if isinstance(failed, Exception):
                _LOG.warning("A leg could not be started: %s", failed)

    async def _start_leg(self, task: Task, lease: int) -> None:
        name = self.link.queue(queue.queue_of(task.assigned_agent))
        if name == self._code:
            # The machine that has the folder of this work goes on with it, while it lives.
            now = self._clock.now()
            name = await self._db.read(legs.queue_of_machine, task.id, name, now)
        await self.link.start_leg(task.id, lease, name, queue.QUEUE[task.priority] + 1)

    @property
    def _code(self) -> str:
        return self.link.queue(queue.CODE)

    async def _until(self, due: datetime | None) -> None:
        # A notification may be lost: look now and then.
        latest = self._clock.now() + (RETRY if self._passed_over else POLL)
        self._passed_over = False
        await wait_until(self._wake, self._clock, min(due or latest, latest))

    async def _sweeping(self) -> None:
        while True:
            await self._clock.sleep(SWEEP_SECONDS)
            await self._sweep(self._clock.now() - timedelta(seconds=SWEEP_SECONDS))

    async def _sweep(self, before: datetime) -> None:
        """Release or start again what Temporal does not run."""
        for leg in await self._db.read(legs.held, before):
            try:
                await self._settle(leg, await self.link.status(leg.task_id, leg.lease))
            except Transient as silent:
                _LOG.warning("%s", silent)
                return

    async def _settle(self, leg: HeldLeg, status: LegStatus) -> None:
        if status is LegStatus.RUNNING and not await self._waits_in_vain(leg):
            return
        if status is LegStatus.UNKNOWN and not leg.begun:
            task = await self._db.read(tasks.get, leg.task_id)
            await self._start_all([(task, leg.lease)])
            return
        now, review = self._clock.now(), self._ids.review()
        await self._db.write(legs.release, leg.task_id, leg.lease, review, now)

    async def _waits_in_vain(self, leg: HeldLeg) -> bool:
        """Take a leg back from the queue of a machine that is gone; True if that was done."""
        if leg.begun or not leg.on_code:
            return False
        name = await self.link.queue_of_leg(leg.task_id, leg.lease)
        machine = name.startswith(f"{self._code}-")
        if not machine or await self._db.read(legs.is_served, name, self._clock.now()):
            return False
        await self.link.end_leg(leg.task_id, leg.lease)
        return True
