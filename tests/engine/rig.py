"""A world that can be observed and disturbed: slow brains, slow channels, a full store."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from msgspec.structs import replace

from remit.errors import StoreFull
from remit.model.contract import (
    Contract,
    ContractType,
    Criterion,
    Evidence,
    Finding,
    Result,
    WorkItem,
)
from remit.model.delivery import Answer, Delivery, Parcel
from remit.model.ids import SessionId, TaskId
from remit.model.reply import Prompt, Reply
from remit.model.run import EventKind
from remit.model.task import Cue, Source, SourceKind, Task
from remit.ports import Brain, Channel, Check
from remit.settings import DeliverSettings, EngineSettings, Settings
from remit.store import search
from remit.store.database import Database, OnCommit, Tx
from remit.testing import Outbox, World
from remit.verify import Verifier
from remit.wiring import App
from remit.wiring.app import build
from remit.wiring.foundation import build_foundation

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE = 100  # seconds, on a machine that has other things to do
HI = "Thought about it. <deliverable>Hi</deliverable>"
SLOW = Contract(ContractType.VERIFIABLE, (Criterion("slow", "somebody looks at it"),))


async def until(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait, in real time, for what other threads and tasks are about to do."""
    for _ in range(PATIENCE * 500):
        found = condition()
        if found if isinstance(found, bool) else await found:
            return
        await asyncio.sleep(0.002)
    raise AssertionError(condition)


async def everything(world: World) -> list[Task]:
    """Return every task, oldest first."""
    page = await world.app.db.read(search.page, search.TaskFilter(limit=search.MOST))
    return list(reversed(page.tasks))


class Gate:
    """Blocks until released, and counts who is inside."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.inside = self.entered = self.most = self.cancelled = 0

    async def passed(self) -> None:
        self.inside += 1
        self.entered += 1
        self.most = max(self.most, self.inside)
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.inside -= 1

    async def reached(self, times: int = 1) -> None:
        await until(lambda: self.entered >= times)


class SlowBrain(Gate):
    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del prompt, session
        await self.passed()
        return Reply(HI)


class SlowCheck(Gate):
    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task, evidence
        await self.passed()
        return Finding(criterion.activity, Result.PASS)


class SlowOutbox(Outbox):
    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate()

    async def send(self, parcel: Parcel) -> Answer:
        await self.gate.passed()
        return await super().send(parcel)


class Moody:
    """A brain that follows its list in turn, then says hi."""

    def __init__(self, *moods: BaseException | str) -> None:
        self.moods = list(moods)
        self.heard: list[str] = []

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del session
        self.heard.append(prompt.text)
        mood = self.moods.pop(0) if self.moods else HI
        if isinstance(mood, BaseException):
            raise mood
        return Reply(mood)


class Watched:
    """A counted store; when `full` nothing works, else all but what is `broken`.

    A verb in `late` is done at once, but answered only when its event is set. It is counted in
    `writes` and `reads` when it is requested, and in `done` when it is done.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self.writes: Counter[str] = Counter()
        self.reads: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.full = False
        self.broken: set[str] = set()
        self.refused: dict[str, list[Exception]] = {}  # what a verb raises instead, in turn
        self.late: dict[str, asyncio.Event] = {}

    async def write(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        self.writes[work.__name__] += 1
        self._trouble(work.__name__)
        result = await self._db.write(work, *args, **kwargs)
        self.done[work.__name__] += 1
        await self._answer(work.__name__)
        return result

    async def read(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        self.reads[work.__name__] += 1
        self._trouble(work.__name__)
        result = await self._db.read(work, *args, **kwargs)
        self.done[work.__name__] += 1
        await self._answer(work.__name__)
        return result

    async def turn(self) -> None:
        await self._db.turn()

    def on_commit(self, tell: OnCommit) -> None:
        self._db.on_commit(tell)

    async def close(self) -> None:
        await self._db.close()

    async def _answer(self, verb: str) -> None:
        if verb in self.late:
            await self.late[verb].wait()

    def _trouble(self, verb: str) -> None:
        if self.refused.get(verb):
            raise self.refused[verb].pop(0)
        if self.full or verb in self.broken:
            raise StoreFull("agent.db", "no space left on device")


class Rig(World):
    """A world with a watched store, its own checks, and engine settings."""

    def __init__(
        self,
        home: Path,
        *,
        brain: Brain | None = None,
        channels: Mapping[str, Channel] | None = None,
        checks: Mapping[str, Check] | None = None,
        limits: EngineSettings | None = None,
    ) -> None:
        settings = Settings(
            home=home, engine=limits or EngineSettings(), deliver=DeliverSettings(undo=0)
        )
        super().__init__(home, brain=brain or Moody(), channels=channels, settings=settings)
        self._checks = checks
        self.db: Watched

    def _open_app(self) -> AbstractAsyncContextManager[App]:
        return self._rebuilt(super()._open_app())

    @asynccontextmanager
    async def _rebuilt(self, whole: AbstractAsyncContextManager[App]) -> AsyncIterator[App]:
        async with whole as app:
            self.db = Watched(app.db)
            built = build(
                build_foundation(app.settings, self.db, self.clock, self.brain, self._channels)
            )
            if self._checks is not None:
                rooms = replace(built.engine._rooms, verifier=Verifier(self._checks))
                built.engine._rooms = rooms
            yield built

    async def admit(
        self,
        ref: str,
        *,
        delivery: Sequence[Delivery] = (Delivery("outbox"),),
        contract: Contract | None = None,
        session: str | None = None,
        kind: SourceKind = SourceKind.MANUAL,
        work: Sequence[str] = (),
    ) -> Task:
        cue = Cue(
            source=Source(kind, ref),
            title=ref,
            text=ref,
            delivery=tuple(delivery),
            contract=contract,
            session_id=SessionId(session) if session else None,
            work=tuple(WorkItem(line) for line in work),
        )
        return await self.app.intake.admit(cue)

    async def crash(self) -> None:
        """Die without another write, then start again on the same files."""
        self.db.full = True
        for leg, steps in self.app.engine._legs.values():
            steps.hurried = True
            leg.cancel()
        await self.restart()

    async def steps(self, task_id: TaskId) -> list[str]:
        """Return the names of a task's steps, from the journal."""
        history = await self.history(task_id)
        return [str(e.data["step"]) for e in history if e.kind is EventKind.STEP_DONE]

    async def moves(self, task_id: TaskId) -> list[str]:
        """Return a task's moves, from the journal."""
        history = await self.history(task_id)
        return [str(e.data["to"]) for e in history if e.kind is EventKind.TASK_MOVED]
