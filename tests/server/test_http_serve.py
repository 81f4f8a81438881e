"""The server as a whole: how it starts, what it says when something breaks, how it stops."""

import asyncio
import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import httpx2
import pytest
from msgspec.structs import replace

from remit.errors import BadInput
from remit.intake.admit import Intake
from remit.model.task import Cue, Task
from remit.server.files import token_of
from remit.server.serve import serve
from remit.settings import Settings
from remit.wiring import App, opened
from tests.ports import free_port
from tests.server.served import TOKEN, Served

SECRET = "the-secret-in-/etc/remit-line-42"


def _broken(admit: Callable[[], Awaitable[Task]]) -> Callable[[App], App]:
    class Told(Intake):
        async def admit(self, cue: Cue) -> Task:
            del cue
            return await admit()

    return lambda app: replace(app, intake=Told(app.db, app.clock, app.ids, ["dashboard"]))


@pytest.mark.parametrize("key", [None, "k"])
def test_what_nobody_foresaw_is_told_to_the_log_and_to_nobody_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, key: str | None
) -> None:
    async def break_down() -> Task:
        raise RuntimeError(SECRET)

    with Served(tmp_path, alter=_broken(break_down)) as served:
        answer = served.ask("POST", "/api/tasks", {"text": "Go"}, key=key)
        after = served.ask("GET", "/api/tasks")

    told = answer.json()
    assert answer.status_code == 500
    assert told["type"] == "urn:remit:problem:internal"
    assert set(told) == {"type", "title", "status", "detail"}
    for hint in (SECRET, "Traceback", "RuntimeError", ".py", str(tmp_path)):
        assert hint not in answer.text
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert after.status_code == 200
    assert SECRET in caplog.text


def test_a_busy_store_is_said_so_and_the_request_can_be_repeated(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        served.write(lambda tx: tx.ask("PRAGMA busy_timeout = 50"))
        with closing(sqlite3.connect(tmp_path / "agent.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            plain = served.ask("POST", "/api/tasks", {"text": "Go"})
            keyed = served.ask("POST", "/api/tasks", {"text": "Go"}, key="k")
            read = served.ask("GET", "/api/tasks")
            other.execute("ROLLBACK")
        again = served.ask("POST", "/api/tasks", {"text": "Go"}, key="k")

    for refused in (plain, keyed):
        assert refused.status_code == 503
        assert int(refused.headers["Retry-After"]) > 0
        assert refused.json()["type"] == "urn:remit:problem:store-unavailable"
        assert str(tmp_path) not in refused.text
        assert "agent.db" not in refused.text
    assert read.json()["tasks"] == []
    assert again.status_code == 201


def test_answers_do_not_wait_for_the_network_to_acknowledge(still: Served) -> None:
    took = []
    with closing(http.client.HTTPConnection("127.0.0.1", still.port, timeout=100)) as line:
        for _ in range(60):
            begin = time.perf_counter()
            line.request("GET", "/healthz")
            line.getresponse().read()
            took.append(time.perf_counter() - begin)

    # On a line that is kept, Nagle's algorithm would hold each for 40 ms, after the first few.
    # A busy machine is slow with many, never with all.
    assert min(took[30:]) < 0.04


def test_a_listening_server_says_where_and_a_stopped_one_says_nothing(tmp_path: Path) -> None:
    note, port = tmp_path / "server.json", free_port()
    with Served(tmp_path, port=port) as served:
        told = json.loads(note.read_text())
        mode = note.stat().st_mode & 0o777
        assert httpx2.get(told["url"] + "/healthz", trust_env=False, verify=False).is_success
        assert told == {"url": served.url, "pid": os.getpid()}

    assert mode == 0o600
    assert not note.exists()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_only_loopback_is_listened_on(still: Served) -> None:
    with socket.socket() as probe:
        probe.settimeout(5)
        # Every address of 127/8 is this machine; a server bound to all would answer here too.
        assert probe.connect_ex(("127.0.0.2", still.port)) != 0


def test_a_request_under_way_is_answered_before_the_server_stops(tmp_path: Path) -> None:
    begun, answers = Event(), list[httpx2.Response]()

    async def slow() -> Task:
        begun.set()
        await asyncio.sleep(0.3)
        raise BadInput("Slowly considered, and refused.")

    with Served(tmp_path, alter=_broken(slow)) as served:
        client = httpx2.Client(trust_env=False, timeout=100, verify=False)
        headers = {"Authorization": f"Bearer {TOKEN}"}

        def post() -> None:
            answers.append(
                client.post(served.url + "/api/tasks", json={"text": "Go"}, headers=headers)
            )

        thread = Thread(target=post)
        thread.start()
        assert begun.wait(100)
    thread.join(100)
    client.close()

    assert [answer.status_code for answer in answers] == [422]
    assert answers[0].json()["detail"].startswith("Slowly")


async def test_a_taken_port_is_named_and_nothing_is_announced(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        async with opened(Settings(home=tmp_path)) as app:
            with pytest.raises(BadInput, match=rf"Port {port} is taken by another program") as busy:
                await serve(app, port=port, debug=False, token=TOKEN)

    assert "settings.toml" in str(busy.value)
    assert not (tmp_path / "server.json").exists()


async def test_a_number_that_is_no_port_is_named(tmp_path: Path) -> None:
    async with opened(Settings(home=tmp_path)) as app:
        with pytest.raises(BadInput, match="Port 70000 is no port"):
            await serve(app, port=70000, debug=False, token=TOKEN)


async def test_the_signals_stay_with_the_caller(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    ready = asyncio.Event()
    async with opened(Settings(home=tmp_path)) as app:
        serving = asyncio.create_task(
            serve(app, port=0, debug=False, token=TOKEN, ready=lambda _: ready.set())
        )
        await ready.wait()
        during = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving

    assert during == before


def test_a_token_is_made_once_and_for_the_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "fresh"
    token = token_of(home)

    assert token_of(home) == token
    assert len(token) == 43  # 256 bits
    assert (home / "token").stat().st_mode & 0o777 == 0o600
    assert token_of(tmp_path / "other") != token
    assert sorted(path.name for path in home.iterdir()) == ["token"]


def test_a_token_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a-token-of-my-own-making\n")
    (tmp_path / "token").chmod(0o644)

    assert token_of(tmp_path) == "a-token-of-my-own-making"
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600


def test_an_empty_token_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("\n")

    with pytest.raises(BadInput, match="is empty"):
        token_of(tmp_path)


def test_the_token_and_the_rest_of_the_app_need_no_web_server() -> None:
    """So that a command that only reads starts fast."""
    script = (
        "import sys, remit.wiring, remit.server.files\n"
        "heavy = {'starlette', 'uvicorn', 'pydantic', 'h11'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
