"""What to work on, where to send it, how to tell it is done; and how urgent it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from remit.model.plan import Item, Plan, Rule
from remit.model.task import Priority, Task

# The most urgent first: from this score on, this priority.
THRESHOLDS: Final = ((0.8, Priority.HIGH),)
_DEFAULT: Final = "no rule matched"


class Scored(Protocol):
    """How urgent something is, from 0 to 1, and why."""

    @property
    def score(self) -> float: ...

    @property
    def why(self) -> str: ...


class Scorer(Protocol):
    """Finds out how urgent a task is; None if it cannot."""

    async def score(self, task: Task) -> Scored | None: ...


@dataclass(frozen=True, slots=True)
class Ranking:
    priority: Priority
    rule: Rule


class Planner:
    def __init__(
        self,
        scorer: Scorer | None = None,
        thresholds: Sequence[tuple[float, Priority]] = THRESHOLDS,
    ) -> None:
        self._scorer = scorer
        self._thresholds = thresholds

    async def draft(self, task: Task) -> Plan:
        """The plan as admitted; without work items the instructions are the one item."""
        plan = task.plan
        if plan.work or plan.precomposed:
            return plan
        return Plan((Item(task.instructions),), plan.delivery, plan.contract)

    def rank(self, task: Task) -> Ranking:
        """Decide by the rules alone how urgent a task is, and keep why."""
        if task.rule is not None:
            return Ranking(task.priority, task.rule)
        return Ranking(Priority.LOW, Rule("default", _DEFAULT))

    def is_unsure(self, task: Task) -> bool:
        """Whether a score could tell more than the rules do: only then it is worth a wait.

        A request that is still asked about is not scored; its words may change.
        """
        return self._scorer is not None and task.rule is None and not task.gaps

    async def weigh(self, task: Task) -> Ranking:
        """Decide with a score, too; if there is none, by the rules."""
        ranked = self.rank(task)
        if self._scorer is None or not self.is_unsure(task):
            return ranked
        try:
            found = await self._scorer.score(task)
        except Exception:  # noqa: BLE001 - whatever breaks in there, the task is ranked
            return ranked
        return ranked if found is None else self._scored(found)

    def _scored(self, found: Scored) -> Ranking:
        because = f"score {found.score:.2f}: {found.why}"
        for least, priority in self._thresholds:
            if found.score >= least:
                return Ranking(priority, Rule("llm_score", because))
        return Ranking(Priority.LOW, Rule("default", f"{_DEFAULT}; {because}"))
