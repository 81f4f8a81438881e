"""What other rules would make of tasks that were already ranked."""

from collections.abc import Callable, Iterable, Iterator
from datetime import tzinfo

from msgspec import Struct

from remit.model.task import Task
from remit.plan.draft import Ranking, Scored, ranked
from remit.plan.priority import SPOKEN, PriorityRules


class PriorityTrial(Struct, frozen=True):
    task: Task
    now: Ranking

    @property
    def changes(self) -> bool:
        """Whether its priority would differ; the same by another rule is no change."""
        return self.now.priority is not self.task.priority


def trials(
    tasks: Iterable[Task],
    rules: PriorityRules,
    zone: tzinfo,
    scored: Callable[[Task], Scored | None],
) -> Iterator[PriorityTrial]:
    """Yield each task ranked by rules, as these rules would rank it with the known score.

    Priorities set by a person, and unranked tasks, are left out: no rule changes them.
    """
    for task in tasks:
        if task.rule is not None and task.rule.name not in SPOKEN:
            yield PriorityTrial(task, ranked(task, rules, zone, scored(task)))
