"""A program that works for us: a group of its own, few variables, and nothing left of it after."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

from remit.ports import OnText

# Puts a sandbox around a program: its words, its folder, what else it must be able to read.
Wrap: TypeAlias = Callable[[Sequence[str], str, Sequence[str]], Sequence[str]]

MOST_KEPT: Final = 1_000_000  # bytes of what it says; of more the end is kept
MOST_LINE: Final = 16_000_000  # bytes of one line, from one that speaks a protocol
_GRACE: Final = 2.0  # seconds to end in good order, and for what is still in a pipe
_ALWAYS: Final = ("PATH", "HOME", "LANG", "TERM", "TZ")


def bare(argv: Sequence[str], workspace: str, readable: Sequence[str]) -> Sequence[str]:
    """No sandbox at all."""
    del workspace, readable
    return argv


def environ_of(environ: Mapping[str, str], more: Sequence[str]) -> dict[str, str]:
    """The variables that a program is given: a few that all need, and those that were named."""
    return {name: environ[name] for name in (*_ALWAYS, *more) if name in environ}


async def start(argv: Sequence[str], folder: str, environ: Mapping[str, str]) -> Process:
    return await asyncio.create_subprocess_exec(
        *argv,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=folder,
        env=dict(environ),
        start_new_session=True,
        limit=MOST_LINE,
    )


async def feed(process: Process, words: bytes) -> None:
    """Say something to it and hang up; one that does not listen is no trouble."""
    stdin = process.stdin
    assert stdin is not None  # noqa: S101 - it is a pipe
    with suppress(OSError):
        stdin.write(words)
        await stdin.drain()
    stdin.close()


async def hear(stream: asyncio.StreamReader, kept: bytearray, emit: OnText | None = None) -> None:
    """Keep the end of what it says, and pass it on as it comes."""
    while piece := await stream.read(65_536):
        kept += piece
        del kept[:-MOST_KEPT]
        if emit is not None:
            await emit(piece.decode("utf-8", "replace"))


async def end(process: Process) -> None:
    """Leave nothing of it behind: the whole group is asked to end, then made to."""
    try:
        if process.returncode is None:
            _signal(process, signal.SIGTERM)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _GRACE)
    finally:
        _signal(process, signal.SIGKILL)
    await process.wait()


async def drained(*reading: asyncio.Task[None]) -> None:
    """Let what is still in the pipes be heard; a child that holds one open is not waited for."""
    await asyncio.wait(reading, timeout=_GRACE)
    for task in reading:
        task.cancel()
    await asyncio.gather(*reading, return_exceptions=True)


def ended(code: int | None, limit: float) -> str:
    if code is None:
        return f"was stopped after {limit:g} s"
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _signal(process: Process, number: signal.Signals) -> None:
    # It may be gone, or have become another user's.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
