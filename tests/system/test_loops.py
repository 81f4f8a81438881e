"""Every loop of a whole app, killed by name: seen, told once, started again, and at work."""

import ast
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from websockets.asyncio.client import connect

from remit.brain.scripted import parse as script
from remit.channels.oauth.tokens import SignInWatch
from remit.cli import up_process
from remit.journal.telemetry import Telemetry
from remit.model.run import Event, EventKind
from remit.server.serve import serve
from remit.settings import load
from remit.store import conversations, events, tasks
from remit.store.database import Tx
from remit.store.secrets import Secrets
from remit.system.background import RECOVERED_AFTER, Background, Work
from remit.testing import FrozenClock
from remit.triggers import cue_admission
from remit.wiring import App, opened, start, watch
from remit.wiring.running import SettingsReload, _examine_reader
from tests.channels.telegram.bot_server import TOKEN as BOT_TOKEN
from tests.channels.telegram.bot_server import BotServer
from tests.engine.rig import until
from tests.ports import free_port
from tests.sections import mail_section

TOKEN = "a-token-for-the-tests"
SOURCES = Path(__file__).parents[2] / "src" / "remit"
SETTINGS = """
owner = "Hanan"
zone = "UTC"
[deliver]
undo = 0
[calendar]
own = true
port = {port}
[calendars.work]
url = "http://127.0.0.1:9/"
{post}
[doors.post]
authserv_id = "mx.example.test"
[folders.papers]
path = "{folder}"
[channels.chat]
kind = "telegram"
token = "telegram_token"
url = "{bot}"
[doors.chat]
"""
# What is done once and, after a failure, never again: `test_whatsapp_buttons.py` kills it.
ONCE = {"wiring/chats.py:_reply"}
# Where loops are started that try again what the store refused; tests of refusals have them fail.
OF_REFUSALS = {
    "converse/__init__.py:_answer",
    "engine/local.py:_release",
    "engine/local.py:_try_on",
}
# Where loops are started that only several processes on one store have.
OF_SEVERAL = {
    "engine/dispatcher.py:start",
    "engine/leg_worker.py:_hear",
    "engine/leg_worker.py:start",
    "wiring/foundation.py:open_foundation",
    "wiring/running.py:_compare_secrets",
    "wiring/running.py:_logs",
    "wiring/worker.py:start",
}


@dataclass(frozen=True, slots=True)
class Running:
    """An app in which everything runs that `remit up` runs, with a clock that is moved by hand."""

    app: App
    clock: FrozenClock
    url: str
    client: httpx2.AsyncClient

    @property
    def names(self) -> set[str]:
        return {state.name for state in self.app.background.states}

    @property
    def failures(self) -> dict[str, int]:
        return {state.name: state.failures for state in self.app.background.failing}

    async def health(self) -> dict[str, object]:
        found: dict[str, object] = (await self.client.get(f"{self.url}/healthz")).json()
        return found

    async def told(self, name: str) -> list[Event]:
        """How often the journal says that a loop failed."""
        found = await self.app.db.read(events.list_after, 0, 10_000)
        return [e for e in found if e.kind is EventKind.LOOP_FAILED and e.data["loop"] == name]

    async def runs_again(self, name: str) -> None:
        async def ran() -> bool:
            self.clock.advance(timedelta(seconds=1))
            return any(task.get_name() == name for task in asyncio.all_tasks())

        await until(ran)


def kill(name: str) -> None:
    """End what a loop does, wherever it is: nobody asked for that."""
    (task,) = (task for task in asyncio.all_tasks() if task.get_name() == name)
    task.cancel()


def note_places(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the functions that start loops, from now on."""
    places, begin = set[str](), Background.start

    def start(self: Background, name: str, work: Work) -> None:
        code = sys._getframe(1).f_code
        places.add(f"{Path(code.co_filename).relative_to(SOURCES)}:{code.co_name}")
        begin(self, name, work)

    monkeypatch.setattr(Background, "start", start)
    return places


def start_what_waits(app: App) -> None:
    """Start what runs only now and then; each waits here until it is killed."""

    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    waits = SimpleNamespace(needs_exam=True, take_exam=never)
    context = SimpleNamespace(background=app.background, clock=app.clock, model_reader=waits)
    _examine_reader(context)  # type: ignore[arg-type]
    sources = [("post", lambda: "token")]
    SignInWatch(sources, app.clock, app.background).start()  # type: ignore[arg-type]


@asynccontextmanager
async def all_loops(home: Path) -> AsyncIterator[Running]:
    (home / "papers").mkdir(parents=True)
    Secrets(home).put("telegram_token", BOT_TOKEN)
    async with BotServer() as bot:
        text = SETTINGS.format(
            port=free_port(),
            post=mail_section(imap_port=9),
            folder=home / "papers",
            bot=bot.root,
        )
        (home / "settings.toml").write_text(text)
        async with _running(home) as found:
            yield found


@asynccontextmanager
async def _running(home: Path) -> AsyncIterator[Running]:
    clock, brain = FrozenClock(), script([{"reply": "<deliverable>Hi</deliverable>"}])
    settings, url = load({"REMIT_HOME": str(home)}), asyncio.get_running_loop().create_future()
    async with opened(settings, clock=clock, brain=brain) as app:
        ready = url.set_result
        door = asyncio.create_task(serve(app, port=0, debug=False, token=TOKEN, ready=ready))
        await start(app)
        await watch(app)
        await url
        SettingsReload(app, settings, lambda _: None).start()
        up_process.follow(app, 0, lambda *_: None, Telemetry(_Nothing(), _Nothing()))  # type: ignore[arg-type]
        headers = {"Authorization": f"Bearer {TOKEN}"}
        line = connect(url.result().replace("http", "ws") + "/ws", additional_headers=headers)
        async with (
            httpx2.AsyncClient(
                trust_env=False, headers=headers, verify=False, timeout=100
            ) as client,
            line as socket,
        ):
            await socket.send(json.dumps({"subscribe": ["*"], "counts": True}))
            yield Running(app, clock, url.result(), client)
        door.cancel()
        await asyncio.gather(door, return_exceptions=True)
        await app.engine.stop()
        app.journal.end()
        await app.background.finish(*up_process.FOLLOWERS, within=5)


async def test_every_loop_that_is_killed_is_seen_told_once_and_started_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = note_places(monkeypatch)
    async with all_loops(tmp_path / "home") as remit:
        start_what_waits(remit.app)
        elsewhere = OF_SEVERAL | OF_REFUSALS | ONCE
        wanted = places_in_code() - elsewhere
        assert places_in_code() > elsewhere
        await until(lambda: places >= wanted)
        loops = remit.names
        for name in sorted(loops):
            assert (await remit.health())["status"] == "ok", name
            for times in (1, 2):
                kill(name)
                await until(lambda: remit.failures == {name: times})  # noqa: B023 - at once
                seen = await remit.health()
                assert seen["status"] == "degraded"
                assert list(seen["failing"]) == [name.partition(":")[0]]  # type: ignore[call-overload]
                await remit.runs_again(name)
            assert f"The background loop {name!r} failed" in caplog.text
            remit.clock.advance(RECOVERED_AFTER)
            assert remit.failures == {}, name
            assert len(await remit.told(name)) == 1, name
        await _work_goes_on(remit, tmp_path / "home", loops)


async def _work_goes_on(remit: Running, home: Path, loops: set[str]) -> None:
    """What the loops are for, after each of them was killed twice."""
    app = remit.app
    cue = cue_admission.cue("Greet me", ref="1", channel="dashboard", recipient=None)
    task = await app.intake.admit(cue)
    (home / "papers" / "letter.txt").write_text("Read this")

    async def is_done() -> bool:
        remit.clock.advance(timedelta(seconds=5))
        log = app.settings.logs / f"{task.id}.jsonl"
        counts = await app.db.read(tasks.counts)
        is_logged = log.exists() and "completed" in log.read_text()
        return is_logged and sum(counts.values()) > 1  # the file is a task, too

    await until(is_done)
    await app.talk.settled()
    said = await app.db.read(_said)
    for name in loops:
        assert said.count(f"“Background work: {name}” failed") == 1


def _said(tx: Tx) -> str:
    """All that the owner was told in conversations."""
    found = [turn for each in conversations.recent(tx) for turn in conversations.turns(tx, each.id)]
    return "\n".join(turn.content for turn in found)


class _Nothing:
    """Takes whatever telemetry is given, and keeps none of it."""

    def __getattr__(self, name: str) -> "_Nothing":
        return self

    def __call__(self, *_: object, **__: object) -> "_Nothing":
        return self


def sources_with(*words: str) -> Iterator[tuple[Path, ast.Module]]:
    """Yield the modules that hold one of these words."""
    for path in SOURCES.rglob("*.py"):
        text = path.read_text()
        if any(word in text for word in words):
            yield path.relative_to(SOURCES), ast.parse(text)


@cache
def places_in_code() -> set[str]:
    """Every function that starts a loop."""
    found = set[str]()
    for path, module in sources_with("background.start(", "loops.start("):
        for function in ast.walk(module):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = {
                    n for f in ast.walk(function) if _is_inner(f, function) for n in ast.walk(f)
                }
                if any(_starts_loop(node) for node in ast.walk(function) if node not in inner):
                    found.add(f"{path}:{function.name}")
    return found


def _is_inner(node: ast.AST, function: ast.AST) -> bool:
    return node is not function and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _starts_loop(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    owner = _name(node.func.value)
    return node.func.attr == "start" and owner in ("background", "_background", "loops")


# No loop without a supervisor ---------------------------------------------------------------------

# What may run for long without one, because it belongs to something that ends and is waited for.
WAITED_FOR = {
    "brain/mcp_tools.py:_read": "the output of a process",
    "converse/__init__.py:_answer": "one turn, which stays owed until it is answered",
    "delivery/notice_sender.py:catch_up": "a test notice",
    "engine/local.py:_before_ranking": "a task that is new until it is ranked",
    "recall/library.py:_try_to_open": "the index, which is opened once",
    "server/live_connection.py:_receive": "a socket",
    "server/live_connection.py:_send_all": "a socket",
    "system/process.py:read_last": "the output of a process",
}


def test_no_loop_runs_without_a_supervisor() -> None:
    found = {
        f"{path}:{name}"
        for path, module in sources_with("create_task", "ensure_future")
        if path != Path("system/background.py")
        for name in _loops_started(module)
    }

    assert found == set(WAITED_FOR)


def _loops_started(module: ast.Module) -> set[str]:
    """The functions with a loop that waits for something, that are started as a task."""
    kinds = (ast.AsyncFunctionDef, ast.FunctionDef)
    known = {node.name: node for node in ast.walk(module) if isinstance(node, kinds)}
    started = set[str]()
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and _name(node.func) in ("create_task", "ensure_future"):
            inside = [each for each in ast.walk(node.args[0]) if isinstance(each, ast.Call)]
            started |= {_name(each.func) for each in inside}
    return {name for name in started if name in known and _is_endless(name, known, set())}


def _is_endless(name: str, known: Mapping[str, ast.AST], seen: set[str]) -> bool:
    """Whether a function, or one of the same module that it calls, goes on for ever."""
    if name in seen or name not in known:
        return False
    for node in ast.walk(known[name]):
        if isinstance(node, ast.AsyncFor | ast.While):
            return True
        if isinstance(node, ast.Call) and _is_endless(_name(node.func), known, seen | {name}):
            return True
    return False


def _name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
