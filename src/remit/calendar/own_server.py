"""Remit's own calendar server, Radicale on loopback, and the file of calendars that start work.

Radicale runs as a child process that is watched and killed if necessary: one hostile event can keep
it busy for ever. A shell beside it holds a pipe from us and kills it when the pipe closes. The file
of `remit calendar mark` overrides the settings and is read at every look.
"""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from remit.calendar import client
from remit.calendar.client import CalDavClient, CalendarLocation, Password
from remit.errors import Permanent, StepFailed, StoreTrouble
from remit.system.files import PRIVATE, locked, write_atomic
from remit.system.process import end_group

HOST: Final = "127.0.0.1"
USER: Final = "owner"
AGENDA: Final = f"/{USER}/agenda/"
TASKS: Final = f"/{USER}/agent-tasks/"
_START_TENTHS: Final = 300  # tenths of a second that a start may take on a busy machine
_CONFIG: Final = """\
[server]
hosts = {host}:{port}
max_connections = 20
max_content_length = 10000000
timeout = 30
[auth]
type = htpasswd
htpasswd_filename = {users}
htpasswd_encryption = plain
delay = 1
[rights]
type = owner_only
[storage]
filesystem_folder = {collections}
use_mtime_and_size_for_item_cache = True
[web]
type = none
[logging]
level = warning
"""
# Its stdin is our pipe. What runs in the background of a shell gets none, so it is kept as 3.
_LEASH: Final = """
exec 3<&0
"$@" 3<&- </dev/null &
child=$!
{ read -r _ <&3; kill -9 "$child" 2>/dev/null; } &
wait "$child"
"""


class OwnServer(Struct, frozen=True):
    """Its folder, its port and its password."""

    folder: Path
    port: int
    password: Password

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/"

    @property
    def place(self) -> CalendarLocation:
        return CalendarLocation("own", self.url, USER, self.password)


class RadicaleProcess:
    """A Radicale process; `why` says what went wrong."""

    def __init__(self, own: OwnServer) -> None:
        self._own = own
        self._running: asyncio.subprocess.Process | None = None
        self.why: str | None = None

    @property
    def alive(self) -> bool:
        return self._running is not None and self._running.returncode is None

    async def start(self) -> bool:
        """Start it and wait until it answers; False if it does not, and `why` says so."""
        try:
            await self._begin()
            await self._answers()
            await create_calendars(self._own.place)
        except (OSError, StepFailed) as error:
            self.why = f"The own calendar did not start: {error}".rstrip(".") + "."
            await self.stop()
            return False
        self.why = None
        return True

    async def stop(self) -> None:
        """Stop it; if it ignores the request, kill it."""
        running, self._running = self._running, None
        if running is None:
            return
        if running.stdin is not None:
            running.stdin.close()
        await end_group(running)

    async def _begin(self) -> None:
        refuse_taken(self._own.port)
        config = await asyncio.to_thread(_write_files, self._own)
        log = await asyncio.to_thread((self._own.folder / "log").open, "wb")
        with log:
            self._running = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                _LEASH,
                "sh",
                sys.executable,
                "-m",
                "radicale",
                "--config",
                str(config),
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self._own.folder,
                env={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"},
                start_new_session=True,
            )

    async def _answers(self) -> None:
        for _ in range(_START_TENTHS):
            if not self.alive:
                text = f"its process ended; {self._own.folder / 'log'} says why"
                raise Permanent(text)
            with suppress(OSError):
                _, writer = await asyncio.open_connection(HOST, self._own.port)
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
                return
            await asyncio.sleep(0.1)
        raise Permanent(f"it does not answer on port {self._own.port}")


async def create_calendars(place: CalendarLocation) -> None:
    """Create the agenda and the task list if missing."""
    dav = CalDavClient(place)
    try:
        await dav.make(AGENDA, "Agenda", "VEVENT")
        await dav.make(TASKS, "Agent tasks", "VTODO")
    finally:
        await dav.close()


def refuse_taken(port: int) -> None:
    """Raise if another program listens there: it would receive the password."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((HOST, port))
        except OSError:
            sentence = f"port {port} is taken; choose another as `port` under [calendar]"
            raise Permanent(sentence) from None


def _write_files(own: OwnServer) -> Path:
    """Write Radicale's configuration. Whoever can read it can read the calendar beside it."""
    own.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    users, config = own.folder / "users", own.folder / "config"
    write_atomic(users, f"{USER}:{own.password()}\n", mode=PRIVATE)
    collections = own.folder / "collections"
    text = _CONFIG.format(host=HOST, port=own.port, users=users, collections=collections)
    write_atomic(config, text, mode=PRIVATE)
    return config


FILE: Final = "calendars.json"


def read(home: Path) -> dict[str, dict[str, bool]]:
    """Return for each account the marked (true) and unmarked (false) names."""
    path = home / FILE
    try:
        found: object = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(_holds_marks(each) for each in found.values()):
        raise StoreTrouble(
            f"{path} is damaged: it must be an object of accounts, each with names that are true "
            "or false. Fix it, or remove it and mark your calendars again."
        )
    return found


def put(home: Path, account: str, name: str, *, marked: bool) -> None:
    """Store the owner's choice for one calendar."""
    with locked(home):
        marks = read(home)
        marks.setdefault(account, {})[name] = marked
        text = json.dumps(marks, ensure_ascii=False, indent=1, sort_keys=True)
        write_atomic(home / FILE, text, mode=PRIVATE)


def is_marked(
    found: client.RemoteCalendar, named: Collection[str], values: Mapping[str, bool]
) -> bool:
    """Whether a calendar starts work; it may be named by name or by path."""
    called = (found.name, found.path.rstrip("/").rpartition("/")[2], found.path)
    for each in called:
        if each in values:
            return values[each]
    return any(each in named for each in called)


def _holds_marks(names: object) -> bool:
    return isinstance(names, dict) and all(isinstance(each, bool) for each in names.values())
