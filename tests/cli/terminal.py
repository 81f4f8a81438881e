"""A terminal: the real program, run as a process, in a home of its own.

seat = Terminal(tmp_path)
said = seat.run("add", "Greet me", "--text", "Hello!")
with seat.up():
    seat.run("ls")
"""

import asyncio
import json
import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.settings import Settings
from remit.store import reviews, tasks
from remit.store.read_only import open_read_only
from remit.testing import Outbox
from remit.triggers import cue_admission
from remit.wiring import opened
from tests import forks

PROGRAM: Final = ("-m", "remit.cli.main")
LIMIT: Final = 100.0  # seconds, against a hang: a busy machine is slow, not wrong
# Said of a request that takes seconds, so on a busy machine of any.
BUSY: Final = "Remit is still at work on this request; Ctrl-C stops waiting.\n"
SETTINGS: Final = """\
[brain]
kind = "scripted"
[engine]
stop_limit = 1
"""
SCRIPT: Final = """\
- when: passport
  ask: Which passport do you hold?
  times: 1
- when: use the tags
  reply: <deliverable>Done as asked.</deliverable>
- when: untagged
  reply: I forgot the tags.
- when: hopeless
  fail: permanent
- when: slow
  seconds: 600
  reply: <deliverable>At last.</deliverable>
- when: two parks
  reply: |
    I looked around.
    <deliverable>Lumphini Park and Benjakitti Park.</deliverable>
- reply: I thought about it. <deliverable>Done as asked.</deliverable>
"""


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> JsonMap:
        """The one object on stdout."""
        return cast("JsonMap", json.loads(self.out))

    def maps(self, name: str) -> list[JsonMap]:
        """The objects in a list of the answer."""
        found = self.json[name]
        assert isinstance(found, list), self
        return [each for each in found if isinstance(each, dict)]

    @property
    def lines(self) -> list[JsonMap]:
        return [json.loads(line) for line in self.out.splitlines()]


def wait_until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)


class Terminal:
    """Types commands; by default with a scripted brain."""

    def __init__(self, folder: Path, *, script: str | None = SCRIPT, fresh: bool = False) -> None:
        self.home = folder / "home"
        self.store: Path | str = self.home / "agent.db"
        self._fresh = fresh  # a fresh interpreter for each command, as for a user
        self.home.mkdir(mode=0o700, exist_ok=True)
        if script is not None:
            (self.home / "settings.toml").write_text(SETTINGS)
            (self.home / "brain.yml").write_text(script)

    def run(self, *words: str, stdin: str = "", **environ: str) -> Said:
        env = self._environ(environ)
        code, out, err = forks.run(
            *PROGRAM, *words, env=env, stdin=stdin, timeout=LIMIT, fresh=self._fresh
        )
        return Said(code, out, err.replace(BUSY, ""))

    def add(self, *words: str) -> str:
        """Create a task; return its id."""
        return task_of(self.run("add", *words, "--as-is", "--json"))["id"]

    def status(self, task_id: str) -> str:
        with open_read_only(self.store) as tx:
            return tasks.get(tx, TaskId(task_id)).status.value

    def only(self) -> str:
        """Return the only task."""
        with open_read_only(self.store) as tx:
            (found,) = tasks.ids_like(tx, "task-")
        return found

    def review(self, task_id: str) -> str:
        """The last question of a task."""
        with open_read_only(self.store) as tx:
            return str(reviews.of_task(tx, TaskId(task_id))[-1].id)

    def until(self, task_id: str, status: str) -> None:
        """Wait until a task has a status; fail after the limit."""
        end = time.monotonic() + LIMIT
        while (now := self.status(task_id)) != status:
            assert time.monotonic() < end, f"{task_id} is {now}, not {status}"
            time.sleep(0.05)

    def start(self, *words: str, **environ: str) -> forks.Started:
        return self.start_logging(subprocess.PIPE, *words, **environ)

    def start_logging(self, stderr: int, *words: str, **environ: str) -> forks.Started:
        env, out = self._environ(environ), subprocess.PIPE
        return forks.start(*PROGRAM, *words, env=env, stdout=out, stderr=stderr, fresh=self._fresh)

    def start_writing(self, stdout: int, *words: str) -> forks.Started:
        env, err = self._environ({}), subprocess.PIPE
        return forks.start(*PROGRAM, *words, env=env, stdout=stdout, stderr=err, fresh=self._fresh)

    @contextmanager
    def up(self, *words: str, **environ: str) -> Iterator["Up"]:
        """Run a Remit here until the block ends."""
        process = self.start("up", "--port", "0", "--json", *words, **environ)
        try:
            assert process.stdout is not None
            yield Up(process, json.loads(process.stdout.readline() or "{}"))
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.communicate(timeout=LIMIT)

    def type(self, words: Sequence[str], keys: Sequence[str] = (), **environ: str) -> Said:
        """Run on a terminal of 80 columns; press the next keys whenever it asks."""
        screen, ours = pty.openpty()
        process = forks.start(
            *PROGRAM,
            *words,
            env=self._environ(environ),
            stdin=ours,
            stdout=ours,
            stderr=ours,
            session=True,
            fresh=self._fresh,
        )
        os.close(ours)
        shown, left, end = b"", list(keys), time.monotonic() + LIMIT
        while time.monotonic() < end:
            ready, _, _ = select.select([screen], [], [], 0.1)
            try:
                shown += os.read(screen, 65536) if ready else b""
            except OSError:  # the other side is closed
                break
            if left and shown.rstrip(b" ").endswith((b">", b"?", b":", b"[y/N]")):
                os.write(screen, f"{left.pop(0)}\n".encode())
                shown += b"\n"
        os.close(screen)
        return Said(process.wait(LIMIT), shown.decode(), "")

    def given(
        self, *texts: str, channel: str = "dashboard", content: str | None = None
    ) -> list[str]:
        """Make tasks without a process; no Remit may run here."""
        return asyncio.run(self._given(texts, channel, content))

    async def _given(self, texts: Sequence[str], channel: str, content: str | None) -> list[str]:
        # The program may not have the channel, as if it had been removed.
        async with opened(Settings(home=self.home), channels={"outbox": Outbox()}) as app:
            cues = [
                cue_admission.cue(text, ref=f"given-{text}", channel=channel, content=content)
                for text in texts
            ]
            return [task.id for task in await asyncio.gather(*map(app.intake.admit, cues))]

    def _environ(self, more: dict[str, str]) -> dict[str, str]:
        kept = (*forks.PLAIN, "COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG")
        plain = {name: os.environ[name] for name in kept if name in os.environ}
        quiet = {"REMIT_CALENDAR_OWN": "false"}  # its port is one, and many run here at once
        return plain | quiet | {"REMIT_HOME": str(self.home), "TERM": "xterm", "TZ": "UTC"} | more


@dataclass(frozen=True)
class Up:
    process: forks.Started
    told: JsonMap  # its first output

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(LIMIT)


def task_of(said: Said) -> dict[str, str]:
    """Return the one task in an answer, only its texts."""
    found = said.json.get("tasks") or [said.json.get("task")]
    assert isinstance(found, list), said
    (task,) = found
    assert task, said
    return cast("dict[str, str]", task)


@contextmanager
def never_read(path: Path) -> Iterator[None]:
    """Have whoever reads a file wait for ever, as for a lost network disk."""
    path.unlink()
    os.mkfifo(path, 0o600)
    end = time.monotonic() + LIMIT
    while True:
        try:
            silent = os.open(path, os.O_WRONLY | os.O_NONBLOCK)  # refused until somebody reads
            break
        except OSError:
            assert time.monotonic() < end, "nobody reads it"
            time.sleep(0.1)
    try:
        yield
    finally:
        os.close(silent)
