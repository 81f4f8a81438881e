"""A sandbox for untrusted code: bubblewrap with limits that the kernel enforces, or no run at all.

    sandbox = Sandbox()
    match await sandbox.run(("pytest", "-q"), inside):
        case SandboxResult(code, output, report): ...
        case SandboxRefusal(why): ...

Inside there is no network, no home, only a few fixed environment variables, and a read-only system.
The workspace is a copy in memory, made for each run and removed with it, so a run cannot change the
owner's files, leave something behind, or influence the next check. Without a sandbox the answer is
`SandboxRefusal`, never an unprotected run.
"""

import asyncio
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct, field

from remit.system import process as programs
from remit.system.process import PLACES, find_program, is_root, system_binds

MB: Final = 1024 * 1024
_CORE: Final = 0  # a core dump would contain memory
_OPEN: Final = 4096


class SandboxLimits(Struct, frozen=True):
    seconds: float = 600  # on the wall, for the whole of it
    cpu: int = 600  # seconds, of each process
    memory: int = 2048  # MB that one process may hold of its own
    addresses: int = 64 * 1024  # MB that one process may name; runtimes reserve far more
    processes: int = 512  # and threads, of all together
    file: int = 512  # MB that one file may have
    room: int = 1024  # MB for the workspace; it lies in memory and goes with the sandbox
    scratch: int = 256  # MB for temporary files
    output: int = 1  # MB of output kept, the last part
    report: int = 64  # MB per report

    @property
    def words(self) -> tuple[str, ...]:
        """Return the arguments of `prlimit`; child processes cannot raise the limits."""
        return (
            f"--cpu={self.cpu}",
            f"--data={self.memory * MB}",
            f"--as={self.addresses * MB}",
            f"--nproc={self.processes}",
            f"--fsize={self.file * MB}",
            f"--nofile={_OPEN}",
            f"--core={_CORE}",
        )


REPORT: Final = "/tmp/report"  # noqa: S108 - inside, where nobody else is
HOME: Final = "/tmp/home"  # noqa: S108 - as above
NOBODY: Final = 65534
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_GRACE_SECONDS: Final = 5.0  # for the last process to go
_NO_FILES: Final = bytes(10_240)  # an archive that ends at once
_READY: Final = b"ready\n"
# The second stream is ours: first a word that the files are in place, then the report. The
# command's output, on both its streams, goes to the first.
_DRIVER: Final = f"""
echo 1000 > /proc/self/oom_score_adj
mkdir -p {HOME} && cd "$1" && tar -x -f - --no-same-owner && exec < /dev/null || exit 125
ours=$PATH
PATH=$2
echo ready >&2
cd "./$3" || exit 1
shift 3
"$@" 2>&1
code=$?
PATH=$ours
if [ -f {REPORT} ]; then cat {REPORT} >&2; fi
exit $code
"""


class ReadOnlyFolder(Struct, frozen=True):
    """A folder of this machine, visible inside and read-only."""

    folder: Path
    place: Path  # its path inside


class SandboxFiles(Struct, frozen=True):
    """The content of the sandbox: the packed workspace files and their place."""

    files: Path
    place: Path
    shown: tuple[ReadOnlyFolder, ...] = ()
    programs: tuple[Path, ...] = ()  # folders searched before the system's
    environ: Mapping[str, str] = field(default_factory=dict)
    within: str = ""  # the folder in which the command starts


class SandboxResult(Struct, frozen=True):
    code: int | None  # None: timed out and stopped
    output: str
    report: bytes = b""


class SandboxRefusal(Struct, frozen=True):
    why: str


class Sandbox:
    def __init__(
        self,
        limits: SandboxLimits = SandboxLimits(),  # noqa: B008 - frozen
        places: Sequence[Path] = PLACES,
    ) -> None:
        self.limits = limits
        self._places = places

    async def run(
        self, argv: Sequence[str], inside: SandboxFiles
    ) -> SandboxResult | SandboxRefusal:
        """Run a command on a fresh copy; nothing of it is left afterwards."""
        tools = self._tools()
        if isinstance(tools, SandboxRefusal):
            return tools
        try:
            with inside.files.open("rb") as files:
                words = (*tools.around(self.limits, inside), *argv)
                return await self._run(words, files)
        except OSError as error:
            return SandboxRefusal(f"The sandbox could not be started: {error.strerror or error}.")

    async def trouble(self) -> str | None:
        """Return why nothing can run on this machine; None if it can."""
        with tempfile.TemporaryDirectory(prefix="remit-verify-") as folder:
            files = Path(folder) / "files.tar"
            files.write_bytes(_NO_FILES)
            found = await self.run(("true",), SandboxFiles(files, Path("/nowhere")))
        if isinstance(found, SandboxRefusal):
            return found.why
        return None if found.code == 0 else f"A sandbox ran, and ended with {found.code}."

    def _tools(self) -> "_Tools | SandboxRefusal":
        names = ("bwrap", "prlimit", "setpriv", "tar", "sh")
        found = {name: find_program(name, self._places) for name in names}
        for name, path in found.items():
            if path is None and (name != "setpriv" or is_root()):
                package = "bubblewrap" if name == "bwrap" else f"what brings {name}"
                return SandboxRefusal(
                    f"There is no {name} on this machine, and without a sandbox nothing is run; "
                    f"install {package} (apt install bubblewrap)."
                )
        return _Tools(**{name: str(path) for name, path in found.items()})

    async def _run(self, words: Sequence[str], files: BinaryIO) -> SandboxResult | SandboxRefusal:
        with programs.pipe() as (reader, writer):
            process = await asyncio.create_subprocess_exec(
                *(words[0], "--info-fd", str(writer.fileno()), *words[1:]),
                stdin=files,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={},  # the first process inside exposes its environment
                cwd="/",
                start_new_session=True,
                pass_fds=(writer.fileno(),),
            )
            writer.close()
            first = asyncio.create_task(asyncio.to_thread(_first_process, reader))
            return await self._wait(process, first)

    async def _wait(
        self, process: asyncio.subprocess.Process, first: asyncio.Task[int | None]
    ) -> SandboxResult | SandboxRefusal:
        assert process.stdout is not None  # noqa: S101 - a pipe was asked for
        assert process.stderr is not None  # noqa: S101 - as above
        out, aside = bytearray(), bytearray()
        readers = (
            asyncio.create_task(programs.read_last(process.stdout, out, self.limits.output * MB)),
            asyncio.create_task(
                programs.read_first(process.stderr, aside.extend, self.limits.report * MB)
            ),
        )
        try:
            code = await programs.exit_code_within(process, self.limits.seconds)
        finally:
            # With the first process all that it started goes, whatever session it put itself in.
            await programs.kill_group(process)
            await _wait_for_end(await first)
            await programs.finish_reading(*readers)
        return _result_of_end(code, bytes(out), bytes(aside))


class _Tools(Struct, frozen=True):
    bwrap: str
    prlimit: str
    setpriv: str
    tar: str  # the driver finds it in the same place
    sh: str

    def around(self, limits: SandboxLimits, inside: SandboxFiles) -> tuple[str, ...]:
        """Return the arguments before a command that sandbox it."""
        # The folders of its programs are only for the command.
        shown, path = inside.shown, ":".join((*map(str, inside.programs), _PATH))
        outside: tuple[str, ...] = ()
        if is_root():
            # The kernel does not count the processes of root; and a user who is nobody outside is
            # nobody even after an escape.
            outside, shown = self._stage_for_nobody(shown)
        return (
            *outside,
            *(self.bwrap, *_NAMESPACES, *system_binds(), *_rooms(limits)),
            *_binds(each for each in shown if not _within(each, inside)),
            *("--perms", "0755", "--size", str(limits.room * MB), "--tmpfs", str(inside.place)),
            *_binds(each for each in shown if _within(each, inside)),
            *("--remount-ro", "/dev", "--remount-ro", "/"),
            *(word for pair in _environ(inside).items() for word in ("--setenv", *pair)),
            *("--chdir", str(inside.place), "--"),
            *(self.prlimit, *limits.words, "--"),
            *(self.sh, "-c", _DRIVER, "sandbox", str(inside.place), path, inside.within),
        )

    def _stage_for_nobody(
        self, shown: Sequence[ReadOnlyFolder]
    ) -> tuple[tuple[str, ...], tuple[ReadOnlyFolder, ...]]:
        """Return a first shell that moves folders only root can reach to where nobody can."""
        staged = tuple(
            ReadOnlyFolder(Path(f"/tmp/{n}"), each.place)  # noqa: S108
            for n, each in enumerate(shown)
        )
        pairs = zip(shown, staged, strict=True)
        binds = (("--ro-bind", str(each.folder), str(stage.folder)) for each, stage in pairs)
        nobody = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--")
        words = (
            *(self.bwrap, "--dev-bind", "/", "/", "--unshare-pid", "--die-with-parent"),
            *("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"),
            *("--perms", "0755", "--tmpfs", "/tmp"),  # noqa: S108 - of this shell alone
            *(word for bind in binds for word in bind),
            *("--", self.setpriv, *nobody),
        )
        return words, staged


_NAMESPACES: Final = (
    *("--unshare-all", "--unshare-user", "--disable-userns"),
    *("--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--cap-drop", "ALL"),
    *("--die-with-parent", "--new-session", "--clearenv"),
)


def _rooms(limits: SandboxLimits) -> tuple[str, ...]:
    """Return what may be written besides the workspace, and how much."""
    return (
        *("--proc", "/proc", "--dev", "/dev"),
        *("--perms", "1777", "--size", str(64 * MB), "--tmpfs", "/dev/shm"),  # noqa: S108 - inside
        *("--perms", "1777", "--size", str(limits.scratch * MB), "--tmpfs", "/tmp"),  # noqa: S108
    )


def _binds(shown: Iterable[ReadOnlyFolder]) -> Iterator[str]:
    for each in shown:
        yield from ("--ro-bind", str(each.folder), str(each.place))


def _within(shown: ReadOnlyFolder, inside: SandboxFiles) -> bool:
    return shown.place.is_relative_to(inside.place)


def _environ(inside: SandboxFiles) -> Mapping[str, str]:
    fixed = (("PATH", _PATH), ("HOME", HOME), ("TMPDIR", "/tmp"))  # noqa: S108 - inside
    named = {"LANG": "C.UTF-8", "TZ": "UTC", "USER": "sandbox", "LOGNAME": "sandbox"}
    return {**dict(fixed), **named, "TERM": "dumb", "NO_COLOR": "1", "CI": "1", **inside.environ}


def _result_of_end(code: int | None, output: bytes, aside: bytes) -> SandboxResult | SandboxRefusal:
    before, ready, report = aside.partition(_READY)
    if not ready:
        why = " ".join(before.decode("utf-8", "replace").split())[:300] or "it said nothing"
        return SandboxRefusal(
            f"The sandbox could not be set up ({why}), and without it nothing is run."
        )
    return SandboxResult(code, output.decode("utf-8", "replace"), report)


def _first_process(source: BinaryIO) -> int | None:
    """A handle on the first process inside, which is the last to go; None if there was none."""
    try:
        return os.pidfd_open(int(json.loads(source.read())["child-pid"]))
    except (ValueError, KeyError, OSError):
        return None


async def _wait_for_end(first: int | None) -> None:
    """Wait until the first process has ended: the kernel lets it go when no other is left."""
    if first is None:
        return
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(first, ended.set)
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), _GRACE_SECONDS)
    finally:
        loop.remove_reader(first)
        os.close(first)
