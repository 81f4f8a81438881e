"""Code work: a job in its own git worktree becomes a claim.

Here: finds the work of a task after its folder was removed, without loading git.
"""

from pathlib import Path
from typing import Final

from msgspec import Struct

from remit.model.ids import TaskId

REPOSITORY: Final = "repo.git"  # Remit's own repository, beside its worktrees


class SavedWork(Struct, frozen=True):
    """Where the work of a task is after its folder was removed."""

    branch: str
    repo: str

    @property
    def command(self) -> str:
        """The git command that fetches it into the owner's repository, as a branch."""
        return f"git fetch {self.repo} {self.branch}:{self.branch}"


def find_saved_work(root: Path, task: TaskId) -> SavedWork | None:
    """Return where the work of a task was saved; None if it was not."""
    branch = f"remit/{task}"
    for ref in root.glob(f"*/{REPOSITORY}/refs/heads/{branch}"):
        repo = ref.parents[3]
        if not (repo.parent / task).exists():
            return SavedWork(branch, str(repo))
    return None
