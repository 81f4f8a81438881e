"""Where the saved work of a removed worktree is; nothing is executed."""

from pathlib import Path
from typing import Final

from msgspec import Struct

from remit.model.ids import TaskId

REPOSITORY: Final = "repo.git"  # the house's own, beside the worktrees that hang on it


class SavedWork(Struct, frozen=True):
    """Where the work of a task lies that is in no folder any more."""

    branch: str
    repo: str

    @property
    def command(self) -> str:
        """What brings it into a repository of the owner's, beside his own branches."""
        return f"git fetch {self.repo} {self.branch}:{self.branch}"


def where(root: Path, task: TaskId) -> SavedWork | None:
    """Where the work of a task was put away, by the worktrees of the house; None if it was not."""
    branch = f"remit/{task}"
    for ref in root.glob(f"*/{REPOSITORY}/refs/heads/{branch}"):
        repo = ref.parents[3]
        if not (repo.parent / task).exists():
            return SavedWork(branch, str(repo))
    return None
