"""A specialist that is any command: it gets the prompt, works in the folder, and exits.

Its arguments come from the settings only, and no shell parses them. `{prompt_file}` stands for a
file with the prompt; without it the prompt comes on stdin. `{workspace}` is the folder.
"""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from remit.model.specialist import AttemptOutcome, SpecialistClaim, SpecialistJob
from remit.ports import OnText, Permit
from remit.specialist import failures
from remit.specialist.process import MAX_OUTPUT_BYTES, SpecialistProgram, feed
from remit.system.process import (
    describe_exit,
    end_group,
    exit_code_within,
    finish_reading,
    read_last,
)

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
        telling = asyncio.create_task(read_last(running.stdout, out, MAX_OUTPUT_BYTES, emit))
        grumbling = asyncio.create_task(read_last(running.stderr, err, MAX_OUTPUT_BYTES))
        try:
            code = await exit_code_within(running, job.time_limit)
        finally:
            await end_group(running)
            await finish_reading(saying, telling, grumbling)
        return self._claim(code, _text(out), _text(err), job.time_limit)

    def _claim(self, code: int | None, out: str, err: str, limit: float) -> SpecialistClaim:
        if code == 0:
            return SpecialistClaim(out)
        said = f"{out}\n{err}"
        outcome = AttemptOutcome.TIMEOUT if code is None else failures.sort(said)
        words = failures.last_words(err) or failures.last_words(out)
        ending = describe_exit(code, limit)
        return SpecialistClaim(
            out, outcome, error=f"{self.name} {ending}{f': {words}' if words else '.'}"
        )


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


def _text(said: bytearray) -> str:
    return bytes(said).decode("utf-8", "replace").strip()
