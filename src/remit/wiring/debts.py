"""Wires test debt with projects and tasks."""

import asyncio
import os
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from remit.model import deferred
from remit.model.codec import from_json
from remit.model.contract import Criterion
from remit.model.deferred import FAILED, FIXES, MOST_PATHS, DebtBook, DebtCause, project_of
from remit.model.task import Task
from remit.plan.contract import OwedChecks
from remit.settings import Settings
from remit.settings.projects import ProjectSettings
from remit.store import debts
from remit.store.read_only import glance
from remit.wiring.app_context import AppContext


class DebtRegistry:
    """The debts of all projects; only time reduces them."""

    def __init__(self, ground: AppContext) -> None:
        self._ground = ground

    async def owe(self, task: Task, paths: tuple[str, ...], owes: DebtCause, reason: str) -> int:
        """Record files that a task failed at; return how many."""
        kept, now = paths[:MOST_PATHS], self._ground.clock.now()
        owed = (project_of(task), kept, task.id, owes, now)
        await self._ground.db.write(debts.add, *owed, reason=reason)
        return len(kept)

    async def owed(self, task: Task, paths: Sequence[str]) -> OwedChecks:
        """Return the extra checks for a task that touches files, and why."""
        project, now = project_of(task), self._ground.clock.now()
        book = await self._ground.db.read(debts.book, project, now, task.id)
        chosen = self._ground.settings.projects.get(project)
        asked = await asyncio.to_thread(_asked, book, paths, chosen, now)
        failed, sentence = _to_mend(task)
        return OwedChecks((*failed, *asked.criteria), (*sentence, *asked.why))


def rehearsed(settings: Settings, project: str, paths: Sequence[str], now: datetime) -> OwedChecks:
    """Return the extra checks for a rehearsal, from the file."""
    with glance(settings.database) as tx:
        book = debts.book(tx, project, now)
    return _asked(book, paths, settings.projects.get(project), now)


def _asked(
    book: DebtBook, paths: Sequence[str], project: ProjectSettings | None, now: datetime
) -> OwedChecks:
    wanted = deferred.asked(book, paths, now)
    if not wanted or project is None:
        return OwedChecks()
    has = able(project)
    asked = tuple(each for each in wanted if has(each.activity))
    return OwedChecks(asked, deferred.why(book, paths, now) if asked else ())


def able(project: ProjectSettings) -> Callable[[str], bool]:
    """Return which activities a project has a tool for; others are not required."""
    from remit.verify import project as projects  # noqa: PLC0415 - for the few who have one
    from remit.verify.runners import MissingTool  # noqa: PLC0415

    place = Path(project.path).expanduser()
    ways = projects.read(place, environ=os.environ, given=project.argvs)
    return lambda activity: not isinstance(ways.command_for(activity), MissingTool)


def _to_mend(task: Task) -> tuple[tuple[Criterion, ...], tuple[str, ...]]:
    """Return the criteria that a fix task must pass."""
    failed = task.context.get(FAILED)
    if FIXES not in task.context or not isinstance(failed, list):
        return (), ()
    found = tuple(from_json(Criterion, each) for each in failed)
    return found, (f"{', '.join(each.activity for each in found)} failed, so it must pass now",)
