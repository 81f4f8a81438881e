"""The parent of the forks: imports Remit once, then forks a child for every order it is given.

    python -m tests.forks_parent DESCRIPTOR

It has no thread, no loop and no open file, so a child begins as a fresh interpreter would, only
later. A child never returns into the parent's loop: it leaves it, and ends as any program does
(threads, handlers, flushes, exit code).
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TextIO
from zoneinfo import ZoneInfo

import remit.cli
from remit import failpoint
from remit.contacts import ChannelName, Contact, ContactBook
from remit.intake.plain_reader import read_plainly
from remit.intake.standing_wish import find_standing_wish
from remit.testing import START
from tests.forks import END, HEAD

# Run as programs, so they must not be there already; what they import must.
# What Remit imports only when it is needed.
LATE: Final = ("cyclopts.help", "pydantic.dataclasses", "pydantic.type_adapter", "rich.markdown")
PROGRAMS: Final = ("remit.cli.main", "tests.engine.channels_worker", "tests.engine.crash_worker")


@dataclass(frozen=True)
class Order:
    """What a child shall be."""

    words: list[str]
    env: dict[str, str]
    cwd: str
    session: bool


def load() -> None:
    """Import whatever a child may need."""
    commands = pkgutil.iter_modules(remit.cli.__path__, "remit.cli.")
    for name in (*(each.name for each in commands), *PROGRAMS):
        importlib.import_module(name)
    for name in PROGRAMS:
        del sys.modules[name]
    for name in LATE:
        importlib.import_module(name)
    _read_a_message()
    gc.collect()
    gc.freeze()  # pages that the collector does not touch are not copied
    assert threading.active_count() == 1, "a thread does not survive a fork"


def _read_a_message() -> None:
    """Build the word tables that are made once per process."""
    book = ContactBook(Contact("me"), (ChannelName("dashboard", "dashboard"),))
    read_plainly("Send Anna the news every day at 8", now=START, zone=ZoneInfo("UTC"), book=book)
    find_standing_wish("Never write to Anna after 8", book)


def serve(line: socket.socket) -> tuple[Order, list[int]] | None:
    """Fork as ordered; return in each child with its order, and in the parent at the end."""
    alarm, rings = os.pipe()
    os.set_blocking(rings, False)
    os.set_blocking(alarm, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.set_wakeup_fd(rings, warn_on_full_buffer=False)
    living: dict[int, int] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(line, selectors.EVENT_READ)
        selector.register(alarm, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in selector.select()}
            if alarm in ready:
                _bury(living, alarm)
            if line.fileno() in ready:
                got = _read(line)
                if got is None:
                    return None
                if child := _forked(*got, living):
                    for each in (alarm, rings, *living.values()):
                        os.close(each)
                    return child


def become(order: Order, streams: list[int]) -> None:
    """Become what was ordered, as if just started."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if order.session:
        os.setsid()
    for number, each in enumerate(streams):
        os.dup2(each, number)
        os.close(each)
    sys.stdin, sys.stdout, sys.stderr = (
        _stream(0, sys.stdin),
        _stream(1, sys.stdout),
        _stream(2, sys.stderr),
    )
    os.environ.clear()
    os.environ.update(order.env)
    os.chdir(order.cwd)
    time.tzset()
    importlib.reload(failpoint)  # it reads the environment once
    code: object = None
    try:
        _run(order.words)
    except SystemExit as ended:
        code = ended.code
    _end(code)


def _end(code: object) -> None:
    """End as an interpreter does, but leave all imports to the kernel.

    Freeing them takes longer than most commands: they are shared with the parent until touched.
    """
    if code is not None and not isinstance(code, int):
        sys.exit(str(code))
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # nobody listens; the interpreter knows what to do then
    os._exit((code or 0) & 0xFF)


def _run(words: list[str]) -> None:
    if words[0] == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


def _stream(number: int, like: TextIO) -> TextIO:
    terminal = os.isatty(number)
    return open(
        number,
        "r" if number == 0 else "w",
        buffering=1 if number == 2 or terminal else -1,
        encoding=like.encoding,
        errors=like.errors,
        closefd=False,
    )


def _forked(
    order: Order, descriptors: list[int], living: dict[int, int]
) -> tuple[Order, list[int]] | None:
    """Return the order in the child; None in the parent."""
    *streams, tell = descriptors
    if (pid := os.fork()) == 0:
        os.close(tell)
        return order, streams
    for each in streams:
        os.close(each)
    os.write(tell, END.pack(pid))
    living[pid] = tell
    return None


def _bury(living: dict[int, int], alarm: int) -> None:
    """Report the exit of every child that has ended."""
    with suppress(BlockingIOError):
        os.read(alarm, 4096)
    while living:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        tell = living.pop(pid)
        with suppress(BrokenPipeError):  # nobody waits for it
            os.write(tell, END.pack(os.waitstatus_to_exitcode(status)))
        os.close(tell)


def _read(line: socket.socket) -> tuple[Order, list[int]] | None:
    head, descriptors, _, _ = socket.recv_fds(line, HEAD.size, 4)
    if len(head) < HEAD.size:
        return None  # whoever ordered is gone
    (length,) = HEAD.unpack(head)
    return Order(**json.loads(line.recv(length, socket.MSG_WAITALL))), list(descriptors)


if __name__ == "__main__":
    load()
    with socket.socket(fileno=int(sys.argv[1])) as control:
        child = serve(control)
    if child:
        become(*child)
