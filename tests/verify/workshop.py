"""Shared by the tests of checks: repositories, a small Python with pytest, and a sandbox."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from remit.model.contract import Criterion, Finding
from remit.testing import START, FrozenClock
from remit.verify import project, project_files
from remit.verify.command import CommandCheck
from remit.verify.project_files import Toolchain
from remit.verify.sandbox import Sandbox, SandboxFiles, SandboxLimits, SandboxRefusal, SandboxResult
from remit.verify.suite_runs import SuiteTerms

SMALL: Final = SandboxLimits(seconds=60, memory=512, room=64, scratch=32, file=32)
PYTHON: Final = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
_PYTEST: Final = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")
_GIT: Final = shutil.which("git") or "git"  # a test may remove the path


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def repository(folder: Path, files: Mapping[str, str]) -> Path:
    """A git repository with one commit: a copy of one that is made once for these files."""
    shutil.copytree(_prepared(tuple(files.items())), folder, dirs_exist_ok=True)
    return folder


@cache
def _prepared(files: tuple[tuple[str, str], ...]) -> Path:
    folder = write(_folder("repository-"), dict(files))
    git(folder, "init", "--quiet")
    commit(folder)
    return folder


def _folder(prefix: str) -> Path:
    """Return a folder that is removed with this process."""
    root = Path(tempfile.mkdtemp(prefix=prefix))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    root.chmod(0o755)
    return root


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "as it was")


def git(folder: Path, *words: str) -> str:
    me = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(
        (_GIT, *me, *words), cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


def seen(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder, including git's own."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


async def run(
    argv: Sequence[str], workspace: Path, limits: SandboxLimits = SMALL, archive: Path | None = None
) -> SandboxResult | SandboxRefusal:
    """Run a command in a sandbox on a copy of a folder."""
    files = archive or workspace.with_name(f"{workspace.name}.tar")
    project_files.pack(workspace, files, instead={}, room=limits.room)
    shown = Toolchain(workspace, {"HOME": str(Path.home())}).needed_folders(PYTHON)
    return await Sandbox(limits).run(argv, SandboxFiles(files, workspace, shown))


async def ended(
    argv: Sequence[str], workspace: Path, limits: SandboxLimits = SMALL
) -> SandboxResult:
    found = await run(argv, workspace, limits)
    assert isinstance(found, SandboxResult), found
    return found


def packed(workspace: Path, instead: Mapping[str, bytes | None] | None = None) -> bytes:
    with tempfile.NamedTemporaryFile() as into:
        project_files.pack(workspace, Path(into.name), instead=instead or {}, room=64)
        return into.read()


def environ() -> dict[str, str]:
    """Return a PATH with a Python that starts fast, then this environment's tools."""
    here = str(Path(sys.executable).parent)
    return {"PATH": f"{lean() / 'bin'}:{here}:{os.environ['PATH']}", "HOME": str(Path.home())}


@cache
def lean() -> Path:
    """Return a virtual environment with only pytest: no plugin is loaded."""
    root = _folder("lean-")
    packages = root / f"lib/python3.{sys.version_info.minor}/site-packages"
    (root / "bin").mkdir()
    alone = "include-system-site-packages = false"  # or plugins of this machine are loaded
    (root / "pyvenv.cfg").write_text(f"home = {PYTHON.parent}\n{alone}\n")
    (root / "bin/python").symlink_to(PYTHON)
    starter = root / "bin/pytest"
    starter.write_text(f"#!{root}/bin/python\nfrom pytest import console_main\nconsole_main()\n")
    starter.chmod(0o755)
    installed = Path(pytest.__file__).parents[1]
    version = next(installed.glob("pluggy-*.dist-info")).name  # pytest prints it
    for name in (*_PYTEST, version):
        shutil.copytree(installed / name, packages / name)
    shutil.copy2(installed / "py.py", packages)
    return root


def check(
    place: Path,
    *,
    workspace: Path | None = None,
    given: Mapping[str, tuple[str, ...]] | None = None,  # one command for each activity
    terms: SuiteTerms = SuiteTerms(),  # noqa: B008 - frozen
    limits: SandboxLimits = SMALL,
) -> CommandCheck:
    ways = project.read_commands(
        place,
        environ=environ(),
        given={name: (argv,) for name, argv in (given or {}).items()},
        base=terms.base,
        workspace=workspace,
    )
    return CommandCheck(ways, Sandbox(limits), FrozenClock(START), terms=terms)


async def found(
    place: Path,
    activity: str,
    pattern: str | None = None,
    *,
    given: Mapping[str, tuple[str, ...]] | None = None,
    terms: SuiteTerms = SuiteTerms(),  # noqa: B008 - frozen
    limits: SandboxLimits = SMALL,
) -> Finding:
    checks = check(place, given=given, terms=terms, limits=limits)
    return await checks.prove(Criterion(activity, "as asked", pattern), str(place))
