"""Processes of our own program at the price of a fork: real ones, with pid, exit code and signals.

process = forks.start("-m", "remit.cli.main", "ls", env={"REMIT_HOME": str(home)})
out, err = process.communicate(timeout=30)

Each is the child of a parent that has imported Remit and done nothing else (`forks_parent`), so it
is spared what a fresh interpreter spends before its first line. What it is given (words,
environment, directory, streams) and how it ends (code, signal) are the same.
"""

import atexit
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Final, Self, TypeAlias, Union

from tests import faked_clocks

ROOT: Final = Path(__file__).parents[1]
HEAD: Final = struct.Struct("!I")  # how long the order is that follows
END: Final = struct.Struct("!i")  # the pid, and later the exit code

PLAIN: Final = (
    "PATH",
    "HOME",
    "LANG",
    "OPENBLAS_NUM_THREADS",
    *faked_clocks.variables(),
)  # what every process is told of this machine

# What an interpreter reads before its first line. The parent has read it for all its children.
_READ_AT_START: Final = ("PYTHON", "LC_", "LANG", "COVERAGE_PROCESS")


class Process:
    """A forked process with the interface of `subprocess`."""

    def __init__(self, args: tuple[str, ...], line: socket.socket, pipes: "_Pipes") -> None:
        self.args = args
        self.returncode: int | None = None
        self.stdin, self.stdout, self.stderr = pipes.stdin, pipes.stdout, pipes.stderr
        self._line = line
        self.pid = _told(line)

    def poll(self) -> int | None:
        """Return the exit code, or None while it lives; that of a signal is negative."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def communicate(
        self, words: str | None = None, timeout: float | None = None
    ) -> tuple[str, str]:
        """Write all, read all, and wait for its end."""
        end = None if timeout is None else time.monotonic() + timeout
        said: dict[str, str] = {}
        threads = [
            threading.Thread(target=_speak, args=(self.stdin, words), daemon=True),
            threading.Thread(target=_hear, args=(self.stdout, said, "out"), daemon=True),
            threading.Thread(target=_hear, args=(self.stderr, said, "err"), daemon=True),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(None if end is None else max(0, end - time.monotonic()))
            if thread.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.wait(None if end is None else max(0, end - time.monotonic()))
        return said["out"], said["err"]

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it was just about to end
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._line], [], [], timeout)[0]:
            self.returncode = _told(self._line)
            self._line.close()
        return self.returncode


Started: TypeAlias = Union[Process, "subprocess.Popen[str]"]


def start(  # noqa: PLR0913 - all that a process is given
    *words: str,
    env: Mapping[str, str],
    stdin: int = subprocess.DEVNULL,
    stdout: int | None = None,
    stderr: int | None = None,
    session: bool = False,
    fresh: bool = False,
    cwd: str | None = None,
) -> Started:
    """Start `python *words` here, or in `cwd`; the words begin with a path or with -m.

    A fresh one has its own interpreter, and so has one whose environment affects the interpreter.
    """
    if fresh or _at_start(env) != _at_start(_plain()):
        return subprocess.Popen(
            [sys.executable, *words],
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=session,
            cwd=cwd,
            text=True,
        )
    here = cwd or str(Path.cwd())
    order = {"words": words, "env": dict(env), "cwd": here, "session": session}
    line, theirs = socket.socketpair()
    with theirs, _Pipes(stdin, stdout, stderr) as pipes:
        _parent().fork(json.dumps(order).encode(), [*pipes.theirs, theirs.fileno()])
    return Process(words, line, pipes)


def run(
    *words: str, env: Mapping[str, str], stdin: str, timeout: float, fresh: bool = False
) -> tuple[int, str, str]:
    """Run one with this `stdin`; return its exit code and output."""
    pipe = subprocess.PIPE
    process = start(*words, env=env, stdin=pipe, stdout=pipe, stderr=pipe, fresh=fresh)
    try:
        out, err = process.communicate(stdin, timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
    return process.wait(), out, err


class _Pipes:
    """The three streams of a process: our ends, and theirs until it has them."""

    def __init__(self, stdin: int, stdout: int | None, stderr: int | None) -> None:
        self.theirs: list[int] = []
        self._opened: list[int] = []
        self.stdin = self._end(stdin, 0)
        self.stdout = self._end(stdout, 1)
        self.stderr = self._end(stderr, 2)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._opened:
            os.close(each)

    def _end(self, wanted: int | None, number: int) -> IO[str] | None:
        if wanted == subprocess.PIPE:
            reads, writes = os.pipe()
            ours, theirs = (writes, reads) if number == 0 else (reads, writes)
            self._opened.append(theirs)
            self.theirs.append(theirs)
            return os.fdopen(ours, "w" if number == 0 else "r")
        if wanted == subprocess.DEVNULL:
            self._opened.append(os.open(os.devnull, os.O_RDWR))
            wanted = self._opened[-1]
        self.theirs.append(number if wanted is None else wanted)
        return None


class _Parent:
    """The process that forks for this one."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forks_parent", str(theirs.fileno())],
                cwd=ROOT,
                env=_plain(),
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )
        self._lock = threading.Lock()
        atexit.register(self.end)

    def fork(self, order: bytes, descriptors: list[int]) -> None:
        with self._lock:
            socket.send_fds(self._line, [HEAD.pack(len(order))], descriptors)
            self._line.sendall(order)

    def end(self) -> None:
        self._line.close()
        self._process.wait()


@cache
def _parent() -> _Parent:
    return _Parent()


def _plain() -> dict[str, str]:
    return {name: os.environ[name] for name in PLAIN if name in os.environ}


def _at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(_READ_AT_START)}


def _told(line: socket.socket) -> int:
    told = line.recv(END.size, socket.MSG_WAITALL)
    if len(told) < END.size:
        raise ChildProcessError("The parent of the forks has ended; what it said stands above.")
    (number,) = END.unpack(told)
    return int(number)


def _speak(stream: IO[str] | None, words: str | None) -> None:
    if stream is not None and not stream.closed:
        with suppress(BrokenPipeError):  # who does not listen to the end may leave
            stream.write(words or "")
        with suppress(BrokenPipeError):
            stream.close()


def _hear(stream: IO[str] | None, said: dict[str, str], name: str) -> None:
    said[name] = ""
    if stream is not None and not stream.closed:
        with stream:
            said[name] = stream.read()
