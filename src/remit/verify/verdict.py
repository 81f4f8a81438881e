"""Does the work meet its contract? Code decides."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from remit.model.contract import (
    DEFERRED,
    ContractType,
    Criterion,
    Evidence,
    Finding,
    Result,
    Timing,
    Verdict,
)
from remit.model.plan import Plan
from remit.model.task import Task
from remit.ports import Check


def _never() -> None:
    """Without a clock it is not said when something was found."""


class Verifier:
    def __init__(
        self, checks: Mapping[str, Check], now: Callable[[], datetime] | None = None
    ) -> None:
        self._checks = checks
        self._now: Callable[[], datetime | None] = now or _never

    def applies(self, plan: Plan) -> bool:
        return plan.contract is not None and plan.contract.type is not ContractType.ADVISORY

    async def verify(self, task: Task, plan: Plan, evidence: Evidence) -> Verdict:
        """Check every criterion; one that nobody can check fails, it does not pass."""
        criteria = plan.contract.criteria if plan.contract else ()
        found = tuple([await self._timed(task, each, evidence) for each in criteria])
        return Verdict(found, self._now())

    async def _timed(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        began = self._now()
        found = await self._check(task, criterion, evidence)
        ended = found.ended_at or self._now()
        return replace(found, started_at=found.started_at or began, ended_at=ended)

    async def _check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        if criterion.timing is Timing.DEFERRED:
            return Finding(criterion.activity, Result.SKIPPED, DEFERRED)
        check = self._checks.get(criterion.activity)
        if check is None:
            known = ", ".join(sorted(self._checks))
            why = f"no check of that name is installed; installed: {known}"
            return Finding(criterion.activity, Result.FAIL, why)
        return await check.check(task, criterion, evidence)
