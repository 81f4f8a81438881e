"""Child processes of specialists: own process group, few variables, full cleanup."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

from msgspec import Struct

from remit.errors import Permanent
from remit.model.specialist import AttemptOutcome, SpecialistClaim, SpecialistJob
from remit.ports import OnText

# Puts a sandbox around a program: its words, its folder, what else it must be able to read.
Wrap: TypeAlias = Callable[[Sequence[str], str, Sequence[str]], Sequence[str]]

MOST_KEPT: Final = 1_000_000  # bytes of what it says; of more the end is kept
MOST_LINE: Final = 16_000_000  # bytes of one line, from one that speaks a protocol
_GRACE: Final = 2.0  # seconds to end in good order, and for what is still in a pipe
_LOOK: Final = 0.02  # seconds between two looks whether it has ended
_ALWAYS: Final = ("PATH", "HOME", "LANG", "TERM", "TZ")


def bare(argv: Sequence[str], workspace: str, readable: Sequence[str]) -> Sequence[str]:
    """No sandbox at all."""
    del workspace, readable
    return argv


def environ_of(environ: Mapping[str, str], more: Sequence[str]) -> dict[str, str]:
    """The variables that a program is given: a few that all need, and those that were named."""
    return {name: environ[name] for name in (*_ALWAYS, *more) if name in environ}


class SpecialistProgram(Struct, frozen=True):
    """A program as the owner set it up: its words, its variables, and the sandbox around it."""

    name: str
    argv: tuple[str, ...]
    environ: Mapping[str, str]
    capabilities: frozenset[str] = frozenset()
    wrap: Wrap = bare

    async def start(
        self, job: SpecialistJob, argv: Sequence[str] | None = None, readable: Sequence[str] = ()
    ) -> Process | SpecialistClaim:
        """Start it in the folder of a job; else the claim that says why it could not be."""
        try:
            words = await asyncio.to_thread(self.wrap, argv or self.argv, job.workspace, readable)
            return await self._started(words, job.workspace)
        except OSError as error:
            why = f"{self.name} could not be started: {error.strerror or error}."
        except Permanent as error:
            why = str(error)
        return SpecialistClaim("", AttemptOutcome.CRASH, job.session, why)

    async def _started(self, words: Sequence[str], folder: str) -> Process:
        return await asyncio.create_subprocess_exec(
            *words,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=folder,
            env=dict(self.environ),
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


async def gone(process: Process) -> int:
    """Wait for its end and say how it ended, whoever still holds its pipes."""
    # Not `process.wait`: that also waits for the pipes, and a child of it may keep these for ever.
    while process.returncode is None:  # noqa: ASYNC110 - nothing else rings at its end alone
        await asyncio.sleep(_LOOK)
    return process.returncode


async def end(process: Process) -> None:
    """Leave nothing of it behind: the whole group is asked to end, then made to."""
    try:
        if process.returncode is None:
            _signal(process, signal.SIGTERM)
            with suppress(TimeoutError):
                await asyncio.wait_for(gone(process), _GRACE)
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
