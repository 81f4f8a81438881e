"""Builds the whole from settings. The only file that knows every concrete class."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from remit.brain import choose, prompt, scripted
from remit.brain.absent import NoBrain
from remit.brain.models import ModelBrain
from remit.brain.think import Thinker
from remit.deliver.courier import Courier
from remit.deliver.dashboard import Dashboard
from remit.engine.local import LocalEngine
from remit.errors import BadInput
from remit.gate import Known
from remit.intake.admit import Intake
from remit.journal.follow import Journal
from remit.model.ids import Ids
from remit.model.status import Reason
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
    thinks: bool  # whether there is a brain that can be asked


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
        brain = brain or brain_of(settings)
        if isinstance(brain, ModelBrain):
            stack.push_async_callback(brain.close)
        db = Sqlite(settings.database)
        stack.push_async_callback(db.close)
        yield _build(settings, db, clock, brain, channels or {})


async def start(house: House) -> None:
    """Go to work. What waited for a brain goes on by itself once there is one."""
    if house.thinks:
        await house.inbox.grant(Reason.AUTH, "a brain is there now")
    await house.engine.start()


def _build(
    settings: Settings, db: Database, clock: Clock, brain: Brain, more: Mapping[str, Channel]
) -> House:
    ids = Ids(clock.now, secrets.randbits)
    dashboard = Dashboard()
    channels: dict[str, Channel] = {dashboard.name: dashboard, **more}
    rooms = Rooms(
        planner=Planner(),
        recall=Recall(db),
        thinker=Thinker(brain, channels, _who(settings)),
        verifier=Verifier(CHECKS),
        courier=Courier(channels),
        known=Known(secrets=_secrets(os.environ), echoes=prompt.FIXED),
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
        thinks=brain.ready if isinstance(brain, ModelBrain) else not isinstance(brain, NoBrain),
    )


def brain_of(settings: Settings) -> Brain:
    """The brain that the settings name."""
    match settings.brain.kind:
        case "none":
            return NoBrain()
        case "scripted":
            return scripted.load(settings.home / settings.brain.script)
        case "auto" | "model":
            return ModelBrain(choose.found(os.environ, settings.brain))
        case other:
            sentence = f"[brain] kind is {other!r}; it may be auto, model, none or scripted."
            raise BadInput(sentence, field="kind")


def _who(settings: Settings) -> str:
    owner = "your owner" if settings.owner == "you" else settings.owner
    return f"You are {settings.agent}, and you work for {owner}."


def _secrets(environ: Mapping[str, str]) -> frozenset[str]:
    """Every key and token that this process knows: none of them may ever go out."""
    ends = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
    return frozenset(value for name, value in environ.items() if name.endswith(ends) and value)
