"""Merges a task's branch into the owner's checkout, as a step after the owner's decision.

The merge is computed in Remit's own repository, where no drivers run and nothing of the owner's is
touched. Only a result that applies cleanly goes to the checkout, as a fast-forward.
"""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from remit.model.codec import first_few
from remit.specialist.tree import Worktree
from remit.specialist.worktree import Worktrees
from remit.system.git import GitLocation

_CONFLICT: Final = 1  # how `git merge-tree` ends when two sides do not fit
_NAMED: Final = 5
_UNDER_WAY: Final = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisection",
}


class MergedWork(Struct, frozen=True):
    """The work is on the owner's branch."""

    commit: str
    branch: str


class MergeRefused(Struct, frozen=True):
    """Nothing was changed; why, and what to do."""

    why: str


Merge: TypeAlias = MergedWork | MergeRefused


async def merge(trees: Worktrees, tree: Worktree, commit: str, at: datetime) -> Merge:
    """Fast-forward the owner's checked-out branch to a task's commit.

    Repeating it changes nothing.
    """
    git = trees.git
    owners = await git.guarded(tree.checkout)
    branch = await git.run(owners, "symbolic-ref", "--quiet", "HEAD")
    if branch.code:
        return MergeRefused(f"No branch is checked out in {tree.checkout}; check one out.")
    busy = await _busy(trees, tree, owners)
    if busy:
        return MergeRefused(busy)
    head = await git.ok(owners, "rev-parse", "HEAD")
    await trees.fetch(tree.repo, tree.checkout, head)
    target = await _target(trees, tree, head, commit, at)
    if isinstance(target, MergeRefused):
        return target
    return await _forward(trees, tree, owners, target, branch.text)


async def fits(trees: Worktrees, tree: Worktree, at: datetime) -> bool:
    """Whether the folder's content can still be merged with the owner's current state."""
    git = trees.git
    owners = await git.guarded(tree.checkout)
    head = await git.ok(owners, "rev-parse", "HEAD")
    if head == tree.base:
        return True
    snapshot = await trees.look(tree)
    await trees.fetch(tree.repo, tree.checkout, head)
    work = await trees.commit_tree(tree, snapshot.tree, "as it stands\n", at, tree.base)
    return not isinstance(await _target(trees, tree, head, work, at), MergeRefused)


async def publish(trees: Worktrees, tree: Worktree) -> str:
    """Put the task's branch into the owner's repository beside the owner's branches; its name.

    For owners who continue by hand: their folder and branches stay as they are.
    """
    owners = await trees.git.guarded(tree.checkout)
    words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", tree.repo)
    await trees.git.ok(owners, *words, f"+{tree.ref}:{tree.ref}")
    return tree.branch


async def _busy(trees: Worktrees, tree: Worktree, owners: GitLocation) -> str:
    """Return why the owner's checkout may not be moved."""
    git_dir = await trees.git.ok(owners, "rev-parse", "--absolute-git-dir")
    for name, what in _UNDER_WAY.items():
        if await asyncio.to_thread(Path(git_dir, name).exists):
            return f"{what.capitalize()} is under way in {tree.checkout}; end it first."
    words = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=no")
    result = await trees.git.run(owners, *words, "--ignore-submodules=all")
    dirty = [line[3:] for line in result.out.decode("utf-8", "replace").split("\0") if line]
    if not dirty:
        return ""
    files = first_few(dirty, _NAMED)
    return f"{tree.checkout} has changes that are not committed ({files}); commit them first."


async def _target(
    trees: Worktrees, tree: Worktree, head: str, commit: str, at: datetime
) -> str | MergeRefused:
    """Return the commit to move to: the work itself, or a merge with the owner's."""
    git, house = trees.git, tree.house
    ancestor = ("merge-base", "--is-ancestor")
    if not (await git.run(house, *ancestor, commit, head)).code:
        return head
    if not (await git.run(house, *ancestor, head, commit)).code:
        return commit
    result = await git.run(house, "merge-tree", "--write-tree", "--name-only", "-z", head, commit)
    whole, *names = result.out.decode("utf-8", "surrogateescape").split("\0")
    if result.code == _CONFLICT:
        unmet = names[: names.index("")] if "" in names else names
        return MergeRefused(
            f"The work does not fit with what changed since ({first_few(unmet, _NAMED)}); redo it."
        )
    if result.code:
        why = " ".join(result.err.split())[-200:]
        return MergeRefused(f"The work cannot be merged; it needs git 2.38 or newer: {why}")
    return await trees.commit_tree(tree, whole, f"Merge {tree.branch}\n", at, head, commit)


async def _forward(
    trees: Worktrees, tree: Worktree, owners: GitLocation, target: str, branch: str
) -> Merge:
    ref = f"refs/remit/merge/{tree.task_id}"
    await trees.git.ok(tree.house, "update-ref", ref, target)
    words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", tree.repo)
    await trees.git.ok(owners, *words, f"+{ref}:{ref}")
    result = await trees.git.run(owners, "merge", "--ff-only", "--quiet", "--no-stat", target)
    await trees.git.run(owners, "update-ref", "-d", ref)
    if result.code:
        why = " ".join(result.err.split())[-300:]
        return MergeRefused(f"git did not take the work into {tree.checkout}: {why}")
    return MergedWork(target, branch.removeprefix("refs/heads/"))
