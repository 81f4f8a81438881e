"""Temporal under a world of the stories: dispatcher and worker in one process, with its clock."""

import asyncio
from datetime import datetime, timedelta
from typing import ClassVar

from msgspec.structs import replace

from remit.engine.dispatcher import Dispatcher
from remit.engine.leg_worker import LegWorker
from remit.engine.temporal import TemporalLink
from remit.settings import EngineSettings
from remit.store.postgres import legs

SERVING = "legs"
EVER = timedelta(days=10_000)


class StoryEngine(Dispatcher, LegWorker):
    """Every leg goes by a row, a workflow and an activity, as on many machines."""

    temporal: ClassVar[EngineSettings]
    machine: ClassVar[str] = ""  # of several, on which engines have the same queues

    async def start(self) -> int:
        base = "machines" if self.machine else f"story-{self.worker}"
        self.link = TemporalLink(replace(self.temporal, task_queue=base))
        own = [f"code-{self.machine}"] if self.machine else []
        self.queues = [self.link.queue(name) for name in ("", "code", *own)]
        await LegWorker.start(self)
        self._background.start(SERVING, self._serve)
        return await Dispatcher.start(self)

    async def stop(self) -> None:
        await Dispatcher.stop(self)
        await LegWorker.stop(self)
        await self.link.stop_serving()
        await self._background.finish(SERVING)
        await self.link.close()

    async def settled(self) -> None:
        while True:
            await super().settled()
            if not await self._db.read(legs.held, self._clock.now() + EVER) and self._idle.is_set():
                return
            await asyncio.sleep(0.005)

    async def run_duty(self, name: str) -> None:
        raise AssertionError(f"nobody starts the duty {name}")

    async def _serve(self) -> None:
        await self.link.serve(self, self.queues, self._limits.parallel)

    async def _claim(self, now: datetime) -> bool:
        await self._report()  # days may have passed since the last one
        return await super()._claim(now)
