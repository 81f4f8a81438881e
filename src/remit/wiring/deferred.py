"""Wires deferred checks with projects and their checks."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from remit.engine.deferred import Deferred
from remit.errors import RemitError
from remit.model.contract import Evidence, Finding, Result
from remit.model.deferred import DeferredBatch, DueCriterion
from remit.model.ids import TaskId
from remit.specialist.tree import Worktree
from remit.specialist.worktree import Worktrees
from remit.store import tasks
from remit.wiring import proof
from remit.wiring.app_context import AppContext


def deferred(ground: AppContext, trees: Worktrees) -> Deferred:
    """Build the deferred checks, run on the branch the work was merged into."""

    async def check(batch: DeferredBatch, every: Sequence[DueCriterion]) -> tuple[Finding, ...]:
        try:
            return await _checked(ground, trees, batch, every)
        except (RemitError, OSError) as trouble:
            return _unchecked(every, str(trouble))

    return Deferred(ground.db, ground.clock, ground.ids, ground.zone, check, ground.background)


async def _checked(
    ground: AppContext, trees: Worktrees, batch: DeferredBatch, every: Sequence[DueCriterion]
) -> tuple[Finding, ...]:
    chosen = ground.settings.projects.get(batch.project)
    if chosen is None:
        return _unchecked(every, f"there is no project {batch.project} any more")
    waits = [each for due in every for each in due.waits]
    task = await ground.db.read(tasks.get, waits[0].task_id)
    paths = tuple(dict.fromkeys(path for each in waits for path in each.paths))
    place = await asyncio.to_thread(lambda: str(Path(chosen.path).expanduser()))
    async with _standing(trees, place, task.id, batch.branch) as tree:
        verifier = await proof.verifier(ground, task, tree, merged=True)
        evidence = Evidence("", workspace=tree.folder, changed=paths)
        return await verifier.late(task, [due.criterion for due in every], evidence)


def _unchecked(every: Sequence[DueCriterion], why: str) -> tuple[Finding, ...]:
    """Return findings for checks that can no longer run; they count against nobody."""
    return tuple(
        Finding(each.criterion.activity, Result.SKIPPED, f"not checked: {why}") for each in every
    )


@asynccontextmanager
async def _standing(
    trees: Worktrees, place: str, task_id: TaskId, branch: str
) -> AsyncIterator[Worktree]:
    """Open the current branch in a folder of Remit; nothing of the owner's is touched."""
    base = f"refs/heads/{branch}"
    # A dead process may have left an older state of the branch there.
    await trees.remove(await trees.open(place, task_id, base))
    tree = await trees.open(place, task_id, base)
    try:
        yield tree
    finally:
        await trees.remove(tree)
