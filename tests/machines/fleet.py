"""One Remit on several processes: workers and API processes on one Postgres and one Temporal.

    fleet = Fleet(tmp_path, server, temporal, providers.settings())
    fleet.start("serve"); fleet.start("worker")
    fleet.kill("worker")

Processes are real and are killed by their pid. Each has a directory of its own, as on a machine of
its own: only the settings, the token and the script of the brain are copied there.
"""

import itertools
import json
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from remit.model.codec import Json
from remit.server.files import token_of
from tests import forks
from tests.cli.terminal import LIMIT, Terminal, Up
from tests.live.http_client import Client
from tests.machines.network import Network, Wire
from tests.machines.temporal import TemporalServer
from tests.store.postgres import Postgres

HEARTBEAT: Final = 10
SCRIPT: Final = """\
- when: The red one
  reply: <deliverable>It is renewed.</deliverable>
- when: passport
  ask: Which passport do you hold?
- when: price list
  reply: "<deliverable>\nHere it is.\n\n[file: prices.csv]\n</deliverable>"
- when: hopeless
  fail: permanent
- when: slow
  seconds: 600
  reply: <deliverable>At last.</deliverable>
- seconds: 0.3
  reply: I thought. <deliverable>Done as asked.</deliverable>
"""
SETTINGS: Final = """\
zone = "UTC"
[brain]
kind = "scripted"
[engine]
kind = "temporal"
address = "{address}"
task_queue = "{queue}"
heartbeat = {heartbeat}
stop_limit = 2
parallel = 8
[store]
url = "{url}"
[deliver]
undo = 0
daily_cap = 0
[recall]
store = "off"
[reflect]
nightly = false
[contracts]
written = false
"""


class Member(NamedTuple):
    """One process, its directory, what it said first, and its wires to Postgres and Temporal."""

    process: forks.Started
    home: Path
    told: dict[str, Json]
    wires: tuple[Wire, Wire]


class Fleet:
    def __init__(
        self,
        folder: Path,
        server: Postgres,
        temporal: TemporalServer,
        channels: str = "",
        receivers: Sequence[int] = (),
        script: str = SCRIPT,
    ) -> None:
        """`receivers` are ports in `channels`: each gets a wire that can be cut."""
        self.seat = Terminal(folder, script=script)
        self.seat.store = server.create(folder.name)
        self.network = Network()
        self.log = folder / "processes.log"
        self._server, self._temporal, self._name = server, temporal, folder.name
        text = SETTINGS.format(
            address=temporal.address,
            url=self.seat.store,
            queue=folder.name,
            heartbeat=HEARTBEAT,
        )
        self.receivers = [self.network.wire(port) for port in receivers]
        for port, wire in zip(receivers, self.receivers, strict=True):
            channels = channels.replace(str(port), str(wire.port))
        (self.seat.home / "settings.toml").write_text(text + channels)
        token_of(self.seat.home)
        self.running: dict[str, list[Member]] = {"worker": [], "serve": []}

    def start(self, *kinds: str, **environ: str) -> None:
        """Start processes at once: `worker` or `serve`."""
        made: list[tuple[str, forks.Started, Path, tuple[Wire, Wire]]] = []
        for kind in kinds:
            home = self._free_home([each[2] for each in made])
            words = ("serve", "--port", "0") if kind == "serve" else (kind,)
            socket = str(self._server.folder / ".s.PGSQL.5432")
            wires = self.network.wire(socket), self.network.wire(self._temporal.port)
            url = f"postgresql://postgres@{wires[0].address}/{self._name}"
            here = {"REMIT_STORE_URL": url, "REMIT_ENGINE_ADDRESS": wires[1].address}
            here["REMIT_HOME"] = str(home)
            # A file: nobody reads a pipe, and who writes into a full one stands still.
            with self.log.open("ab") as log:
                process = self.seat.start_logging(log.fileno(), *words, "--json", **here, **environ)
            made.append((kind, process, home, wires))
        for kind, process, home, wires in made:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, self.log.read_text()[-4000:]
            self.running[kind].append(Member(process, home, json.loads(line), wires))

    def _free_home(self, taken: Sequence[Path]) -> Path:
        """Return the directory of a machine on which nothing runs."""
        used = {each.home for some in self.running.values() for each in some} | set(taken)
        named = (self.seat.home.parent / f"machine{n}" for n in itertools.count(1))
        home = next(each for each in named if each not in used)
        if not home.exists():
            home.mkdir(mode=0o700)
            for name in ("settings.toml", "brain.yml", "token"):
                shutil.copy(self.seat.home / name, home / name)
        return home

    def client(self, place: int = -1) -> Client:
        member = self.running["serve"][place]
        return Client(self.seat, Up(member.process, member.told))

    def kill(self, kind: str, place: int = 0) -> None:
        process = self.running[kind].pop(place).process
        process.kill()
        process.communicate(timeout=LIMIT)

    def stop(self, kind: str, place: int = 0) -> int:
        """End one in good order; return its exit code."""
        process = self.running[kind].pop(place).process
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=LIMIT)
        assert process.returncode is not None
        return process.returncode

    def close(self) -> None:
        for kind, running in self.running.items():
            while running:
                self.kill(kind)
        self.network.close()

    @contextmanager
    def closing(self) -> Iterator["Fleet"]:
        try:
            yield self
        finally:
            self.close()
