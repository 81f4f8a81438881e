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

# Wraps a program in a sandbox: its arguments, its folder, what else must be readable.
Wrap: TypeAlias = Callable[[Sequence[str], str, Sequence[str]], Sequence[str]]

MOST_KEPT: Final = 1_000_000  # bytes of its output; the end is kept
MOST_LINE: Final = 16_000_000  # bytes of one line in a protocol
_GRACE: Final = 2.0  # seconds to end in good order, and to drain the pipes
_LOOK: Final = 0.02  # seconds between checks whether it has ended
_ALWAYS: Final = ("PATH", "HOME", "LANG", "TERM", "TZ")


def bare(argv: Sequence[str], workspace: str, readable: Sequence[str]) -> Sequence[str]:
    """No sandbox at all."""
    del workspace, readable
    return argv


def environ_of(environ: Mapping[str, str], more: Sequence[str]) -> dict[str, str]:
    """Return a program's variables: a few that all need, and the named ones."""
    return {name: environ[name] for name in (*_ALWAYS, *more) if name in environ}


class SpecialistProgram(Struct, frozen=True):
    """A program as the owner set it up: arguments, variables and sandbox."""

    name: str
    argv: tuple[str, ...]
    environ: Mapping[str, str]
    capabilities: frozenset[str] = frozenset()
    wrap: Wrap = bare

    async def start(
        self, job: SpecialistJob, argv: Sequence[str] | None = None, readable: Sequence[str] = ()
    ) -> Process | SpecialistClaim:
        """Start it in the folder of a job; else return the claim that says why not."""
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
    """Write to its stdin and close it; a program that does not read is fine."""
    stdin = process.stdin
    assert stdin is not None  # noqa: S101 - it is a pipe
    with suppress(OSError):
        stdin.write(words)
        await stdin.drain()
    stdin.close()


async def hear(stream: asyncio.StreamReader, kept: bytearray, emit: OnText | None = None) -> None:
    """Keep the end of its output, and pass it on as it comes."""
    while piece := await stream.read(65_536):
        kept += piece
        del kept[:-MOST_KEPT]
        if emit is not None:
            await emit(piece.decode("utf-8", "replace"))


async def gone(process: Process) -> int:
    """Wait for its end and return its exit code, whoever still holds its pipes."""
    # Not `process.wait`: that also waits for the pipes, which a child may keep open for ever.
    while process.returncode is None:  # noqa: ASYNC110 - nothing else rings at its end alone
        await asyncio.sleep(_LOOK)
    return process.returncode


async def end(process: Process) -> None:
    """Terminate the whole process group, then kill it."""
    try:
        if process.returncode is None:
            _signal(process, signal.SIGTERM)
            with suppress(TimeoutError):
                await asyncio.wait_for(gone(process), _GRACE)
    finally:
        _signal(process, signal.SIGKILL)
    await process.wait()


async def drained(*reading: asyncio.Task[None]) -> None:
    """Read what is left in the pipes; a child that holds one open is not waited for."""
    await asyncio.wait(reading, timeout=_GRACE)
    for task in reading:
        task.cancel()
    await asyncio.gather(*reading, return_exceptions=True)


def ended(code: int | None, limit: float) -> str:
    if code is None:
        return f"was stopped after {limit:g} s"
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _signal(process: Process, number: signal.Signals) -> None:
    # It may be gone, or belong to another user.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
