"""Programs that Remit starts: each in a process group of its own, read up to a limit, ended whole.

Start one with `start_new_session=True`, so that ending it also ends what it started.
"""

import asyncio
import os
import signal
from asyncio import timeout
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

_LAST_LINES: Final = 5
GRACE_SECONDS: Final = 2.0  # to end in good order, and for what is still in a pipe
_POLL_SECONDS: Final = 0.02
_PIECE_BYTES: Final = 65_536


def signal_group(process: Process, number: signal.Signals) -> None:
    """Send a signal to a program and to everything that it started."""
    # It may be gone, or have become another user's.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


async def wait_for_exit(process: Process) -> int:
    """The exit code of a program when it has ended, whoever still holds its pipes."""
    # Not `process.wait`: in some versions of Python that also waits for the pipes, and a child of
    # the program may keep these open for ever.
    while process.returncode is None:  # noqa: ASYNC110 - nothing else rings at its end alone
        await asyncio.sleep(_POLL_SECONDS)
    return process.returncode


async def exit_code_within(process: Process, seconds: float) -> int | None:
    """The exit code of a program, or None if it has not ended after so many seconds."""
    with suppress(TimeoutError):
        async with timeout(seconds):
            return await wait_for_exit(process)
    return None


async def end_group(process: Process) -> None:
    """Leave nothing of a program behind: the whole group is asked to end, then killed."""
    try:
        if process.returncode is None:
            signal_group(process, signal.SIGTERM)
            with suppress(TimeoutError):
                await asyncio.wait_for(wait_for_exit(process), GRACE_SECONDS)
    finally:
        await kill_group(process)


async def kill_group(process: Process) -> None:
    """Kill a program and everything that it started, without asking first."""
    signal_group(process, signal.SIGKILL)
    await wait_for_exit(process)


async def kill_and_close(process: Process) -> None:
    """Kill a program whose output nobody reads any more, and let its pipe close.

    A pipe that is full and not read would stay open as long as this process.
    """
    await kill_group(process)
    with suppress(TimeoutError):
        async with timeout(GRACE_SECONDS):  # a child that left the group may hold it open
            while process.stdout is not None and await process.stdout.read(_PIECE_BYTES):
                pass


def last_lines(output: str) -> str:
    """Return the last lines of some output as one, without control characters."""
    lines = [line for line in output.splitlines() if line.strip()][-_LAST_LINES:]
    return " / ".join("".join(c for c in line if c.isprintable()).strip()[:200] for line in lines)


def describe_failure(name: str, how: str, output: str) -> str:
    """Return how a program ended and its last lines: `tool ended with exit code 3: no room`."""
    words = last_lines(output)
    return f"{name} {how}{f': {words}' if words else '.'}"


def describe_exit(code: int | None, limit_seconds: float) -> str:
    """Return how a program ended; None: it was stopped because it took too long."""
    if code is None:
        return f"was stopped after {limit_seconds:g} s"
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


# Output -------------------------------------------------------------------------------------------


class ProgramEnd(Struct, frozen=True):
    """How a program ended; the code is None if its time was up."""

    code: int | None
    out: bytes
    err: bytes


async def run_to_end(
    process: Process,
    seconds: float,
    limit_bytes: int,
    *,
    stdin: bytes = b"",
    emit: Callable[[str], Awaitable[None]] | None = None,
) -> ProgramEnd:
    """Let a program run until it ends, its time is up, or we are cancelled; nothing of it is left.

    Of each of its outputs the last bytes are kept; `emit` gets the first output as it comes.
    """
    out, err = bytearray(), bytearray()
    tasks: list[asyncio.Task[None]] = []
    if process.stdin is not None:
        tasks.append(asyncio.create_task(feed(process, stdin)))
    for stream, into, listener in ((process.stdout, out, emit), (process.stderr, err, None)):
        if stream is not None:
            tasks.append(asyncio.create_task(read_last(stream, into, limit_bytes, listener)))
    try:
        code = await exit_code_within(process, seconds)
    finally:
        await end_group(process)
        await finish_reading(*tasks)
    return ProgramEnd(code, bytes(out), bytes(err))


async def feed(process: Process, words: bytes) -> None:
    """Write to its stdin and close it; a program that does not read is fine."""
    stdin = process.stdin
    assert stdin is not None  # noqa: S101 - it is a pipe
    with suppress(OSError):
        stdin.write(words)
        await stdin.drain()
    stdin.close()


async def exchange(process: Process, words: bytes, output: bytearray, limit_bytes: int) -> None:
    """Write to its stdin, and add what it says to the output until that is as long as this."""
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    feeding = asyncio.create_task(feed(process, words))
    try:
        while len(output) < limit_bytes and (piece := await process.stdout.read(_PIECE_BYTES)):
            output += piece
    finally:
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)


class WorkerAnswer(Struct, frozen=True):
    """What a worker wrote; the code is None if it was stopped."""

    output: bytes
    in_time: bool
    code: int | None


async def ask_worker(
    argv: Sequence[str],
    words: bytes,
    seconds: float,
    limit_bytes: int,
    environ: Mapping[str, str] | None = None,
) -> WorkerAnswer:
    """Run a program for one order on its stdin and one answer on its stdout; then it is ended."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environ,
        start_new_session=True,
    )
    output, in_time, code = bytearray(), False, None
    try:
        with suppress(TimeoutError):
            async with timeout(seconds):
                await exchange(process, words, output, limit_bytes)
                in_time = True
        if in_time and len(output) < limit_bytes:  # else it still waits for us to read
            code = await exit_code_within(process, GRACE_SECONDS)
    finally:
        await kill_and_close(process)
    return WorkerAnswer(bytes(output[:limit_bytes]), in_time, code)


async def read_last(
    stream: asyncio.StreamReader,
    into: bytearray,
    limit_bytes: int,
    emit: Callable[[str], Awaitable[None]] | None = None,
) -> None:
    """Read a stream to its end and keep the last bytes; `emit` gets each piece as it comes."""
    while piece := await stream.read(_PIECE_BYTES):
        into += piece
        del into[:-limit_bytes]
        if emit is not None:
            await emit(piece.decode("utf-8", "replace"))


async def read_first(
    stream: asyncio.StreamReader, write: Callable[[bytes], object], limit_bytes: int
) -> None:
    """Read a stream to its end and write the first bytes somewhere; the rest is dropped."""
    while piece := await stream.read(_PIECE_BYTES):
        write(piece[:limit_bytes])
        limit_bytes -= len(piece[:limit_bytes])


async def finish_reading(*readers: "asyncio.Task[None]") -> None:
    """Let readers take what is still in the pipes; a child that holds one open is not awaited."""
    await asyncio.wait(readers, timeout=GRACE_SECONDS)
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)


@contextmanager
def pipe() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Both ends of a new pipe, to read from and to write to; closed at the end of the block."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb", 0) as reading, os.fdopen(writer, "wb", 0) as writing:
        yield reading, writing


# Not through PATH: anybody who can write to one of its folders could replace the sandbox.
PLACES: Final = (Path("/usr/bin"), Path("/bin"), Path("/usr/local/bin"))
_SYSTEM: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC: Final = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")


def find_program(name: str, places: Sequence[Path] = PLACES) -> Path | None:
    """Return a tool of the system."""
    return next((at / name for at in places if os.access(at / name, os.X_OK)), None)


def system_binds() -> tuple[str, ...]:
    """Return the arguments for a read-only system, without anything about this machine."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            words += ["--ro-bind", name, name]
    for name in _ETC:
        words += ["--ro-bind-try", name, name]
    return tuple(words)


def is_root() -> bool:
    return os.geteuid() == 0
