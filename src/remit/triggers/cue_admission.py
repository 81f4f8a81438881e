"""Admits cues: stores each, starts it, and records the result.

An interrupted cue is started again at the next start, with the same result: a task is known by its
source, a turn by its key.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from remit.errors import BadInput, NotFound, StoreTrouble
from remit.model.ids import TaskId
from remit.ports import Clock
from remit.store import cues
from remit.store.cues import Arrival, CueFate, InboundCaps, StoredCue
from remit.store.database import Database

_LOG: Final = logging.getLogger("remit.doors")
_MOST: Final = 2000  # latest cues searched by name


class StartedCue(Struct, frozen=True):
    """The result of a started cue."""

    fate: CueFate
    task_id: TaskId | None = None
    why: str = ""


Begin: TypeAlias = Callable[[StoredCue], Awaitable[StartedCue]]


class PollingWatch(Protocol):
    """An inbound source that must be polled."""

    def start(self) -> None: ...

    async def close(self) -> None: ...


class CueAdmission:
    """Admits cues by the rules of each door; `begins` says what a door makes of one."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        begins: Mapping[str, Begin],
        day: Callable[[datetime], datetime],
    ) -> None:
        self._db = db
        self._clock = clock
        self._begins = begins
        self._day = day

    async def take(self, arrival: Arrival, caps: InboundCaps) -> StoredCue:
        """Store an arrival durably and start it if allowed; a repeat is the same cue."""
        now = self._clock.now()
        kept = await self._db.write(cues.come, arrival, caps, now, self._day(now))
        return await self._begin(kept) if kept.fate is CueFate.WAITING else kept

    async def start(self, name: str) -> StoredCue:
        """Start a stored cue that started nothing, because the owner says so."""
        found = await self._db.read(cues.latest, _MOST)
        kept = next((each for each in found if each.name == name), None)
        if kept is None:
            raise NotFound("cue", f"{name!r:.40}; `remit doors came` lists them")
        if kept.fate in (CueFate.STARTED, CueFate.TALKED):
            return kept
        return await self._begin(kept)

    async def take_up(self) -> None:
        """Start the cues that were stored but not started before an interruption."""
        for kept in await self._db.read(cues.waiting):
            try:
                await self._begin(kept)
            except StoreTrouble:
                return
            except Exception:  # noqa: BLE001 - one that breaks must not keep the others waiting
                _LOG.exception("What came by %s could not be begun.", kept.door)

    async def _begin(self, kept: StoredCue) -> StoredCue:
        begin = self._begins.get(kept.door)
        if begin is None:
            begun = StartedCue(CueFate.IGNORED, why="there is no such door any more")
        else:
            try:
                begun = await begin(kept)
            except BadInput as bad:
                begun = StartedCue(CueFate.IGNORED, why=str(bad))
        return await self._db.write(cues.settle, kept.ref, begun.fate, begun.task_id, begun.why)
