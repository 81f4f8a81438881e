"""A git worktree for each task, under Remit's home; when the task ends, its work becomes a branch.

It belongs to a copy of the owner's repository without remotes, hooks or drivers, so a push, a reset
or a changed setting stays there. Only the files in the folder count: they are compared with the
base through an index of ours, whatever a specialist committed, staged or hid.
"""

import asyncio
import hashlib
import os
import re
import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from remit.errors import BadInput, Conflict, NotFound, Permanent
from remit.failpoint import failpoint
from remit.model.ids import TaskId, task_id
from remit.specialist import REPOSITORY, changes
from remit.specialist import tree as disk
from remit.specialist.changes import Snapshot
from remit.specialist.tree import SHA, Worktree
from remit.system.background import LocksByKey
from remit.system.git import Git, GitLocation

MAX_CHANGED_BYTES: Final = 200_000_000  # of all files that changed
MAX_CHANGED_FILES: Final = 20_000  # that changed
MAX_DIFF_BYTES: Final = 2_000_000  # bytes that are shown


class Worktrees:
    """All worktrees of Remit; one process holds them at a time."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self._root = root.resolve()
        self.git = Git(environ)
        self._locks: LocksByKey[str] = LocksByKey()
        self._unlocked: set[str] = set()

    async def open(self, checkout: str, task: TaskId, base: str | None = None) -> Worktree:
        """Return the worktree of a task: as it was left, or new from the base or HEAD.

        A half-made one of a dead process is discarded and made again.
        """
        owners = await self._owner_repository(checkout)
        repo = self._repository_of(owners)
        async with self._locks[repo]:
            await self._ensure_repository(repo, owners)
            recorded = await asyncio.to_thread(disk.recorded_base, repo, task)
            wanted = recorded or await self._fetch_base(repo, owners, base)
            tree = Worktree(
                task_id(task), f"{Path(repo).parent}/{task}", wanted, repo, owners.folder
            )
            whole: bool = recorded is not None and await asyncio.to_thread(disk.is_complete, tree)
            if not whole:
                await self._create(tree)
            await asyncio.to_thread(disk.repair, tree)
        return tree

    async def look(self, tree: Worktree) -> Snapshot:
        """Return the folder's current state, compared with the base, without changing it."""
        await asyncio.to_thread(disk.repair, tree)
        where, git = tree.inside, self.git
        await git.ok(where, "read-tree", tree.base)
        await self._check_room(tree)
        refused = await self._add_all(tree)
        whole = await git.ok(where, "write-tree")
        found = await self._changed_files(tree, whole)
        targets = {
            c.path: await self._link_target(tree, c.hash) for c in found if c.mode == changes.LINK
        }
        refused += changes.refusals(found, targets)
        return Snapshot(whole, found, await self.diff(tree, whole), refused)

    async def commit(self, tree: Worktree, snapshot: Snapshot, words: str, at: datetime) -> str:
        """Commit exactly what was seen to the task's branch, on the base.

        The same snapshot at the same moment gives the same commit, so repeating is safe.
        """
        if snapshot.refused:
            raise Conflict(
                f"The work of {tree.task_id} cannot be kept. {' '.join(snapshot.refused)}"
            )
        made = await self.commit_tree(tree, snapshot.tree, words, at, tree.base)
        await self.git.ok(tree.own_git, "update-ref", tree.ref, made)
        # The next specialist in this folder must not find changes staged by us.
        await self.git.ok(replace(tree.inside, index=None), "read-tree", made)
        return made

    async def commit_tree(
        self, tree: Worktree, whole: str, words: str, at: datetime, *parents: str
    ) -> str:
        """Make a commit in Remit's own repository, on no branch."""
        when = {"GIT_AUTHOR_DATE": at.isoformat(), "GIT_COMMITTER_DATE": at.isoformat()}
        named = (word for parent in parents for word in ("-p", parent))
        return await self.git.ok(
            tree.own_git, "commit-tree", whole, *named, stdin=words.encode(), also=when
        )

    async def remove(self, tree: Worktree) -> None:
        """Remove a task's worktree completely; what was merged stays with the owner."""
        async with self._locks[tree.repo]:
            await asyncio.to_thread(disk.forget_base, tree)
            await asyncio.to_thread(disk.remove_folders, tree)
            for ref in (tree.ref, tree.copy_ref):
                await self.git.run(tree.own_git, "update-ref", "-d", ref)

    async def clear(self, tree: Worktree) -> None:
        """Remove the folder; the branch stays and can be opened again."""
        async with self._locks[tree.repo]:
            await asyncio.to_thread(disk.remove_folders, tree)

    def below_home(self, tree: Worktree) -> Worktree:
        """Return where a worktree is on this machine; Remit's home may lie elsewhere here."""
        place = self._root / Path(tree.repo).parent.name
        return replace(tree, folder=str(place / tree.task_id), repo=str(place / REPOSITORY))

    async def replace_by(self, tree: Worktree, bundle: Path) -> bool:
        """Make a folder anew from a bundle of its copy; False if its base is not on this machine.

        The owner's repository must lie at the same path as where it was made.
        """
        try:
            owners = await self._owner_repository(tree.checkout)
            if tree.repo != self._repository_of(owners):
                return False
            async with self._locks[tree.repo]:
                await self._ensure_repository(tree.repo, owners)
                await self._fetch_base(tree.repo, owners, tree.base)
                await asyncio.to_thread(disk.forget_base, tree)
                await asyncio.to_thread(disk.remove_folders, tree)
                words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", str(bundle))
                refs = (f"+{tree.copy_ref}:{to}" for to in (tree.copy_ref, tree.ref))
                await self.git.ok(tree.own_git, *words, *refs)
        except (BadInput, NotFound):  # no such folder here, or not that commit
            return False
        return await self.open(tree.checkout, tree.task_id, tree.base) == tree

    async def standing(self) -> list[Worktree]:
        """Return every worktree, including half-made ones of dead processes."""
        return await asyncio.to_thread(disk.list_worktrees, self._root)

    # Making one -----------------------------------------------------------------------------------

    def _repository_of(self, owners: GitLocation) -> str:
        return str(self._root / _name(owners.folder) / REPOSITORY)

    async def _owner_repository(self, checkout: str) -> GitLocation:
        folder = await asyncio.to_thread(os.path.realpath, checkout)
        if not await asyncio.to_thread(os.path.isdir, folder):
            raise NotFound("folder", checkout)
        where = await self.git.guarded(folder)
        top = await self.git.run(where, "rev-parse", "--show-toplevel")
        if top.code and "dubious ownership" in top.err:
            raise BadInput(f"{checkout} belongs to somebody else; name a repository of your own.")
        if top.code or top.text != folder:
            raise BadInput(f"{checkout} is not the top folder of a git repository; name that.")
        if self._root.is_relative_to(folder):
            raise BadInput(f"Remit's directory lies in {checkout}; worktrees cannot stand there.")
        return where

    async def _ensure_repository(self, repo: str, owners: GitLocation) -> None:
        """Create Remit's repository if missing, and restore its settings."""
        form = await self.git.ok(owners, "rev-parse", "--show-object-format")
        if not await asyncio.to_thread(Path(repo, "HEAD").exists):
            half = Path(f"{repo}.half")
            await asyncio.to_thread(shutil.rmtree, half, ignore_errors=True)
            await asyncio.to_thread(half.mkdir, 0o700, parents=True)
            words = ("init", "--bare", "--quiet", "--template=", f"--object-format={form}", ".")
            await self.git.ok(GitLocation(str(half)), *words)
            await asyncio.to_thread(half.rename, repo)
        if repo not in self._unlocked:
            await asyncio.to_thread(disk.remove_locks, Path(repo))
            self._unlocked.add(repo)
        await asyncio.to_thread(disk.configure, Path(repo), form)

    async def _fetch_base(self, repo: str, owners: GitLocation, base: str | None) -> str:
        """Return the base commit, fetched into Remit's repository."""
        named = f"{base or 'HEAD'}^{{commit}}"
        found = await self.git.run(
            owners, "rev-parse", "--verify", "--quiet", "--end-of-options", named
        )
        sha = found.text
        if found.code or not SHA.fullmatch(sha):
            what = f"no commit {base!r:.60}" if base else "no commit yet"
            raise BadInput(f"{owners.folder} has {what}; work begins from one.")
        await self.fetch(repo, owners.folder, sha)
        return sha

    async def fetch(self, repo: str, source: str, sha: str) -> None:
        """Copy a commit and its history between repositories on this machine."""
        where = GitLocation(repo, git_dir=repo)
        if not (await self.git.run(where, "cat-file", "-e", f"{sha}^{{commit}}")).code:
            return
        any_sha = "git -c uploadpack.allowAnySHA1InWant=true upload-pack"
        words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--update-shallow")
        await self.git.ok(
            where, *words, f"--upload-pack={any_sha}", source, f"{sha}:refs/remit/{sha}"
        )

    async def _create(self, tree: Worktree) -> None:
        await asyncio.to_thread(disk.remove_folders, tree)
        tip = await self.git.run(tree.own_git, "rev-parse", "--verify", "--quiet", tree.ref)
        start = tree.base if tip.code else tip.text
        words = ("worktree", "add", "--quiet", "--force", "--no-track", "-B", tree.branch)
        failpoint("worktree")
        await self.git.ok(tree.own_git, *words, tree.folder, start)
        failpoint("worktree_made")
        await asyncio.to_thread(disk.record_base, tree)

    # Looking at one -------------------------------------------------------------------------------

    async def _check_room(self, tree: Worktree) -> None:
        """Check the size of changes before reading them."""
        words = ("ls-files", "-z", "--modified", "--others", "--exclude-standard", "--deduplicate")
        result = await self.git.run(tree.inside, *words)
        names = [name for name in result.out.split(b"\0") if name]
        if len(names) > MAX_CHANGED_FILES:
            raise Conflict(
                f"{len(names)} files changed; at most {MAX_CHANGED_FILES} are taken over."
            )
        size = await asyncio.to_thread(disk.total_size, os.fsencode(tree.folder), names)
        if size > MAX_CHANGED_BYTES:
            most = MAX_CHANGED_BYTES // 1_000_000
            raise Conflict(
                f"The changed files have {size} bytes; at most {most} MB are taken over."
            )

    async def _add_all(self, tree: Worktree) -> tuple[str, ...]:
        """Add everything in the folder to our index; return why something could not be added."""
        listed = await self.git.run(tree.inside, "ls-files", "-z", "--stage")
        entries = listed.out.decode("utf-8", "surrogateescape").split("\0")
        # git would run inside them, with their settings, to see whether they changed.
        inner = [e.partition("\t")[2] for e in entries if e.startswith(changes.REPOSITORY)]
        apart = [f":(top,exclude,literal){path}" for path in inner]
        filled = await asyncio.to_thread(disk.filled_submodules, tree, inner)
        refused = tuple(changes.is_repository(path) for path in filled)
        result = await self.git.run(tree.inside, "add", "--all", "--", ":/", *apart)
        if not result.code:
            return refused
        why = " ".join(result.err.split())[-200:]
        return (*refused, f"Not everything in the folder can be kept: {why}.")

    async def _changed_files(self, tree: Worktree, whole: str) -> tuple[changes.FileChange, ...]:
        words = ("diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", tree.base, whole)
        result = await self.git.run(tree.own_git, *words)
        if result.code:
            raise Permanent(
                f"git cannot compare {tree.folder}: {' '.join(result.err.split())[-200:]}"
            )
        return changes.parse_changes(result.out)

    async def _link_target(self, tree: Worktree, sha: str) -> str:
        """Return exactly where a link leads."""
        result = await self.git.run(tree.own_git, "cat-file", "blob", sha)
        return result.out.decode("utf-8", "surrogateescape")

    async def diff(self, tree: Worktree, whole: str) -> str:
        """Return how a tree differs from the base."""
        words = ("diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color")
        result = await self.git.run(tree.own_git, *words, tree.base, whole)
        text = result.out[:MAX_DIFF_BYTES].decode("utf-8", "replace")
        left_out = len(result.out) - MAX_DIFF_BYTES
        return f"{text}\n… ({left_out} bytes left out)\n" if left_out > 0 else text


def _name(checkout: str) -> str:
    """Return a unique name for a repository of the owner."""
    name = re.sub(r"[^\w.-]", "-", Path(checkout).name).lstrip(".-")[:40] or "repository"
    digest = hashlib.sha256(os.fsencode(checkout)).hexdigest()[:12]
    return f"{name}-{digest}"


async def shelve(trees: Worktrees, tree: Worktree, at: datetime) -> str | None:
    """Leave a branch in place of a folder; its commit, or None if there was nothing to keep.

    Everything in the folder that git does not ignore becomes a commit on the task's branch in
    Remit's own repository. Doing it twice changes nothing.
    """
    saved = await _commit_leftovers(trees, tree, at)
    failpoint("shelved")
    if saved is None:
        await trees.remove(tree)
    else:
        await trees.clear(tree)
    return saved


async def _commit_leftovers(trees: Worktrees, tree: Worktree, at: datetime) -> str | None:
    if not disk.is_complete(tree) or not tree.base:
        # Nobody has worked in it: it was never made whole, or is gone already.
        return await _tip(trees, tree) if tree.base else None
    snapshot = await trees.look(tree)
    tip = await _tip(trees, tree)
    if tip is not None and snapshot.tree == await trees.git.ok(
        tree.own_git, "rev-parse", "--verify", f"{tip}^{{tree}}"
    ):
        return tip
    if not snapshot.changes:
        return None
    # What could not be taken over may be kept: nobody checks it out by accident.
    return await trees.commit(tree, replace(snapshot, refused=()), "As it was left\n", at)


async def _tip(trees: Worktrees, tree: Worktree) -> str | None:
    """Return the commit on the task's branch, if it is not the base."""
    result = await trees.git.run(tree.own_git, "rev-parse", "--verify", "--quiet", tree.ref)
    return None if result.code or result.text == tree.base else result.text
