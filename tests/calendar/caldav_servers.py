"""Real CalDAV servers on loopback, each its own process: Radicale and Xandikos."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from remit.calendar.client import CalendarLocation
from tests.ports import free_port

HOST: Final = "127.0.0.1"
KINDS: Final = ("radicale", "xandikos")
_LIMIT: Final = 100.0
_CONFIG: Final = """\
[server]
hosts = {host}:{port}
[auth]
type = htpasswd
htpasswd_filename = {folder}/users
htpasswd_encryption = plain
delay = 0
[storage]
filesystem_folder = {folder}/collections
[web]
type = none
"""


class Server:
    """A server that can be stopped, restarted on its files, and killed."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.port = free_port()
        self._folder = folder
        self._running: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "users").write_text("owner:s3cret\n")
        config = _CONFIG.format(host=HOST, port=self.port, folder=folder)
        (folder / "config").write_text(config)

    @property
    def place(self) -> CalendarLocation:
        return self.called(self.kind)

    def called(self, name: str) -> CalendarLocation:
        return CalendarLocation(name, f"http://{HOST}:{self.port}/", "owner", lambda: "s3cret")

    @property
    def home(self) -> str:
        """Where calendars may be made."""
        return "/owner/" if self.kind == "radicale" else "/user/calendars/"

    def start(self) -> None:
        log = (self._folder / "log").open("ab")
        with log:
            self._running = subprocess.Popen(
                self._command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        end = time.monotonic() + _LIMIT
        while not answers(self.port):
            assert self._running.poll() is None, (self._folder / "log").read_text()
            assert time.monotonic() < end, f"{self.kind} does not answer"
            time.sleep(0.05)

    def stop(self) -> None:
        if self._running is not None:
            self._running.send_signal(signal.SIGKILL)
            self._running.wait()
            self._running = None

    def _command(self) -> list[str]:
        if self.kind == "radicale":
            return [sys.executable, "-m", "radicale", "--config", str(self._folder / "config")]
        program = Path(sys.executable).parent / "xandikos"
        where = ["-l", HOST, "-p", str(self.port), "-d", str(self._folder / "files")]
        return [str(program), "serve", "--defaults", "--no-detect-systemd", *where]


def answers(port: int) -> bool:
    with socket.socket() as trial:
        trial.settimeout(1.0)
        return trial.connect_ex((HOST, port)) == 0


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
