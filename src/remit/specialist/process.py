"""Child processes of specialists, and the specialist that is any command.

A process has its own group, few variables, and is cleaned up fully. Its arguments come from the
settings only, and no shell parses them. `{prompt_file}` stands for a file with the prompt; without
it the prompt comes on stdin. `{workspace}` is the folder.
"""

import asyncio
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from remit.errors import Permanent
from remit.model.reply import AttemptOutcome, SpecialistClaim, SpecialistJob
from remit.ports import OnText, Permit
from remit.specialist import failures
from remit.system import process as programs

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
            return await asyncio.create_subprocess_exec(
                *words,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=job.workspace,
                env=dict(self.environ),
                start_new_session=True,
                limit=MAX_LINE_BYTES,
            )
        except OSError as error:
            why = f"{self.name} could not be started: {error.strerror or error}."
        except Permanent as error:
            why = str(error)
        return SpecialistClaim("", AttemptOutcome.CRASH, job.session, why)


async def feed(process: Process, words: bytes) -> None:
    """Write to its stdin and close it; a program that does not read is fine."""
    stdin = process.stdin
    assert stdin is not None  # noqa: S101 - it is a pipe
    with suppress(OSError):
        stdin.write(words)
        await stdin.drain()
    stdin.close()


PROMPT_FILE: Final = "{prompt_file}"
WORKSPACE: Final = "{workspace}"


class CommandSpecialist:
    def __init__(self, program: SpecialistProgram) -> None:
        self.name = program.name
        self.capabilities = program.capabilities
        self._program = program

    async def work(self, job: SpecialistJob, emit: OnText, permit: Permit) -> SpecialistClaim:
        """Run it until it ends or its time is up. The sandbox limits what it may do."""
        del permit
        with _prompted(self._program.argv, job) as (argv, readable, stdin):
            running = await self._program.start(job, argv, readable)
            if isinstance(running, SpecialistClaim):
                return running
            return await self._finish(running, job, stdin, emit)

    async def _finish(
        self, running: asyncio.subprocess.Process, job: SpecialistJob, stdin: bytes, emit: OnText
    ) -> SpecialistClaim:
        assert running.stdout is not None  # noqa: S101 - they are pipes
        assert running.stderr is not None  # noqa: S101
        out, err = bytearray(), bytearray()
        saying = asyncio.create_task(feed(running, stdin))
        telling = asyncio.create_task(
            programs.read_last(running.stdout, out, MAX_OUTPUT_BYTES, emit)
        )
        stderr_reader = asyncio.create_task(
            programs.read_last(running.stderr, err, MAX_OUTPUT_BYTES)
        )
        try:
            code = await programs.exit_code_within(running, job.time_limit)
        finally:
            await programs.end_group(running)
            await programs.finish_reading(saying, telling, stderr_reader)
        return self._claim(code, _text(out), _text(err), job.time_limit)

    def _claim(self, code: int | None, out: str, err: str, limit: float) -> SpecialistClaim:
        if code == 0:
            return SpecialistClaim(out)
        output = f"{out}\n{err}"
        outcome = AttemptOutcome.TIMEOUT if code is None else failures.sort(output)
        text = err if err.strip() else out
        why = programs.describe_failure(self.name, programs.describe_exit(code, limit), text)
        return SpecialistClaim(out, outcome, error=why)


@contextmanager
def _prompted(
    argv: Sequence[str], job: SpecialistJob
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], bytes]]:
    """Yield the arguments, what must be readable for them, and stdin."""
    prompt = job.prompt.encode("utf-8", "replace")
    here = [word.replace(WORKSPACE, job.workspace) for word in argv]
    if not any(PROMPT_FILE in word for word in here):
        yield tuple(here), (), prompt
        return
    # Not in the folder: there it would count as work.
    with tempfile.TemporaryDirectory(prefix="remit-prompt-") as folder:
        path = Path(folder) / "prompt.md"
        path.write_bytes(prompt)
        yield tuple(word.replace(PROMPT_FILE, str(path)) for word in here), (str(path),), b""


def _text(raw: bytearray) -> str:
    return bytes(raw).decode("utf-8", "replace").strip()
