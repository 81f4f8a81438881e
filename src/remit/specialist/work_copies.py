"""Copies of unfinished code work in the store, so that another machine can go on with it.

A copy is a commit on the base, as a git bundle. It is made after each turn of a specialist, each
look at the folder and each commit. Where the store is a file there are none: the folder stays.
"""

import asyncio
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from remit.errors import Permanent
from remit.model.task import Task
from remit.specialist import tree as disk
from remit.specialist.tree import Worktree
from remit.specialist.worktree import Worktrees
from remit.store.database import Database
from remit.store.postgres import machines
from remit.store.postgres.machines import WorkCopy

MAX_COPY_BYTES: Final = 50_000_000


class WorkCopies:
    """Copies the folders of this machine into a database, and makes those of others anew."""

    def __init__(self, trees: Worktrees, db: Database | None) -> None:
        self._trees = trees
        self._db = db

    async def copy_folder(self, task: Task, tree: Worktree, at: datetime) -> None:
        """Copy what is in the folder now."""
        if self._db is not None:
            snapshot = await self._trees.look(tree)
            await self.copy_tree(task, tree, snapshot.tree, at)

    async def copy_tree(self, task: Task, tree: Worktree, content: str, at: datetime) -> None:
        """Copy what was seen in the folder (a git tree), unless the stored copy has it."""
        if self._db is None:
            return
        git, own_git = self._trees.git, tree.own_git
        last = await self._last_commit(tree)
        is_stored = last and last == await self._db.read(machines.work_copy_commit, task.id)
        if is_stored and content == await git.ok(own_git, "rev-parse", f"{last}^{{tree}}"):
            return
        commit = await self._trees.commit_tree(tree, content, "As it was left\n", at, tree.base)
        await self.copy_commit(task, tree, commit)

    async def copy_commit(self, task: Task, tree: Worktree, commit: str) -> None:
        """Copy a commit on the base. One that is too large is left out: others begin again."""
        if self._db is None:
            return
        git, own_git = self._trees.git, tree.own_git
        await git.ok(own_git, "update-ref", tree.copy_ref, commit)
        words = ("bundle", "create", "--quiet", "-", tree.copy_ref, f"^{tree.base}")
        bundled = await git.run(own_git, *words)
        if bundled.code:
            why = " ".join(bundled.err.split())[-200:]
            raise Permanent(f"git cannot copy {tree.folder} for other machines: {why}")
        if len(bundled.out) <= MAX_COPY_BYTES:
            copy = WorkCopy(commit, bundled.out)
            await self._db.write(machines.put_work_copy, task.id, task.lease, copy)
        else:
            await self._db.write(machines.remove_work_copy, task.id)

    async def find_here(self, tree: Worktree) -> Worktree | None:
        """Return the folder here, as it was last left; one of another machine is made anew."""
        tree = tree if self._db is None else self._trees.below_home(tree)
        return tree if await self._is_here(tree) else None

    async def _is_here(self, tree: Worktree) -> bool:
        complete = await asyncio.to_thread(disk.is_complete, tree)
        if self._db is None:
            return complete
        left_at = await self._db.read(machines.work_copy_commit, tree.task_id)
        if left_at is None or left_at == await self._last_commit(tree):
            return complete
        copy = await self._db.read(machines.get_work_copy, tree.task_id)
        if copy is None:  # the task has ended meanwhile
            return complete
        return await self._replace(tree, copy)

    async def take_up(self, tree: Worktree) -> Worktree:
        """Return an opened folder as it was last left, which may have been on another machine."""
        copy = (
            None if self._db is None else await self._db.read(machines.get_work_copy, tree.task_id)
        )
        if copy is None or copy.commit == await self._last_commit(tree):
            return tree
        left = replace(tree, base=_base_of(copy))
        if await self._replace(left, copy):
            return left
        return await self._trees.open(tree.checkout, tree.task_id)

    async def _replace(self, tree: Worktree, copy: WorkCopy) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            bundle = Path(folder, "work.bundle")
            await asyncio.to_thread(bundle.write_bytes, copy.bundle)
            return await self._trees.replace_by(tree, bundle)

    async def remove(self, tree: Worktree) -> None:
        if self._db is not None:
            await self._db.write(machines.remove_work_copy, tree.task_id)

    async def _last_commit(self, tree: Worktree) -> str | None:
        """Return the commit of the last copy that was made or read on this machine."""
        if not await asyncio.to_thread(Path(tree.repo).is_dir):
            return None
        words = ("rev-parse", "--quiet", "--verify", tree.copy_ref)
        found = await self._trees.git.run(tree.own_git, *words)
        return None if found.code else found.text


def _base_of(copy: WorkCopy) -> str:
    """Return the commit that a copy builds on: the head of a bundle names it behind a minus."""
    head = copy.bundle.partition(b"\n\n")[0].splitlines()
    return next(line[1:].split()[0].decode() for line in head if line.startswith(b"-"))
