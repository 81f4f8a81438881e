"""Bringing work back: a step of its own that fits or is refused, and never does harm."""

from collections.abc import Callable
from pathlib import Path

import pytest

from remit.specialist import specialist_pool as merging
from remit.specialist.specialist_pool import MergeResult, merge
from remit.specialist.tree import Worktree
from remit.specialist.worktree import Worktrees
from tests.specialist.repository import TASK, THEN, commit, git, repository, worktrees


async def worked(
    tmp_path: Path, files: dict[str, str] | None = None
) -> tuple[Worktrees, Worktree, str, Path]:
    """A repository, a task's work on it, and the commit that holds it."""
    owners, trees = repository(tmp_path / "shop"), worktrees(tmp_path)
    tree = await trees.open(str(owners), TASK)
    for name, text in (files or {"app.py": "x = 2\n"}).items():
        (Path(tree.folder) / name).write_text(text)
    made = await trees.commit(tree, await trees.look(tree), "Work", THEN)
    return trees, tree, made, owners


async def test_work_on_the_newest_commit_moves_the_branch_forward(tmp_path: Path) -> None:
    trees, tree, made, owners = await worked(tmp_path)

    assert await merge(trees, tree, made, THEN) == MergeResult("main")
    assert (owners / "app.py").read_text() == "x = 2\n"
    assert git(owners, "rev-parse", "main") == made
    assert git(owners, "status", "--porcelain") == ""
    assert git(owners, "for-each-ref", "--format=%(refname)") == "refs/heads/main"


async def test_doing_it_twice_changes_nothing(tmp_path: Path) -> None:
    trees, tree, made, owners = await worked(tmp_path)
    first = await merge(trees, tree, made, THEN)

    assert await merge(trees, tree, made, THEN) == first
    commit(owners, {"later.py": "y = 1\n"})
    later = git(owners, "rev-parse", "HEAD")
    assert await merge(trees, tree, made, THEN) == MergeResult("main", joined=True)
    assert git(owners, "rev-parse", "HEAD") == later


async def test_work_beside_the_owners_own_is_joined_with_it(tmp_path: Path) -> None:
    trees, tree, made, owners = await worked(tmp_path)
    commit(owners, {"other.py": "y = 1\n"})
    head = git(owners, "rev-parse", "HEAD")

    merged = await merge(trees, tree, made, THEN)

    assert merged == MergeResult("main", joined=True)
    assert git(owners, "log", "-1", "--format=%P") == f"{head} {made}"
    assert (owners / "app.py").read_text() == "x = 2\n"
    assert (owners / "other.py").read_text() == "y = 1\n"


async def test_work_that_does_not_fit_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    trees, tree, made, owners = await worked(tmp_path)
    commit(owners, {"app.py": "x = 7\n"})
    head = git(owners, "rev-parse", "HEAD")

    refused = await merge(trees, tree, made, THEN)

    assert refused == MergeResult(
        why="The work does not fit with what changed since (app.py); redo it."
    )
    assert git(owners, "rev-parse", "HEAD") == head
    assert git(owners, "status", "--porcelain") == ""


def _dirty(owners: Path) -> None:
    (owners / "app.py").write_text("x = 5\n")


def _staged(owners: Path) -> None:
    (owners / "new.py").write_text("new\n")
    git(owners, "add", "new.py")


def _detached(owners: Path) -> None:
    git(owners, "checkout", "--quiet", "--detach")


def _rebasing(owners: Path) -> None:
    (owners / ".git" / "rebase-merge").mkdir()


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_dirty, "not committed (app.py); commit"),
        (_staged, "not committed (new.py)"),
        (_detached, "No branch is checked out"),
        (_rebasing, "A rebase is under way"),
    ],
)
async def test_a_checkout_in_the_middle_of_something_is_left_alone(
    tmp_path: Path, spoil: Callable[[Path], None], why: str
) -> None:
    trees, tree, made, owners = await worked(tmp_path)
    spoil(owners)
    before = (owners / "app.py").read_text(), git(owners, "rev-parse", "HEAD")

    refused = await merge(trees, tree, made, THEN)

    assert not refused.branch
    assert why in refused.why
    assert before == ((owners / "app.py").read_text(), git(owners, "rev-parse", "HEAD"))


async def test_a_file_of_the_owner_that_git_does_not_know_is_not_overwritten(
    tmp_path: Path,
) -> None:
    trees, tree, made, owners = await worked(tmp_path, {"notes.txt": "theirs\n"})
    (owners / "notes.txt").write_text("mine\n")

    refused = await merge(trees, tree, made, THEN)

    assert not refused.branch
    assert "notes.txt" in refused.why
    assert (owners / "notes.txt").read_text() == "mine\n"


async def test_a_branch_can_be_handed_over_without_touching_the_checkout(tmp_path: Path) -> None:
    trees, tree, made, owners = await worked(tmp_path)

    name = await merging.publish(trees, tree)

    assert git(owners, "rev-parse", name) == made
    assert (owners / "app.py").read_text() == "x = 1\n"
    assert git(owners, "branch", "--show-current") == "main"
