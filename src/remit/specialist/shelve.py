"""Removes the worktree of an ended task and keeps its work.

Everything in the folder that git does not ignore becomes a commit on the task's branch in Remit's
own repository. Doing it twice changes nothing.
"""

from datetime import datetime

from msgspec.structs import replace

from remit.failpoint import failpoint
from remit.specialist import tree as disk
from remit.specialist.tree import Worktree
from remit.specialist.worktree import Worktrees


async def shelve(trees: Worktrees, tree: Worktree, at: datetime) -> str | None:
    """Leave a branch in place of a folder; its commit, or None if there was nothing to keep."""
    kept = await _commit_leftovers(trees, tree, at)
    failpoint("shelved")
    if kept is None:
        await trees.remove(tree)
    else:
        await trees.clear(tree)
    return kept


async def _commit_leftovers(trees: Worktrees, tree: Worktree, at: datetime) -> str | None:
    if not disk.is_complete(tree) or not tree.base:
        # Nobody has worked in it: it was never made whole, or is gone already.
        return await _tip(trees, tree) if tree.base else None
    seen = await trees.look(tree)
    tip = await _tip(trees, tree)
    if tip is not None and seen.tree == await trees.git.ok(
        tree.house, "rev-parse", "--verify", f"{tip}^{{tree}}"
    ):
        return tip
    if not seen.changes:
        return None
    # What could not be taken over may be kept: nobody checks it out by accident.
    return await trees.commit(tree, replace(seen, refused=()), "As it was left\n", at)


async def _tip(trees: Worktrees, tree: Worktree) -> str | None:
    """Return the commit on the task's branch, if it is not the base."""
    said = await trees.git.run(tree.house, "rev-parse", "--verify", "--quiet", tree.ref)
    return None if said.code or said.text == tree.base else said.text
