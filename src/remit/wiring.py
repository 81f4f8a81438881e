"""Builds the whole from settings. The only file that knows every concrete class."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from remit.brain import scripted
from remit.brain.absent import NoBrain
from remit.brain.think import Thinker
from remit.deliver.courier import Courier
from remit.deliver.dashboard import Dashboard
from remit.engine.local import LocalEngine
from remit.errors import BadInput
from remit.intake.admit import Intake
from remit.journal.follow import Journal
from remit.model.ids import Ids
from remit.owner import Owner
from remit.plan.draft import Planner
from remit.ports import Brain, Channel, Clock
from remit.recall.session import Recall
from remit.review.inbox import Inbox
from remit.run import Rooms
from remit.settings import Settings
from remit.store import home
from remit.store.database import Database
from remit.store.sqlite import Sqlite
from remit.verify.text import CHECKS
from remit.verify.verdict import Verifier


class WallClock:
    """The machine's own time."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - the one place where time comes from

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class House:
    """Everything, put together."""

    settings: Settings
    db: Database
    clock: Clock
    ids: Ids
    journal: Journal
    intake: Intake
    inbox: Inbox
    owner: Owner
    engine: LocalEngine


@asynccontextmanager
async def opened(
    settings: Settings,
    *,
    clock: Clock | None = None,
    brain: Brain | None = None,
    channels: Mapping[str, Channel] | None = None,
) -> AsyncIterator[House]:
    """Hold the directory, open the store and build the rooms; the engine is not started."""
    clock = clock or WallClock()
    async with AsyncExitStack() as stack:
        stack.enter_context(home.lock(settings.home))
        await asyncio.to_thread(home.prepare, settings.database)
        db = Sqlite(settings.database)
        stack.push_async_callback(db.close)
        yield _build(settings, db, clock, brain or brain_of(settings), channels or {})


def _build(
    settings: Settings, db: Database, clock: Clock, brain: Brain, more: Mapping[str, Channel]
) -> House:
    ids = Ids(clock.now, secrets.randbits)
    dashboard = Dashboard()
    channels: dict[str, Channel] = {dashboard.name: dashboard, **more}
    rooms = Rooms(
        planner=Planner(),
        recall=Recall(db),
        thinker=Thinker(brain, channels),
        verifier=Verifier(CHECKS),
        courier=Courier(channels),
    )
    return House(
        settings=settings,
        db=db,
        clock=clock,
        ids=ids,
        journal=Journal(db),
        intake=Intake(db, clock, ids, channels),
        inbox=Inbox(db, clock),
        owner=Owner(db, clock),
        engine=LocalEngine(db, clock, ids, rooms, settings.engine),
    )


def brain_of(settings: Settings) -> Brain:
    """The brain that the settings name."""
    match settings.brain.kind:
        case "none":
            return NoBrain()
        case "scripted":
            return scripted.load(settings.home / settings.brain.script)
        case other:
            raise BadInput(f"[brain] kind is {other!r}; it may be none or scripted.", field="kind")
