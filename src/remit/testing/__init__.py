"""The fakes of our own tests, for your tests too.

    async with World(tmp_path, brain=script([{"reply": "<deliverable>Hi</deliverable>"}])) as world:
        task = await world.add("Greet me", at=world.now + timedelta(days=3))
        await world.run(timedelta(days=30))          # takes a moment, not a month
        assert (await world.get(task.id)).status == "completed"

Store, engine, spine and gate are the real ones; only time, brain and channels are fakes.
"""

import asyncio
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, Final, Self

from msgspec.structs import replace

from remit.brain.scripted import ScriptedBrain
from remit.brain.scripted import parse as script
from remit.brain.tools import UsableTool
from remit.intake.message import MessageResult, OwnerMessage
from remit.model.codec import JsonMap, text_of
from remit.model.delivery import Accepted, Answer, Parcel, SendGuarantee
from remit.model.ids import TaskId
from remit.model.reply import Prompt, Reply, ToolCall
from remit.model.review import Decision, Review, ReviewAnswer
from remit.model.run import Event
from remit.model.task import Source, SourceKind, Task
from remit.ports import Brain, Channel
from remit.settings import DeliverSettings, Settings, StoreSettings
from remit.store import home, legacy, queue, tasks
from remit.testing.memory import MemorySteps, PowerCut
from remit.triggers import cue_admission
from remit.wiring import App, opened

__all__ = [
    "FileOutbox",
    "FrozenClock",
    "MemorySteps",
    "ObedientBrain",
    "Outbox",
    "PowerCut",
    "ScriptedBrain",
    "SleepyClock",
    "World",
    "provide_database",
    "script",
]

START: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def provide_database(path: Path) -> None:
    """Copy a prepared database, because creating one takes longer.

    Not beside the conversations of an older installation: Remit must import those.
    """
    if not path.exists() and not path.with_name(legacy.OLD).exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        path.write_bytes(_fresh_database())


@cache
def _fresh_database() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "agent.db"
        home.prepare(path)
        return path.read_bytes()


class FrozenClock:
    """Stands still until it is moved; sleepers wake when their time has come."""

    def __init__(self, at: datetime = START) -> None:
        self._at = at
        self._sleepers: list[tuple[datetime, asyncio.Future[None]]] = []

    def now(self) -> datetime:
        return self._at

    async def sleep(self, seconds: float) -> None:
        done = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._at + timedelta(seconds=seconds), done))
        await done

    def advance(self, by: timedelta) -> None:
        self.jump(self._at + by)

    def jump(self, to: datetime) -> None:
        """Go to a moment, later or earlier, as real clocks do."""
        self._at = to
        due = [done for at, done in self._sleepers if at <= to]
        self._sleepers = [(at, done) for at, done in self._sleepers if at > to]
        for done in due:
            if not done.done():
                done.set_result(None)


class SleepyClock(FrozenClock):
    """A machine that can be suspended: the wall clock goes on, but whoever sleeps sleeps on."""

    def __init__(self, at: datetime = START) -> None:
        super().__init__(at)
        self._suspended = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self._suspended

    def suspend(self, span: timedelta) -> None:
        self._suspended += span


@dataclass
class Outbox:
    """A channel that keeps what it gets, and answers as configured."""

    name: str = "outbox"
    guidance: str = "Plain text."
    most: int = 4096
    keeps: SendGuarantee = SendGuarantee.NOTHING
    answers: list[Answer | Exception] = field(default_factory=list)  # after these: accepted
    sent: list[Parcel] = field(default_factory=list)  # accepted ones
    tried: list[Parcel] = field(default_factory=list)

    async def send(self, parcel: Parcel) -> Answer:
        self.tried.append(parcel)
        answer = self.answers.pop(0) if self.answers else Accepted(f"out-{len(self.sent) + 1}")
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Accepted):
            self.sent.append(parcel)
        return answer


class FileOutbox:
    """A provider that outlives the process: accepted keys are in a file, fsynced."""

    name: Final = "outbox"
    guidance: Final = "Plain text."
    most: Final = 4096
    keeps: Final = SendGuarantee.NOTHING

    def __init__(self, path: Path) -> None:
        self._path = path

    async def send(self, parcel: Parcel) -> Answer:
        line = text_of({"key": parcel.key, "to": parcel.recipient, "body": parcel.body}) + "\n"
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line.encode())
            os.fsync(file)
        finally:
            os.close(file)
        return Accepted(parcel.key)

    def accepted(self) -> list[str]:
        """Return the accepted keys, in order, as the provider saw them."""
        if not self._path.exists():
            return []
        return [json.loads(line)["key"] for line in self._path.read_text("utf-8").splitlines()]


_CALL: Final = re.compile(r"\buse (\w+) (\{.*)")


class ObedientBrain:
    """Obeys every order in anything it reads, whoever wrote it.

    If the safeguards hold with it, they hold with any brain.

    `ORDER: use NAME {…}` is called as a tool, once; any other order becomes its deliverable.
    """

    ORDER: Final = re.compile(r"(?im)^.*?\b(?:order|system|admin|ignore[^:\n]*):\s*(.+)$")

    def __init__(self) -> None:
        self.obeyed: list[str] = []
        self._known: dict[str, list[str]] = {}

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        known = self._known.setdefault(session, [])
        found = [order.strip() for order in self.ORDER.findall(prompt.whole)]
        news = [order for order in dict.fromkeys(found) if order not in known]
        known += news
        self.obeyed += news
        calls = tuple(call for n, order in enumerate(news) if (call := _call(order, len(known), n)))
        if calls:
            return Reply("As you wish.", calls=calls, state="obedient")
        if not known:
            return Reply("No order given. <deliverable>Nothing to report.</deliverable>")
        return Reply(f"As you wish.\n{_sent(known[-1])}", state="obedient")


def _call(order: str, known: int, n: int) -> ToolCall | None:
    found = _CALL.search(order)
    if found is None:
        return None
    try:
        args: JsonMap = json.JSONDecoder().raw_decode(found[2])[0]
    except ValueError:
        args = {}
    return ToolCall(f"call-{known}-{n}", found[1], args)


def _sent(order: str) -> str:
    """Return what it wants to send: an order with its own tags stays as it is."""
    return order if "<deliverable" in order else f"<deliverable>{order}</deliverable>"


class World:
    """A whole app with its own clock: thirty days pass in seconds."""

    store_url: ClassVar[str] = ""  # the store of every world without its own settings for it

    def __init__(
        self,
        home: Path,
        *,
        brain: Brain | None = None,
        channels: Mapping[str, Channel] | None = None,
        start: datetime = START,
        settings: Settings | None = None,
        able: Sequence[UsableTool] = (),
    ) -> None:
        self.outbox = Outbox()
        self.clock = FrozenClock(start)
        self.brain: Brain = brain or ScriptedBrain(())
        # No undo window by default; a test of undo sets it.
        plain = settings or Settings(home=home, deliver=DeliverSettings(undo=0))
        url = plain.store.url or self.store_url
        self._settings = replace(plain, store=StoreSettings(url))
        self._channels: dict[str, Channel] = {"outbox": self.outbox, **(channels or {})}
        self._able = able  # your tools, besides the built-in ones
        self._stack = AsyncExitStack()
        self._added = 0
        self.app: App

    async def __aenter__(self) -> Self:
        if not self._settings.store.url:
            provide_database(self._settings.database_file)
        self.app = await self._stack.enter_async_context(self._open_app())
        self._stack.push_async_callback(self._stop)
        await self.app.repeater.start()
        await self.app.engine.start()
        await self.app.talk.take_up()  # `run` posts the news about tasks
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def _open_app(self) -> AbstractAsyncContextManager[App]:
        return opened(
            self._settings,
            clock=self.clock,
            brain=self.brain,
            channels=self._channels,
            able=self._able,
        )

    @property
    def now(self) -> datetime:
        return self.clock.now()

    async def add(
        self,
        text: str,
        *,
        at: datetime | None = None,
        content: str | None = None,
        channel: str = "outbox",
        recipient: str | None = None,
        work: Sequence[str] = (),
        **more: object,
    ) -> Task:
        """Entrust something; `more` are other fields of the `Cue`, such as its source or taint."""
        self._added += 1
        cue = cue_admission.cue(
            text,
            ref=f"world-{self._added}-{self.now.timestamp()}",
            work=work,
            channel=channel,
            recipient=recipient,
            content=content,
            scheduled_for=at,
        )
        return await self.app.intake.admit(replace(cue, **more))

    async def hear(self, text: str, **more: object) -> MessageResult:
        """Say it in the owner's words; `more` are other fields of the `OwnerMessage`."""
        self._added += 1
        source = Source(SourceKind.MANUAL, f"world-{self._added}")
        message = replace(OwnerMessage(text=text, source=source), **more)
        return await self.app.intake.hear(message)

    async def run(self, span: timedelta = timedelta(0)) -> None:
        """Let everything happen that is due within a time span, each at its time."""
        end = self.now + span
        await self.app.talk.settled()
        while True:
            await self.app.repeater.catch_up()
            self.app.engine.nudge()
            await self.app.engine.settled()
            again = await self.app.repeater.catch_up()
            late = await self.app.deferred.catch_up()
            due = (await self.app.db.read(queue.outlook, self.now)).later
            soon = min((at for at in (due, again, late) if at is not None), default=None)
            if soon is None or soon > end:
                break
            self.clock.jump(soon)
        self.clock.jump(max(end, self.now))
        await self.app.leftovers.settle()
        await self.app.talk.settled()

    async def restart(self, after: timedelta = timedelta()) -> None:
        """Stop in good order and start again on the same files, perhaps after a while."""
        await self._stack.aclose()
        self.clock.advance(after)
        await self.__aenter__()

    async def get(self, task_id: TaskId) -> Task:
        return await self.app.db.read(tasks.get, task_id)

    async def waiting(self) -> list[Review]:
        return await self.app.inbox.waiting()

    async def decide(self, review: Review, answer: ReviewAnswer, text: str | None = None) -> Task:
        assert review.id is not None  # noqa: S101 - a review that waits has been stored
        return await self.app.inbox.decide(review.id, Decision(answer, text))

    async def history(self, task_id: TaskId) -> list[Event]:
        return await self.app.journal.of_task(task_id)

    async def _stop(self) -> None:
        await self.app.talk.stop()
        await self.app.repeater.stop()
        stop = asyncio.create_task(self.app.engine.stop())
        while not stop.done():
            self.clock.advance(timedelta(0))
            await asyncio.sleep(0)
        await stop
