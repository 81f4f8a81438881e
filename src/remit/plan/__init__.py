"""From task to plan, priority and contract. Pure.

Here: drafts the plan of a task, ranks its priority, and tries other rules on tasks of the past.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, tzinfo
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from remit.model.contract import Plan, RankingRule, WorkItem
from remit.model.task import Priority, Task
from remit.plan import priority
from remit.plan.priority import SPOKEN, PriorityRules

_DEFAULT: Final = "no rule matched"


class Scored(Protocol):
    """How urgent something is, from 0 to 1, and why."""

    @property
    def score(self) -> float: ...

    @property
    def why(self) -> str: ...


class UrgencyScorer(Protocol):
    """Scores how urgent a task is; None if it cannot."""

    async def score(self, task: Task) -> Scored | None: ...


class Ranking(Struct, frozen=True):
    priority: Priority
    rule: RankingRule


class Planner:
    """Drafts plans and ranks tasks; the rules are looked up each time, because they may change."""

    def __init__(
        self,
        scorer: UrgencyScorer | None = None,
        rules: Callable[[], PriorityRules] = priority.default_rules,
        zone: tzinfo = UTC,
    ) -> None:
        self._scorer = scorer
        self._rules = rules
        self._zone = zone  # the owner's zone

    async def draft(self, task: Task) -> Plan:
        """Return the plan; without work items the instructions are the only item."""
        plan = task.plan
        if plan.work or plan.composed:
            return plan
        return replace(plan, work=(WorkItem(task.instructions),))

    def rank(self, task: Task) -> Ranking:
        """Rank a task by the rules alone, and say why."""
        if task.rule is not None:
            return Ranking(task.priority, task.rule)
        return rank_task(task, self._rules(), self._zone)

    def is_unsure(self, task: Task) -> bool:
        """Whether a score could change the result: only then is it worth waiting.

        A request with open questions is not scored; its words may change.
        """
        if self._scorer is None or task.rule is not None or task.gaps:
            return False
        return self._rules().find(task, self._zone).unsure

    async def weigh(self, task: Task) -> Ranking:
        """Rank with a score; without one, by the rules."""
        if self._scorer is None or not self.is_unsure(task):
            return self.rank(task)
        try:
            found = await self._scorer.score(task)
        except Exception:  # noqa: BLE001 - whatever breaks in there, the task is ranked
            found = None
        return rank_task(task, self._rules(), self._zone, found)


def rank_task(
    task: Task, rules: PriorityRules, zone: tzinfo, scored: Scored | None = None
) -> Ranking:
    """The priority that some rules give a task, ignoring its present one."""
    found = rules.find(task, zone, scored.score if scored else None).rule
    score_text = f"; score {scored.score:.2f}: {scored.why}" if scored else ""
    if found is None:
        return Ranking(rules.default, RankingRule("default", f"{_DEFAULT}{score_text}"))
    because = f"{found.because}{score_text if found.when.asks_score else ''}"
    where = f" ({rules.file}, line {found.line})" if rules.file else ""
    return Ranking(found.priority, RankingRule(found.name, because + where))


class PriorityTrial(Struct, frozen=True):
    task: Task
    now: Ranking

    @property
    def changes(self) -> bool:
        """Whether its priority would differ; the same by another rule is no change."""
        return self.now.priority is not self.task.priority


def try_rules(
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
            yield PriorityTrial(task, rank_task(task, rules, zone, scored(task)))
