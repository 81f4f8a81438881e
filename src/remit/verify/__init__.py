"""From reply and contract to verdict.

Here: code decides whether the work meets its contract, and renders the verdict for a person.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from remit.model.contract import (
    DEFERRED,
    Contract,
    ContractType,
    Criterion,
    Evidence,
    Finding,
    Plan,
    Result,
    Timing,
    Verdict,
)
from remit.model.task import Task
from remit.ports import Check


class Verifier:
    """Checks contracts. `lacks` says why an activity cannot be checked at all.

    Only work on files can be deferred: a text is not merged.
    """

    def __init__(
        self,
        checks: Mapping[str, Check],
        now: Callable[[], datetime] | None = None,
        lacks: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self._checks = checks
        self._now: Callable[[], datetime | None] = now or (lambda: None)
        self._lacks = lacks

    def applies(self, plan: Plan) -> bool:
        return plan.contract is not None and plan.contract.type is not ContractType.ADVISORY

    def is_quick(self, plan: Plan) -> bool:
        """Whether code alone checks this contract, without a program or a model."""
        criteria = plan.contract.criteria if plan.contract else ()
        return all(getattr(self._checks.get(each.activity), "is_quick", False) for each in criteria)

    async def verify(self, task: Task, plan: Plan, evidence: Evidence) -> Verdict:
        """Check every criterion; one that cannot be checked fails."""
        criteria = plan.contract.criteria if plan.contract else ()
        found = tuple([await self._check_timed(task, each, evidence) for each in criteria])
        return Verdict(found, self._now())

    async def late(
        self, task: Task, criteria: Sequence[Criterion], evidence: Evidence
    ) -> tuple[Finding, ...]:
        """Check deferred criteria; one without a tool is skipped and says why."""
        found = []
        for each in criteria:
            why = self._lacks(each.activity)
            lacking = Finding(each.activity, Result.SKIPPED, why)
            now = replace(each, timing=Timing.IMMEDIATE)
            found.append(lacking if why else await self._check_timed(task, now, evidence))
        return tuple(found)

    async def _check_timed(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        began = self._now()
        found = await self._check(task, criterion, evidence)
        ended = found.ended_at or self._now()
        return replace(found, started_at=found.started_at or began, ended_at=ended)

    async def _check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        if criterion.timing is Timing.DEFERRED and evidence.workspace is not None:
            why = self._lacks(criterion.activity)
            return Finding(criterion.activity, Result.SKIPPED, why or DEFERRED)
        check = self._checks.get(criterion.activity)
        if check is None:
            known = ", ".join(sorted(self._checks))
            why = f"no check of that name is installed; installed: {known}"
            return Finding(criterion.activity, Result.FAIL, why)
        return await check.check(task, criterion, evidence)


MARKS: Final = {Result.PASS: "✓", Result.FAIL: "✗", Result.SKIPPED: "–"}


def verdict_lines(contract: Contract, verdict: Verdict) -> Iterator[tuple[Finding, str]]:
    """Yield one line per criterion, with its finding."""
    for criterion, finding in zip(contract.criteria, verdict.findings, strict=False):
        yield finding, f"{MARKS[finding.result]} {_criterion_line(criterion, finding)}"


def _criterion_line(criterion: Criterion, finding: Finding) -> str:
    named = f" ({criterion.pattern})" if criterion.pattern else ""
    times = f", {finding.attempts} runs" if finding.attempts > 1 else ""
    took = ""
    if finding.started_at and finding.ended_at:
        took = f", {(finding.ended_at - finding.started_at).total_seconds():.1f} s"
    return f"{criterion.activity}{named}: {criterion.description}{times}{took}"


def verdict_summary(verdict: Verdict) -> str:
    """Return the result in one sentence that claims no more than was seen."""
    counts = {each: sum(f.result is each for f in verdict.findings) for each in Result}
    late = sum(f.result is Result.SKIPPED and f.error == DEFERRED for f in verdict.findings)
    parts = [f"{counts[Result.PASS]} of {len(verdict.findings)} passed"]
    if counts[Result.FAIL]:
        parts.append(f"{counts[Result.FAIL]} failed")
    if late:
        parts.append(f"{late} left for later")
    if counts[Result.SKIPPED] - late:
        parts.append(f"{counts[Result.SKIPPED] - late} not checked")
    return ", ".join(parts) + "."
