"""Drafts the plan of a task: work, deliveries and contract; and ranks its priority."""

from collections.abc import Callable
from datetime import UTC, tzinfo
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from remit.model.plan import Plan, RankingRule, WorkItem
from remit.model.task import Priority, Task
from remit.plan import priority
from remit.plan.priority import PriorityRules

_DEFAULT: Final = "no rule matched"


class Scored(Protocol):
    """How urgent something is, from 0 to 1, and why."""

    @property
    def score(self) -> float: ...

    @property
    def why(self) -> str: ...


class UrgencyScorer(Protocol):
    """Finds out how urgent a task is; None if it cannot."""

    async def score(self, task: Task) -> Scored | None: ...


class Ranking(Struct, frozen=True):
    priority: Priority
    rule: RankingRule


class Planner:
    """Drafts plans and ranks tasks; the rules are looked up anew each time, for they may change."""

    def __init__(
        self,
        scorer: UrgencyScorer | None = None,
        rules: Callable[[], PriorityRules] = priority.default,
        zone: tzinfo = UTC,
    ) -> None:
        self._scorer = scorer
        self._rules = rules
        self._zone = zone  # of the owner's clock

    async def draft(self, task: Task) -> Plan:
        """The plan as admitted; without work items the instructions are the one item."""
        plan = task.plan
        if plan.work or plan.composed:
            return plan
        return replace(plan, work=(WorkItem(task.instructions),))

    def rank(self, task: Task) -> Ranking:
        """Decide by the rules alone how urgent a task is, and keep why."""
        if task.rule is not None:
            return Ranking(task.priority, task.rule)
        return ranked(task, self._rules(), self._zone)

    def is_unsure(self, task: Task) -> bool:
        """Whether a score could tell more than the rules do: only then it is worth a wait.

        A request that is still asked about is not scored; its words may change.
        """
        if self._scorer is None or task.rule is not None or task.gaps:
            return False
        return self._rules().find(task, self._zone).unsure

    async def weigh(self, task: Task) -> Ranking:
        """Decide with a score, too; if there is none, by the rules."""
        if self._scorer is None or not self.is_unsure(task):
            return self.rank(task)
        try:
            found = await self._scorer.score(task)
        except Exception:  # noqa: BLE001 - whatever breaks in there, the task is ranked
            found = None
        return ranked(task, self._rules(), self._zone, found)


def ranked(task: Task, rules: PriorityRules, zone: tzinfo, scored: Scored | None = None) -> Ranking:
    """What some rules make of a task, whoever ranked it before."""
    found = rules.find(task, zone, scored.score if scored else None).rule
    told = f"; score {scored.score:.2f}: {scored.why}" if scored else ""
    if found is None:
        return Ranking(rules.default, RankingRule("default", f"{_DEFAULT}{told}"))
    because = f"{found.because}{told if found.when.asks_score else ''}"
    where = f" ({rules.file}, line {found.line})" if rules.file else ""
    return Ranking(found.priority, RankingRule(found.name, because + where))
