"""A real `remit up`: starved it works on and says what fails; changed settings are taken up."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import pytest

from remit.model.codec import JsonMap
from remit.wiring import App
from tests.calendar.caldav_servers import Server
from tests.cli.terminal import LIMIT, Terminal
from tests.cli.test_cli_hooks import called
from tests.server.served import TOKEN, Served

SOURCES = Path(__file__).parents[2] / "src" / "remit"
BROKEN = "folder:invoices"
DESCRIPTORS = 256
SILENT = 400  # connections
PAGES = """
/ /inbox /tasks /schedule /conversations /new /settings /tasks/{id} /settings/about
/settings/priority /settings/notices /settings/channels /settings/projects /settings/brain
/healthz /openapi.json /api/stats /api/inbox /api/background /static/app.css
"""


@dataclass(frozen=True)
class Asked:
    """Asks a running Remit as a program does that tries again a few times."""

    home: Path
    url: str

    def ask(self, path: str, body: "JsonMap | None" = None, method: str = "") -> tuple[int, str]:
        token = (self.home / "token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        place = urlsplit(self.url)
        for attempt in range(5):
            line = http.client.HTTPConnection(str(place.hostname), place.port, timeout=LIMIT)
            try:
                way = method or ("POST" if body else "GET")
                line.request(way, path, json.dumps(body or {}), headers)
                answer = line.getresponse()
                return answer.status, answer.read().decode()
            except (OSError, http.client.HTTPException):
                assert attempt < 4, path
            finally:
                line.close()
        raise AssertionError(path)

    def add(self, text: str) -> str:
        status, said = self.ask("/api/tasks", {"text": text})
        assert status == 201, said
        return str(json.loads(said)["id"])

    def is_done(self, task: str) -> bool:
        return bool(json.loads(self.ask(f"/api/tasks/{task}")[1])["status"] == "completed")

    def is_well(self) -> bool:
        return bool(json.loads(self.ask("/healthz")[1])["status"] == "ok")


@contextmanager
def up(seat: Terminal, *before: str, **environ: str) -> Iterator[tuple[Asked, list[str]]]:
    """A Remit in an interpreter of its own, started by some words; what it logs is kept."""
    words = (*before, sys.executable, "-m", "remit.cli.main", "up", "--port", "0", "--json")
    log = seat.home.parent / "log"
    with log.open("w") as err:
        process = subprocess.Popen(
            words,
            env=seat._environ(environ),
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
        )
    logged: list[str] = []
    try:
        assert process.stdout is not None
        yield Asked(seat.home, json.loads(process.stdout.readline())["url"]), logged
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)
        logged += log.read_text().splitlines()
    assert process.returncode == 0


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.1)


LIMITED = ("/bin/sh", "-c", f'ulimit -n {DESCRIPTORS} && exec "$@"', "sh")


BODY = "POST /sign-in HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000\r\n\r\n"
SOCKET = (
    "GET /ws HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
)


@pytest.mark.parametrize("head", [BODY, SOCKET], ids=["strangers' bodies", "sockets of one token"])
def test_more_open_requests_than_descriptors_shut_nobody_out(tmp_path: Path, head: str) -> None:
    seat = Terminal(tmp_path)
    with up(seat, *LIMITED) as (remit, _), ExitStack() as stack:
        place, token = urlsplit(remit.url), (seat.home / "token").read_text().strip()
        for _ in range(SILENT):
            line = socket.create_connection((str(place.hostname), place.port or 0))
            said = head.format(host=place.netloc, token=token)
            _tell(stack.enter_context(line), said.encode())
        task = remit.add("Find two parks")
        until(lambda: remit.is_done(task))


def test_many_who_come_at_once_wait_in_a_line(tmp_path: Path) -> None:
    """Whoever finds no place in it tries again after 1, 3, 7, 15 and 31 seconds."""
    with up(Terminal(tmp_path)) as (remit, _), ExitStack() as stack:
        place = urlsplit(remit.url)
        pid = json.loads((remit.home / "server.json").read_text())["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            for _ in range(SILENT):
                address = (str(place.hostname), place.port or 0)
                stack.enter_context(socket.create_connection(address, timeout=20))
        finally:
            os.kill(pid, signal.SIGCONT)
        assert remit.is_well()


def test_more_silent_connections_than_descriptors_stop_no_work(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    with up(seat, *LIMITED) as (remit, logged), ExitStack() as stack:
        place = urlsplit(remit.url)
        lines = [
            stack.enter_context(socket.create_connection((str(place.hostname), place.port or 0)))
            for _ in range(SILENT)
        ]
        for line in lines[::2]:
            line.settimeout(LIMIT)
            _tell(line, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        for _ in range(3):
            task = remit.add("Find two parks")
            until(lambda: remit.is_done(task))  # noqa: B023 - at once
        assert remit.is_well()
        for line in lines:
            line.settimeout(LIMIT)
            assert _ends(line), "one that does not finish the head of a request is cut off"
        again = remit.add("Find two parks")
        until(lambda: remit.is_done(again))
    assert len(logged) < 50, logged[:50]


def _tell(line: socket.socket, said: bytes) -> None:
    with suppress(OSError):  # it was cut off already
        line.sendall(said)


def _ends(line: socket.socket) -> bool:
    try:
        return line.recv(1) == b""
    except ConnectionError:
        return True


def test_a_package_folder_that_is_absent_for_a_while_stops_no_work(tmp_path: Path) -> None:
    seat, package = Terminal(tmp_path), tmp_path / "lib" / "remit"
    shutil.copytree(SOURCES, package)
    with up(seat, PYTHONPATH=str(package.parent)) as (remit, logged):
        package.rename(tmp_path / "away")
        task = remit.add("Find two parks")
        asks = remit.add("My passport")
        until(lambda: remit.is_done(task))
        for page in PAGES.split():
            status, said = remit.ask(page.format(id=task))
            assert status in (200, 303), (page, said)
        until(lambda: "needs_review" in remit.ask(f"/api/tasks/{asks}?view=s3")[1])
        for path, ways in json.loads(remit.ask("/openapi.json")[1])["paths"].items():
            for way in ways:
                status, said = remit.ask(re.sub(r"\{\w+\}", task, path), {}, way.upper())
                assert status < 500, (way, path, said)
        assert remit.is_well(), remit.ask("/api/background")
        (tmp_path / "away").rename(package)
        again = remit.add("Find two parks")
        until(lambda: remit.is_done(again))
        assert remit.is_well()
    assert not [line for line in logged if "Traceback" in line], logged


def test_a_loop_that_keeps_failing_is_shown_wherever_one_looks(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    (seat.home / "token").write_text(TOKEN)
    with Served(seat.home) as served:
        served.do(_break(served.app))
        until(lambda: served.get("/healthz")["status"] == "degraded")
        health, loops = served.get("/healthz"), served.get("/api/background")
        inbox, about = (served.look(path).text for path in ("/inbox", "/settings/about"))
        doctor = seat.run("doctor")
        served.do(served.app.background.stop(BROKEN))
        assert served.get("/healthz")["status"] == "ok"
        well = seat.run("doctor")

    assert health["failing"] == {"folder": 1}, "no name that the owner chose, and no error"
    assert "papers/invoices" in json.dumps(loops)
    assert doctor.code == 1
    assert f"{BROKEN} failed 1 times in a row: OSError: papers/invoices" in doctor.out
    assert "background" in well.out
    assert BROKEN not in well.out
    assert f"A part of Remit keeps failing: {BROKEN}." in inbox
    assert "papers/invoices cannot be read" in about


async def _break(app: App) -> None:
    async def fail() -> None:
        raise OSError("papers/invoices cannot be read")

    app.background.start(BROKEN, fail)


# Settings that change -----------------------------------------------------------------------------


def test_hooks_count_while_remit_runs_and_a_bad_file_changes_nothing(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    file = seat.home / "settings.toml"
    with seat.up() as up:
        url = str(up.told["url"])
        assert called(url, "any")[0] == 404
        secret = seat.run("hooks", "add", "shop", "--text", "Say what was ordered.").out.strip()
        until(lambda: called(url, secret)[0] == 202)
        assert called(url, "whsec_wrong")[0] == 401
        good = file.read_text()

        file.write_text(good + "\n[hooks.other\n")
        assert up.process.stderr is not None
        said = ""
        while "settings.toml" not in said:
            said = up.process.stderr.readline()
            assert said, "it ended without a word"
        assert said.startswith("The settings from before stay in use.")
        assert "is not valid TOML" in said
        assert called(url, secret, b'{"n": 2}')[0] == 202

        file.unlink()  # as an editor does that writes a new one
        file.write_text(good.replace("[hooks.shop]", "[hooks.shop]\nhourly = 2"))
        new = count(3)  # the same call again would be known again
        until(lambda: called(url, secret, b'{"n": %d}' % next(new))[0] == 429)
        assert seat.run("hooks", "remove", "shop").code == 0
        until(lambda: called(url, secret)[0] == 404)


def test_settings_that_cannot_be_used_leave_the_old_ones_in_use(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    file = seat.home / "settings.toml"
    lost = str(tmp_path / "lost.pem")
    with seat.up() as up:
        url = str(up.told["url"])
        file.write_text(
            f'{file.read_text()}\n[server]\npublic_url = "https://remit.example.org"\n'
            f'tls_cert = "{lost}"\ntls_key = "{lost}"\n'
        )
        assert up.process.stderr is not None
        said = ""
        while not said.startswith("The settings from before stay in use."):
            said = up.process.stderr.readline()
            assert said, "it ended without a word"
        until(lambda: _answers(url))
        assert up.process.poll() is None


def _answers(url: str) -> bool:
    try:
        return called(url, "any")[0] == 404
    except OSError:
        return False  # it is being built anew


def test_an_account_that_is_added_is_watched_and_one_that_is_taken_out_is_not(
    tmp_path: Path,
) -> None:
    seat, server = Terminal(tmp_path), Server("xandikos", tmp_path / "server")
    file = seat.home / "settings.toml"
    before = file.read_text()
    server.start()
    try:
        with seat.up():
            added = seat.run("calendar", "add", "work", f"http://127.0.0.1:{server.port}/")
            assert added.code == 0, added.err
            assert "restart" not in added.err
            name = added.out.splitlines()[0]
            until(lambda: _calendars(seat) != {})
            assert seat.run("calendar", "mark", name).code == 0
            seat.run("calendar", "sync")
            assert _calendars(seat)[name]["marked"] is True

            file.write_text(before)
            until(lambda: str(_calendars(seat)[name]["why"] or "") != "")
    finally:
        server.stop()


def _calendars(seat: Terminal) -> dict[str, JsonMap]:
    found = cast("list[JsonMap]", seat.run("calendar", "ls", "--json").json["calendars"])
    return {str(each["name"]): each for each in found}


def test_recall_is_switched_on_and_off_while_remit_runs(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    assert seat.run("recall", "off").code == 0
    with seat.up():
        assert _recall(seat)["on"] is False
        assert seat.run("recall", "on").code == 0
        until(lambda: _recall(seat)["on"] is True)
        assert seat.run("recall", "off", "--json").json["on"] is False
        assert seat.run("recall", "on").code == 0  # before the file was looked at
        until(lambda: _recall(seat)["on"] is True)


def _recall(seat: Terminal) -> JsonMap:
    return seat.run("recall", "status", "--json").json
