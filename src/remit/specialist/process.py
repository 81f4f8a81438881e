"""Child processes of specialists, the specialist that is any command, and the sandbox around it.

A process has its own group, few variables, and is cleaned up fully. Its arguments come from the
settings only, and no shell parses them. `{prompt_file}` stands for a file with the prompt; without
it the prompt comes on stdin. `{workspace}` is the folder.

In the sandbox it may write its worktree, a home of its own, and what the owner listed. It may read
the system, the program with the files its arguments name, and what the owner listed; nothing else
of the owner's home, of Remit's directory, or of other work. Its home has the owner's path; it is
empty when a task begins and is removed with the worktree. What it does with git stays in a copy of
this worktree's git data.
"""

import asyncio
import errno
import os
import shutil
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from remit.errors import Permanent
from remit.model.reply import AttemptOutcome, SpecialistClaim, SpecialistJob
from remit.ports import OnText, Permit
from remit.specialist import REPOSITORY, chain
from remit.specialist.abstract_sockets import launcher
from remit.specialist.tree import aside_folder
from remit.system import process as programs
from remit.system.process import PLACES, find_program, is_root, system_binds

# Wraps a program in a sandbox: its arguments, its folder, what else must be readable.
Wrap: TypeAlias = Callable[[Sequence[str], str, Sequence[str]], Sequence[str]]

MAX_OUTPUT_BYTES: Final = 1_000_000  # bytes of what it says; of more the end is kept
MAX_LINE_BYTES: Final = 16_000_000  # bytes of one line, from one that speaks a protocol
_ALWAYS: Final = ("PATH", "HOME", "LANG", "TERM", "TZ")


def no_sandbox(argv: Sequence[str], workspace: str, readable: Sequence[str]) -> Sequence[str]:
    """No sandbox at all."""
    del workspace, readable
    return argv


def program_environ(environ: Mapping[str, str], more: Sequence[str]) -> dict[str, str]:
    """Return a program's variables: a few that all need, and the named ones."""
    return {name: environ[name] for name in (*_ALWAYS, *more) if name in environ}


class SpecialistProgram(Struct, frozen=True):
    """A program as the owner set it up: arguments, variables and sandbox."""

    name: str
    argv: tuple[str, ...]
    environ: Mapping[str, str]
    capabilities: frozenset[str] = frozenset()
    wrap: Wrap = no_sandbox

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
        with _with_prompt(self._program.argv, job) as (argv, readable, stdin):
            running = await self._program.start(job, argv, readable)
            if isinstance(running, SpecialistClaim):
                return running
            limit = job.time_limit
            ended = await programs.run_to_end(
                running, limit, MAX_OUTPUT_BYTES, stdin=stdin, emit=emit
            )
            return self._claim(ended.code, _text(ended.out), _text(ended.err), limit)

    def _claim(self, code: int | None, out: str, err: str, limit: float) -> SpecialistClaim:
        if code == 0:
            return SpecialistClaim(out)
        output = f"{out}\n{err}"
        outcome = AttemptOutcome.TIMEOUT if code is None else chain.classify_failure(output)
        text = err if err.strip() else out
        why = programs.describe_failure(self.name, programs.describe_exit(code, limit), text)
        return SpecialistClaim(out, outcome, error=why)


@contextmanager
def _with_prompt(
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


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip()


_MB: Final = 1024 * 1024
_SCRATCH: Final = 1024 * _MB  # for temporary files, in memory
_LIMITS: Final = ("--core=0", "--nproc=4096", f"--fsize={4096 * _MB}")
_ANYBODY: Final = 1000  # root's user id inside: some programs refuse to work for root
_ELSEWHERE: Final = Path("/tmp/home")  # noqa: S108 - inside, where nobody else is
_NO_HOMES: Final = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc")))
_ETC: Final = ("ssl", "pki", "ca-certificates", "hosts", "nsswitch.conf", "localtime")
_LINE: Final = "/etc/resolv.conf"  # needed to resolve names
# The parts of a repository that say which commits there are; the commits are read-only.
_KEPT: Final = ("HEAD", "config", "shallow")
# The program and the folders it needs to run; None if it is missing.
Sees = Callable[[str], Sequence[Path] | None]


class SandboxPermissions(Struct, frozen=True):
    """What a program may do besides working in its folder."""

    network: bool = False
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()


def sandbox_home(environ_home: str) -> Path:
    """Return where its home is visible: at the owner's path, if possible."""
    home = Path(environ_home or _ELSEWHERE)
    fits = home.is_absolute() and len(home.parts) > 1 and ".." not in home.parts
    inside = any(home.is_relative_to(each) for each in _NO_HOMES)
    return home if fits and not inside else _ELSEWHERE


class ProgramSandbox:
    """Wraps a program's arguments; nothing is started here."""

    def __init__(
        self,
        name: str,
        leave: SandboxPermissions,
        *,
        home: Path,
        sees: Sees,
        places: Sequence[Path] = PLACES,
    ) -> None:
        self._name = name
        self._leave = leave
        self._home = home
        self._sees = sees
        self._places = places

    def __call__(
        self, argv: Sequence[str], workspace: str, readable: Sequence[str]
    ) -> Sequence[str]:
        """Return the arguments that run a program in its sandbox, and prepare its folders."""
        bwrap, prlimit = (find_program(each, self._places) for each in ("bwrap", "prlimit"))
        if bwrap is None or prlimit is None:
            raise Permanent(
                f"There is no {'prlimit' if bwrap else 'bwrap'} on this machine, and "
                f"{self._name} works in a sandbox alone; install bubblewrap, or say "
                f"sandbox = false under [specialists.{self._name}]."
            )
        visible = self._sees(argv[0])
        if visible is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), argv[0])
        # A script is part of the program; the arguments are the owner's own.
        scripts = [Path(word) for word in argv[1:] if word.startswith("/")]
        visible = (*visible, *(each for each in scripts if each.is_file()))
        return (
            *(launcher(bwrap) if self._leave.network else ()),
            *(str(bwrap), *self._user_words(), *system_binds(), *self._rooms(workspace)),
            *_bound("--ro-bind-try", (*visible, *self._leave.reads)),
            *_bound("--bind-try", self._leave.writes),
            *_bound("--bind", (Path(workspace),)),
            *_git(Path(workspace)),
            *_bound("--ro-bind", map(Path, readable)),
            *("--remount-ro", "/", "--chdir", workspace, "--"),
            *(str(prlimit), *_LIMITS, "--", str(visible[0]), *argv[1:]),
        )

    def _user_words(self) -> Iterator[str]:
        yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--hostname", "sandbox")
        yield from ("--cap-drop", "ALL", "--die-with-parent")
        if self._leave.network:
            yield "--share-net"  # this includes services on this machine's loopback
        if is_root():
            yield from ("--uid", str(_ANYBODY), "--gid", str(_ANYBODY))

    def _rooms(self, workspace: str) -> Iterator[str]:
        """Yield the parts that belong neither to the system nor to the worktree."""
        place = aside_folder(workspace)
        own = place / "homes" / self._name
        own.mkdir(parents=True, exist_ok=True)
        user, group = (_ANYBODY, _ANYBODY) if is_root() else (os.getuid(), os.getgid())
        (place / "passwd").write_text(f"you:x:{user}:{group}::{self._home}:/bin/sh\n")
        (place / "group").write_text(f"you:x:{group}:\n")
        yield from ("--proc", "/proc", "--dev", "/dev")
        for each in ("/tmp", "/var/tmp"):  # noqa: S108 - inside
            yield from ("--perms", "1777", "--size", str(_SCRATCH), "--tmpfs", each)
        for name in _ETC:
            yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
        if self._leave.network:
            yield from ("--ro-bind-try", _LINE, _LINE)
        for name in ("passwd", "group"):
            yield from ("--ro-bind", str(place / name), f"/etc/{name}")
        yield from ("--bind", str(own), str(self._home))


def _bound(how: str, paths: Iterable[Path]) -> Iterator[str]:
    for each in dict.fromkeys(paths):
        yield from (how, str(each), str(each))


def _git(workspace: Path) -> Iterator[str]:
    """Yield a copy of our repository for this one worktree, free to be changed.

    It is made anew for each attempt: commits in it do not count, files in the folder do.
    """
    ours, task = workspace.parent / REPOSITORY, workspace.name
    if not (ours / "worktrees" / task).is_dir():
        return
    copy, commits = aside_folder(str(workspace)) / "git", aside_folder(str(workspace)) / "commits"
    shutil.rmtree(copy, ignore_errors=True)
    # It must exist: a read-only folder may be around it.
    commits.mkdir(parents=True, exist_ok=True)
    branch = Path("refs/heads/remit", task)
    (copy / branch.parent).mkdir(parents=True)
    (copy / "objects/info").mkdir(parents=True)
    (copy / "objects/info/alternates").write_text(f"{commits}\n")
    for name in (*_KEPT, str(branch)):
        if (ours / name).is_file():
            shutil.copyfile(ours / name, copy / name)
    shutil.copytree(ours / "worktrees" / task, copy / "worktrees" / task, symlinks=True)
    yield from ("--bind", str(copy), str(ours))
    yield from ("--ro-bind", str(ours / "objects"), str(commits))
