"""Child processes of specialists: own process group, few variables, full cleanup."""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

from msgspec import Struct

from remit.errors import Permanent
from remit.model.specialist import AttemptOutcome, SpecialistClaim, SpecialistJob

# Wraps a program in a sandbox: its arguments, its folder, what else must be readable.
Wrap: TypeAlias = Callable[[Sequence[str], str, Sequence[str]], Sequence[str]]

MAX_OUTPUT_BYTES: Final = 1_000_000  # bytes of what it says; of more the end is kept
MAX_LINE_BYTES: Final = 16_000_000  # bytes of one line, from one that speaks a protocol
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
            limit=MAX_LINE_BYTES,
        )


async def feed(process: Process, words: bytes) -> None:
    """Write to its stdin and close it; a program that does not read is fine."""
    stdin = process.stdin
    assert stdin is not None  # noqa: S101 - it is a pipe
    with suppress(OSError):
        stdin.write(words)
        await stdin.drain()
    stdin.close()
