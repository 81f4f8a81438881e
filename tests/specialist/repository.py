"""A real repository to work on, and git's view of it."""

import asyncio
import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from remit.model.ids import TaskId
from remit.specialist.changes import Snapshot
from remit.specialist.tree import Worktree
from remit.specialist.worktree import Worktrees

TASK = TaskId("task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA")
OTHER = TaskId("task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RB")
THEN = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
_PLAIN = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Nina",
    "GIT_AUTHOR_EMAIL": "nina@example.org",
    "GIT_COMMITTER_NAME": "Nina",
    "GIT_COMMITTER_EMAIL": "nina@example.org",
}


def git(folder: Path | str, *words: str) -> str:
    """Return git's output without any protection."""
    ran = subprocess.run(
        ["git", *words], cwd=folder, env=_PLAIN, capture_output=True, encoding="utf-8", check=True
    )
    return ran.stdout.strip()


def repository(folder: Path, files: Mapping[str, str] | None = None) -> Path:
    """Make a repository with one commit: a copy of one that is made once for these files."""
    plain = files or {"app.py": "x = 1\n", "tests/test_app.py": "assert True\n"}
    return Path(shutil.copytree(_prepared(tuple(plain.items())), folder))


@cache
def _prepared(files: tuple[tuple[str, str], ...]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="repository-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return commit(folder, dict(files))


def commit(folder: Path, files: Mapping[str, str], words: str = "more") -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", words)
    return folder


def worktrees(tmp_path: Path) -> Worktrees:
    return Worktrees(tmp_path / "home" / "worktrees", os.environ)


class Shop:
    """The owner's repository, and the worktree of a task on it."""

    def __init__(self, owners: Path, trees: Worktrees, tree: Worktree) -> None:
        self.owners = owners
        self.trees = trees
        self.tree = tree
        self.folder = Path(tree.folder)

    @classmethod
    async def open(cls, tmp_path: Path, files: Mapping[str, str] | None = None) -> "Shop":
        owners, trees = repository(tmp_path / "shop", files), worktrees(tmp_path)
        return cls(owners, trees, await trees.open(str(owners), TASK))

    async def reopen(self) -> Worktree:
        return await self.trees.open(str(self.owners), TASK)

    async def look(self) -> Snapshot:
        return await self.trees.look(self.tree)

    async def keep(self, **texts: str) -> str:
        """Write Python files by their names, by default a changed one; commit what is seen."""
        for name, text in (texts or {"app": "x = 2\n"}).items():
            (self.folder / f"{name}.py").write_text(text)
        return await self.trees.commit(self.tree, await self.look(), "Work", THEN)

    @property
    def beside(self) -> list[str]:
        """What lies beside the folder, and it."""
        return sorted(each.name for each in self.folder.parent.iterdir())


def has_ended(pid_file: Path) -> bool:
    """Whether the process whose number stands in a file has ended."""
    number = pid_file.read_text() if pid_file.exists() else ""
    try:
        return bool(number) and "\nState:\tZ" in Path(f"/proc/{number}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def time_is_up_on_call(monkeypatch: pytest.MonkeyPatch, place: str) -> Callable[[], None]:
    """Let a limit pass when the test says so, not by the clock of a busy machine."""
    begun: list[asyncio.Timeout] = []
    is_up = asyncio.Event()

    def begin(limit: float) -> asyncio.Timeout:
        del limit
        begun.append(asyncio.timeout(0 if is_up.is_set() else None))
        return begun[-1]

    def up() -> None:
        is_up.set()  # also for one that has not begun yet
        for each in begun[-1:]:
            each.reschedule(asyncio.get_running_loop().time())

    monkeypatch.setattr(place, begin)
    return up
