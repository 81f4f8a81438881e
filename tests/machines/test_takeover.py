"""A worker that lost a duty, and does not know it, writes nothing; the next does the work once."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import replace
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import PollActivityTaskQueueRequest
from temporalio.client import Client

from remit import settings as app_settings
from remit.calendar.client import CalDavClient
from remit.engine.temporal import TemporalLink, leg_id
from remit.model.contract import Criterion, Timing
from remit.model.conversation import (
    Action,
    Conversation,
    Notice,
    NoticeContent,
    NoticeKind,
    Role,
    TaskRef,
)
from remit.model.deferred import DeferredBatch, DeferredCriterion, DeferredGroup, GroupEnd
from remit.model.ids import WorkerId
from remit.model.recurrence import Repeats
from remit.model.status import Actor, Status
from remit.model.task import Cue, Priority, Source, SourceKind, Task
from remit.settings import Settings
from remit.store import conversations, deferred, moves, notices, queue
from remit.store.conversations import NewTurnRecord
from remit.store.database import Tx
from remit.store.moves import Ending
from remit.store.postgres import duties, legs
from remit.store.postgres.legs import DISPATCHED, WorkerState
from remit.store.queue import ClaimedTask
from remit.store.secrets import Secrets
from remit.wiring import App
from remit.wiring.app import build
from remit.wiring.foundation import Foundation, open_foundation
from remit.wiring.running import DUTIES
from remit.wiring.worker import DutyRunner, open_worker
from tests.calendar.caldav_servers import Server
from tests.calendar.caldav_stage import event
from tests.channels.telegram import bot_server
from tests.live.providers import Providers
from tests.machines.temporal import TemporalServer
from tests.soak import one_in
from tests.store.postgres import Postgres
from tests.store.scene import ROOMY, RULE

SETTINGS = """\
zone = "UTC"
[brain]
kind = "scripted"
[engine]
kind = "temporal"
address = "{address}"
task_queue = "takeover"
heartbeat = 60
[store]
url = "{url}"
[calendars.cloud]
url = "http://127.0.0.1:{port}/"
user = "owner"
password = "cloud_password"
calendars = ["Agenda"]
poll = 10
plain = true
"""
CONTACTS = f"""\
- name: Hanan
  role: owner
  channels: {{chat: {bot_server.OWNER}@telegram}}
"""
LIMIT_SECONDS = 100
NUMBERS = itertools.count(1)


class Stage(Struct):
    """What surrounds the machines: an API process, receivers, a calendar."""

    app: App
    providers: Providers
    calendar: Server

    @property
    def now(self) -> datetime:
        return self.app.clock.now()

    async def count(self, query: str) -> int:
        (row,) = await self.app.db.read(
            lambda tx: tx.ask(f"SELECT COUNT(*) AS n FROM {query}")  # noqa: S608 - of this file
        )
        return int(str(row["n"]))

    async def task(self, **more: object) -> Task:
        n = next(NUMBERS)
        made = Cue(source=Source(SourceKind.MANUAL, f"order {n}"), title=f"Order {n}", text="Think")
        return await self.app.intake.admit(replace(made, **more))


# Each makes work for one duty; the query counts what was done.


async def order(stage: Stage) -> None:
    state = WorkerState(WorkerId("wrk-9"), "here:9", ("takeover",), 9, (), stage.now)
    await stage.app.db.write(legs.report_load, state)
    await stage.task()


async def repeat(stage: Stage) -> None:
    first = stage.now - timedelta(seconds=1)
    await stage.task(repeats=Repeats("FREQ=DAILY", "UTC", first), scheduled_for=first)


async def fail_a_task(stage: Stage) -> None:
    """Fail a task that came from a conversation, so that there is news."""
    db, now = stage.app.db, stage.now
    task = await stage.task()
    talk = Conversation(stage.app.ids.conversation(), "Talk", now, now, "dashboard")
    await db.write(conversations.begin, talk)
    about = (TaskRef(task.id, Action.CREATED),)
    said = NewTurnRecord(role=Role.USER, content="Think", channel="dashboard", task_refs=about)
    await db.write(conversations.say, talk.id, said, now)
    await end(stage, task)


async def claimed(stage: Stage, task: Task, worker: WorkerId) -> ClaimedTask:
    db, now = stage.app.db, stage.now
    await db.write(queue.rank, task.id, Priority.MED, RULE, now)
    found: list[ClaimedTask] = []
    while not found:  # the clock of the database may be a little behind ours
        found = await db.write(queue.claim, worker, ROOMY, stage.app.ids.run, now)
    (held,) = found
    return held


async def end(stage: Stage, task: Task) -> None:
    db, now = stage.app.db, stage.now
    held = await claimed(stage, task, WorkerId("wrk-9"))
    failed = Ending(outcome="fail", to=Status.FAILED, by=Actor.EXECUTOR, note="It broke.")
    await db.write(moves.finish, held.task, held.lease, now, failed, now)


async def write_to_the_bot(stage: Stage) -> None:
    stage.providers.bot.write(f"Water plant {next(NUMBERS)}")


async def put_into_the_calendar(stage: Stage) -> None:
    client = CalDavClient(stage.calendar.place)
    n, start = next(NUMBERS), stage.now + timedelta(hours=1)
    text = event(f"uid-{n}", start, f"Water plant {n}")
    await client.put(f"{agenda(stage.calendar)}{n}.ics", text, None)
    await client.close()


async def decide_on_a_notice(stage: Stage) -> None:
    n, now = next(NUMBERS), stage.now
    telling = NoticeContent(
        news=NoticeKind.TEST, about=f"test:{n}", title=f"News {n}", line="", href="/"
    )
    made = Notice(id=f"ntc-{n}", telling=telling, way="phone", made=now, due=now)
    await stage.app.db.write(notices.put, made)


async def put_off_a_check(stage: Stage) -> None:
    task, group = await stage.task(), DeferredGroup(GroupEnd.DAY, "2026-01-01")
    batch = DeferredBatch("gone", f"branch {task.id}", group)
    late = Criterion("test", "all tests", timing=Timing.DEFERRED)
    waits = [DeferredCriterion(task.id, 0, late, batch, stage.now)]
    await stage.app.db.write(deferred.put_off, waits)
    await end(stage, task)


async def think_of_something(stage: Stage) -> None:
    await stage.task()


class Work(Struct, frozen=True):
    make: Callable[[Stage], Awaitable[None]]
    done: str  # what is counted


WORK = {
    "dispatch": Work(order, "tasks WHERE worker IS NOT NULL"),
    "series": Work(repeat, "tasks WHERE series_id <> 'ser-' || substr(id, 6)"),
    "conversations": Work(fail_a_task, "turns WHERE role = 'assistant'"),
    "inbound": Work(write_to_the_bot, "turns WHERE role = 'user'"),
    "calendars": Work(put_into_the_calendar, "tasks WHERE source_kind = 'caldav'"),
    "notices": Work(decide_on_a_notice, "notices WHERE state = 'sent'"),
    "recall": Work(think_of_something, "snippets"),
    "deferred checks": Work(put_off_a_check, "deferred WHERE settled_at IS NOT NULL"),
}
# These write files of their own machine, each line once; what they read of them is in the journal.
ON_FILES = {"logs", "reflection"}


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The writes of those who had lost their duty."""
    found: list[str] = []

    def hold(tx: Tx, name: str, number: int) -> None:
        try:
            real(tx, name, number)
        except duties.DutyLost:
            found.append(name)
            raise

    real = duties.hold
    monkeypatch.setattr(duties, "hold", hold)
    monkeypatch.setenv("CHAT_TOKEN", bot_server.TOKEN)
    return found


@pytest.fixture(scope="module")
def calendar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server("radicale", tmp_path_factory.mktemp("calendar"))
    server.start()
    asyncio.run(make_agenda(server))
    yield server
    server.stop()


@pytest.fixture
def homes(
    tmp_path: Path,
    postgres_server: Postgres,
    temporal: TemporalServer,
    providers: Providers,
    calendar: Server,
) -> list[Settings]:
    """The settings of three machines of one Remit: one that answers, and two workers."""
    url = postgres_server.create(f"takeover{next(NUMBERS)}")
    text = SETTINGS.format(address=temporal.address, url=url, port=calendar.port)
    return [made_home(tmp_path / name, text + providers.settings()) for name in ("a", "b", "c")]


def agenda(server: Server) -> str:
    return f"{server.home}agenda/"


async def make_agenda(server: Server) -> None:
    client = CalDavClient(server.place)
    await client.make(agenda(server), "Agenda", "VEVENT")
    await client.close()


def made_home(folder: Path, text: str) -> Settings:
    folder.mkdir(mode=0o700)
    (folder / "settings.toml").write_text(text)
    (folder / "contacts.yaml").write_text(CONTACTS)
    (folder / "brain.yml").write_text("- reply: <deliverable>Done.</deliverable>\n")
    Secrets(folder).put("cloud_password", "s3cret")
    return app_settings.load({**os.environ, "REMIT_HOME": str(folder)})


@asynccontextmanager
async def duty(base: Foundation, name: str, number: int) -> AsyncIterator[None]:
    """Run a duty on a machine, as its worker does."""
    link = TemporalLink(base.settings.engine)
    runner = DutyRunner(base, link, WorkerId(f"wrk-{number}"))
    running = asyncio.create_task(runner.run(name))
    try:
        while not running.done() and runner.current != {name: number}:  # noqa: ASYNC110 - as below
            await asyncio.sleep(0.05)
        await asyncio.sleep(1)  # its loops have begun
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await link.close()


async def _is(value: bool) -> bool:
    return value


async def until(holds: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        while not await holds():  # noqa: ASYNC110 - a database tells nobody
            await asyncio.sleep(0.05)


def test_every_duty_is_tried() -> None:
    assert {*WORK, *ON_FILES} == set(DUTIES)


@pytest.mark.timeout(500)
@one_in(3)
@pytest.mark.parametrize("name", WORK)
async def test_who_lost_a_duty_writes_nothing_and_the_next_does_the_work_once(
    name: str, homes: list[Settings], providers: Providers, calendar: Server, refused: list[str]
) -> None:
    work = WORK[name]
    async with (
        open_foundation(homes[0]) as door,
        open_foundation(homes[1]) as one,
        open_foundation(homes[2]) as two,
    ):
        stage = Stage(build(door), providers, calendar)

        async def is_done(times: int) -> bool:
            return await stage.count(work.done) == times

        async def was_refused() -> bool:
            return bool(refused)

        async with duty(one, name, 1):
            await door.db.write(duties.take_over, name, WorkerId("wrk-8"), stage.now)
            await work.make(stage)
            await until(was_refused)
            assert await is_done(0)
            async with duty(two, name, 3):
                await until(lambda: is_done(1))
                await work.make(stage)
                await until(lambda: is_done(2))
                await asyncio.sleep(2)
                assert await is_done(2)


@pytest.mark.timeout(200)
@pytest.mark.parametrize("lives", [False, True], ids=["it stops", "it serves anew"])
async def test_a_worker_gives_back_what_was_just_handed_to_it(
    homes: list[Settings],
    providers: Providers,
    calendar: Server,
    monkeypatch: pytest.MonkeyPatch,
    *,
    lives: bool,
) -> None:
    """Temporal's library drops a leg that arrives as it takes on nothing more."""
    monkeypatch.setenv("CHAT_TOKEN", bot_server.TOKEN)
    async with open_foundation(homes[0]) as door, open_worker(homes[1]) as stopping:
        stage = Stage(build(door), providers, calendar)
        await stopping.start([])
        held = await claimed(stage, await stage.task(), DISPATCHED)
        await stopping._link.start_leg(held.task.id, held.lease.number, "takeover", 1)
        client = await Client.connect(homes[1].engine.address)
        dropped = await client.workflow_service.poll_activity_task_queue(
            PollActivityTaskQueueRequest(
                namespace="default",
                task_queue=TaskQueue(name="takeover"),
                identity=stopping.app.engine.worker,
            )
        )
        assert dropped.workflow_execution.workflow_id == leg_id(held.task.id, 1)

        if lives:
            await stopping._link.stop_serving()
            serving = asyncio.create_task(stopping._serve([], 1))
            while not stopping._link._workers:  # noqa: ASYNC110 - a thread has them
                await asyncio.sleep(0.05)
        else:
            await stopping.stop()
        assert await stage.count("runs WHERE note = 'no worker began it'") == 1
        assert await stage.count("tasks WHERE worker IS NULL AND crashes = 0") == 1
        if lives:
            await stopping.stop()
            await serving
