"""Where code work happens: a folder for each task, who works in it, the result and its merge.

How far a piece of work has come follows from stored records alone, so a leg after a crash or a long
wait continues exactly there. A merge into the owner's checkout is computed in Remit's own
repository, where no drivers run; only a result that applies cleanly goes there, as a fast-forward.
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.codec import first_few
from remit.model.contract import Contract, ContractType, Verdict
from remit.model.reply import (
    PROJECT,
    AttemptOutcome,
    Policy,
    SpecialistAttempt,
    SpecialistClaim,
    SpecialistJob,
    ToolCall,
)
from remit.model.task import Creator, Task
from remit.ports import Clock, OnText, Specialist
from remit.specialist import chain, changes, checkpoint
from remit.specialist.chain import Exhausted, NewSession, Next, NextAgent, RetryAgent
from remit.specialist.changes import Snapshot
from remit.specialist.checkpoint import Checkpoint, CheckpointCause, FileState
from remit.specialist.tree import Worktree
from remit.specialist.work_copies import WorkCopies
from remit.specialist.worktree import Worktrees
from remit.store.database import Database
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


class MergeResult(Struct, frozen=True):
    """The owner's branch that now has the work; else why none has."""

    branch: str = ""
    why: str = ""
    joined: bool = False  # merged with the owner's later changes: the two were not checked together


async def merge(trees: Worktrees, tree: Worktree, commit: str, at: datetime) -> MergeResult:
    """Fast-forward the owner's checked-out branch to a task's commit.

    Repeating it changes nothing.
    """
    git = trees.git
    owners = await git.guarded(tree.checkout)
    branch = await git.run(owners, "symbolic-ref", "--quiet", "HEAD")
    if branch.code:
        return MergeResult(why=f"No branch is checked out in {tree.checkout}; check one out.")
    busy = await _busy(trees, tree, owners)
    if busy:
        return MergeResult(why=busy)
    head = await git.ok(owners, "rev-parse", "HEAD")
    await trees.fetch(tree.repo, tree.checkout, head)
    target = await _target(trees, tree, head, commit, at)
    if isinstance(target, MergeResult):
        return target
    why = await _forward(trees, tree, owners, target)
    name = "" if why else branch.text.removeprefix("refs/heads/")
    return MergeResult(name, why, joined=not why and target != commit)


async def can_merge(trees: Worktrees, tree: Worktree, at: datetime) -> bool:
    """Whether the folder's content can still be merged with the owner's current state."""
    git = trees.git
    owners = await git.guarded(tree.checkout)
    head = await git.ok(owners, "rev-parse", "HEAD")
    if head == tree.base:
        return True
    snapshot = await trees.look(tree)
    await trees.fetch(tree.repo, tree.checkout, head)
    work = await trees.commit_tree(tree, snapshot.tree, "as it stands\n", at, tree.base)
    return not isinstance(await _target(trees, tree, head, work, at), MergeResult)


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
) -> str | MergeResult:
    """Return the commit to move to: the work itself, or a merge with the owner's."""
    git, own_git = trees.git, tree.own_git
    ancestor = ("merge-base", "--is-ancestor")
    if not (await git.run(own_git, *ancestor, commit, head)).code:
        return head
    if not (await git.run(own_git, *ancestor, head, commit)).code:
        return commit
    result = await git.run(own_git, "merge-tree", "--write-tree", "--name-only", "-z", head, commit)
    whole, *names = result.out.decode("utf-8", "surrogateescape").split("\0")
    if result.code == _CONFLICT:
        unmet = names[: names.index("")] if "" in names else names
        files = first_few(unmet, _NAMED)
        return MergeResult(why=f"The work does not fit with what changed since ({files}); redo it.")
    if result.code:
        why = " ".join(result.err.split())[-200:]
        return MergeResult(why=f"The work cannot be merged; it needs git 2.38 or newer: {why}")
    return await trees.commit_tree(tree, whole, f"Merge {tree.branch}\n", at, head, commit)


async def _forward(trees: Worktrees, tree: Worktree, owners: GitLocation, target: str) -> str:
    """Move the owner's branch; return why git did not."""
    ref = f"refs/remit/merge/{tree.task_id}"
    await trees.git.ok(tree.own_git, "update-ref", ref, target)
    words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", tree.repo)
    await trees.git.ok(owners, *words, f"+{ref}:{ref}")
    result = await trees.git.run(owners, "merge", "--ff-only", "--quiet", "--no-stat", target)
    await trees.git.run(owners, "update-ref", "-d", ref)
    if result.code:
        why = " ".join(result.err.split())[-300:]
        return f"git did not take the work into {tree.checkout}: {why}"
    return ""


PREFIX: Final = PROJECT
DEFAULT_TIME_LIMIT_SECONDS: Final = 1800  # seconds that one try may take, if nobody says otherwise
_CAUSES: Final = {
    AttemptOutcome.RATE_LIMIT: CheckpointCause.RATE_LIMIT,
    AttemptOutcome.CONTEXT_OVERFLOW: CheckpointCause.CONTEXT_LIMIT,
    AttemptOutcome.NEEDS_OWNER: CheckpointCause.MANUAL,
}


class ProjectSpecialists(Struct, frozen=True):
    """A project: its folder, and who may work on it, in order."""

    path: str
    chain: tuple[str, ...] = ()
    chains: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by kind of work


class SpecialistTurn(Struct, frozen=True):
    agent: str
    claim: SpecialistClaim
    started_at: datetime
    ended_at: datetime


class WorkResult(Struct, frozen=True):
    """The folder's content: its tree id, and what differs from the base."""

    tree: str
    paths: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()  # existing tests that were changed
    refused: tuple[str, ...] = ()
    files: tuple[FileState, ...] = ()


class WorkHistory(Struct, frozen=True):
    """How far the work has come."""

    attempts: tuple[SpecialistAttempt, ...] = ()
    note: Checkpoint | None = None
    session: str | None = None
    failed: tuple[str, ...] = ()  # what did not pass, in words
    said: str = ""  # the owner's answer to a requested call
    allowed: tuple[str, ...] = ()

    def after(
        self, tried: SpecialistTurn, result: WorkResult, verdict: Verdict | None = None
    ) -> "WorkHistory":
        """Return the history after an attempt; the verdict decides over the claim."""
        claim = tried.claim
        wrong = verdict is not None and not verdict.passed
        outcome = AttemptOutcome.VERIFICATION_FAILED if wrong else claim.outcome
        error = verdict.complaint if verdict is not None and wrong else claim.error
        failed = verdict.failed if verdict is not None else ()
        attempt = SpecialistAttempt(
            tried.agent, tried.started_at, tried.ended_at, outcome, error, failed
        )
        note = checkpoint.checkpoint_of_claim(
            claim,
            agent=tried.agent,
            cause=_CAUSES.get(outcome, CheckpointCause.FAILURE),
            made_at=tried.ended_at,
            files={file.path: file.hash for file in result.files},
            before=self.note,
        )
        errors = (error,) if error and wrong else ()
        return WorkHistory(chain.add_attempt(self.attempts, attempt), note, claim.session, errors)


def is_code(task: Task) -> bool:
    """Whether a task is project work; an agent cannot create such a task."""
    mine = task.created_by is not Creator.AGENT
    return mine and (task.assigned_agent or "").startswith(PREFIX)


class SpecialistPool:
    def __init__(
        self,
        projects: Mapping[str, ProjectSpecialists],
        people: Mapping[str, Specialist],
        trees: Worktrees,
        clock: Clock,
        time_limits: Mapping[str, float] | None = None,
        copies: Database | None = None,
    ) -> None:
        self._projects = projects
        self._people = people
        self._trees = trees
        self._clock = clock
        self._limits = time_limits or {}
        self._copies = WorkCopies(trees, copies)

    def project(self, task: Task) -> ProjectSpecialists:
        name = (task.assigned_agent or "").removeprefix(PREFIX)
        if name not in self._projects:
            known = ", ".join(sorted(self._projects)) or "none"
            raise BadInput(f"There is no project {name!r:.60}; there is {known}.", field="project")
        return self._projects[name]

    async def open(self, task: Task) -> Worktree:
        """Return the folder of a task, as it was left.

        Work that was sent back and no longer merges with the owner's changes starts from those.
        """
        place = self.project(task).path
        tree = await self._trees.open(place, task.id)
        if task.round:
            tree = await self._copies.take_up(tree)
            if not await can_merge(self._trees, tree, self._clock.now()):
                await self._trees.remove(tree)
                tree = await self._trees.open(place, task.id)
        await self._copies.remove(tree)  # of an earlier folder
        return tree

    async def find_here(self, tree: Worktree) -> Worktree | None:
        """Return the folder on this machine as it was left, here or on another."""
        return await self._copies.find_here(tree)

    def follow(self, task: Task, history: WorkHistory, contract: Contract | None) -> Next:
        """Return who works next, of those suited for the work."""
        project, needs = self.project(task), chain.kinds_of_work(contract)
        chains = {**project.chains, chain.ANY_KIND: project.chain}
        mine = {name for names in chains.values() for name in names}
        able = {n: each.capabilities for n, each in self._people.items() if n in mine}
        who = chain.specialist_line(chains, needs, able)
        if not who and needs and able:
            what = ", ".join(sorted(needs))
            return Exhausted(f"Nobody is set up who does {what}; say so in [specialists].")
        return chain.next_step(who, history.attempts)

    async def work(
        self,
        task: Task,
        tree: Worktree,
        contract: Contract | None,
        history: WorkHistory,
        choice: RetryAgent | NewSession | NextAgent,
        emit: OnText,
    ) -> SpecialistTurn:
        """Let one specialist work, once."""
        began = self._clock.now()
        stays = isinstance(choice, RetryAgent) and history.session is not None
        job = SpecialistJob(
            task.id,
            _write_brief(task, contract, history)
            if not stays
            else history.said or changes.fix_prompt(history.failed),
            tree.folder,
            history.session if stays else None,
            self._limits.get(choice.agent, float(DEFAULT_TIME_LIMIT_SECONDS)),
            history.allowed,
        )

        async def permit(call: ToolCall) -> Policy:
            if call.digest in history.allowed:
                return Policy.ALLOW
            return changes.rule_on_call(call, tree.folder)

        claim = await self._people[choice.agent].work(job, emit, permit)
        await self._copies.copy_folder(task, tree, self._clock.now())
        return SpecialistTurn(choice.agent, claim, began, self._clock.now())

    async def look(self, task: Task, tree: Worktree) -> WorkResult:
        """Return what is in the folder now."""
        snapshot = await self._trees.look(tree)
        await self._copies.copy_tree(task, tree, snapshot.tree, self._clock.now())
        files = tuple(FileState(path, sha) for path, sha in sorted(snapshot.hashes.items()))
        return WorkResult(snapshot.tree, snapshot.paths, snapshot.tests, snapshot.refused, files)

    async def diff(self, tree: Worktree, result: WorkResult) -> str:
        """Return the diff of what was looked at, whatever is in the folder now."""
        return await self._trees.diff(tree, result.tree)

    async def keep(self, task: Task, tree: Worktree, result: WorkResult, at: datetime) -> str:
        """Commit exactly what was looked at to the task's branch."""
        snapshot = Snapshot(result.tree, refused=result.refused)
        commit = await self._trees.commit(tree, snapshot, f"{task.title}\n", at)
        await self._copies.copy_commit(task, tree, commit)
        return commit

    async def merge(self, tree: Worktree, commit: str) -> MergeResult:
        """Merge a commit into the owner's folder, or return the obstacle."""
        return await merge(self._trees, tree, commit, self._clock.now())

    async def publish(self, tree: Worktree) -> str:
        """Put the branch into the owner's repository, beside the owner's branches."""
        return await publish(self._trees, tree)

    async def close(self, tree: Worktree) -> bool:
        """Remove the folder; its result is with the owner."""
        await self._trees.remove(tree)
        await self._copies.remove(tree)
        return True


def require_changes(
    tried: SpecialistTurn, result: WorkResult, contract: Contract | None
) -> SpecialistTurn:
    """Return the turn before any check: without changes there was no work."""
    advice = contract is None or contract.type is ContractType.ADVISORY
    if tried.claim.outcome is not AttemptOutcome.SUCCESS or result.paths or advice:
        return tried
    why = f"{tried.agent} says that it is done, and has changed no file."
    return replace(tried, claim=replace(tried.claim, outcome=AttemptOutcome.BAD_OUTPUT, error=why))


def allow_call(
    history: WorkHistory, claim: SpecialistClaim, *, yes: bool, word: str = ""
) -> WorkHistory:
    """Return the history after the owner's answer to a requested call."""
    call = claim.needs
    if call is None:
        return replace(history, said=f"Asked {claim.error!r}, the owner said: {word}\n")
    exact = changes.exact_call(call)
    if yes:
        return replace(history, said=changes.allowed_prompt(call, exact), allowed=(call.digest,))
    return replace(history, said=changes.refused_prompt(call, exact, word), allowed=())


def _write_brief(task: Task, contract: Contract | None, history: WorkHistory) -> str:
    since = (*(f"The owner adds: {note}" for note in task.owner_notes), *task.check_notes)
    asked = "\n\n".join([task.instructions, *since])
    note = checkpoint.hand_over_text(history.note) if history.note else ""
    text = changes.prompt(asked, contract, checkpoint=note, failed=history.failed)
    return f"{text}\n{history.said}" if history.said else text
