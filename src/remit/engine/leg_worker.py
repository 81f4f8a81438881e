"""The engine of `remit worker`: runs the legs that Temporal gives it, as the local engine would."""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from remit.engine.local import HEARTBEAT_LOOP, LocalEngine
from remit.engine.steps import wish_of
from remit.errors import RemitError, StoreTrouble
from remit.model.ids import TaskId
from remit.model.run import Event
from remit.model.status import Actor
from remit.store import tasks
from remit.store.postgres import legs
from remit.store.postgres.legs import WorkerState
from remit.store.queue import ClaimedTask

REPORT_SECONDS: Final = 5.0
_ORDERED_BY: Final = (Actor.OWNER, Actor.AGENT)


class IdleEngine(LocalEngine):
    """The engine of a process that runs no legs: others do. It holds nothing and claims nothing."""

    async def start(self) -> int:
        return 0

    async def stop(self) -> None:
        """Nothing was started."""


class LegWorker(LocalEngine):
    queues: Sequence[str] = ()
    duties: Callable[[], Sequence[str]] = tuple

    async def start(self) -> int:
        """Report what it does, from now on."""
        self._db.on_commit(self._hear)
        await self._report()
        self._background.start(HEARTBEAT_LOOP, self._beat)
        return 0

    async def stop(self) -> None:
        """Have nothing more dispatched to this worker, then stop as the local engine does."""
        self._stopping = True
        with suppress(StoreTrouble):
            await self._report()
        await super().stop()

    async def run_leg(self, task_id: TaskId, lease: int) -> str:
        """Run one leg to its end; nothing if it is another's by now."""
        claim = await self._begin(task_id, lease)
        if claim is None:
            return "obsolete"
        self._start(claim)
        leg, steps = self._legs[task_id]
        steps.parting = self._stopping
        try:
            await asyncio.wait({leg})
        except asyncio.CancelledError:
            leg.cancel()  # Temporal gave it up: another leg goes on, and this one writes nothing
            raise
        # A commit without an answer may have taken the lease from the leg's own end.
        if not steps.ended and await self._db.read(legs.is_held, task_id, lease):
            await self.release_leg(task_id, lease)
        return "ended"

    async def release_leg(self, task_id: TaskId, lease: int) -> None:
        """Let a task go on elsewhere whose worker died."""
        now, review = self._clock.now(), self._ids.review()
        await self._db.write(legs.release, task_id, lease, review, now)

    async def _begin(self, task_id: TaskId, lease: int) -> ClaimedTask | None:
        claim: ClaimedTask | None = None

        async def begin() -> None:
            nonlocal claim
            now = self._clock.now()
            claim = await self._db.write(legs.begin, task_id, lease, self.worker, now)

        try:
            await begin()
        except StoreTrouble:
            await self._try_on(f"start: {task_id}", begin)
        return claim

    def _hear(self, happened: Sequence[Event]) -> None:
        """Look at the owner's wish about a task that runs here, wherever it was written."""
        for event in happened:
            if event.task_id in self._legs and event.actor in _ORDERED_BY:
                self._background.start(f"wish about {event.task_id}", self._heed_wishes)
                return

    async def _heed_wishes(self) -> None:
        for task_id in list(self._legs):
            task = await self._db.read(tasks.get, task_id)
            if wish_of(task) is not None:
                self.heed(task)

    async def _beat(self) -> None:
        while True:
            await self._clock.sleep(REPORT_SECONDS)
            with suppress(StoreTrouble, RemitError):
                await self._report()
                await self._heed_wishes()  # a notification may be lost

    async def _report(self) -> None:
        place, queues = f"{socket.gethostname()}:{os.getpid()}", tuple(self.queues)
        runs = (*self.duties(), *self._legs)
        slots = 0 if self._stopping else self._limits.parallel
        state = WorkerState(self.worker, place, queues, slots, runs, self._clock.now())
        await self._db.write(legs.report_load, state)
