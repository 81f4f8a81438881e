"""Renders a verdict for a person."""

from collections.abc import Iterator
from typing import Final

from remit.model.contract import DEFERRED, Contract, Criterion, Finding, Result, Verdict

MARKS: Final = {Result.PASS: "✓", Result.FAIL: "✗", Result.SKIPPED: "–"}


def lines(contract: Contract, verdict: Verdict) -> Iterator[tuple[Finding, str]]:
    """Yield one line per criterion, with its finding."""
    for criterion, finding in zip(contract.criteria, verdict.findings, strict=False):
        yield finding, f"{MARKS[finding.result]} {line(criterion, finding)}"


def line(criterion: Criterion, finding: Finding) -> str:
    named = f" ({criterion.pattern})" if criterion.pattern else ""
    times = f", {finding.attempts} runs" if finding.attempts > 1 else ""
    took = ""
    if finding.started_at and finding.ended_at:
        took = f", {(finding.ended_at - finding.started_at).total_seconds():.1f} s"
    return f"{criterion.activity}{named}: {criterion.description}{times}{took}"


def summary(verdict: Verdict) -> str:
    """Return the result in one sentence that claims no more than was seen."""
    counts = {each: sum(f.result is each for f in verdict.findings) for each in Result}
    late = sum(f.result is Result.SKIPPED and f.error == DEFERRED for f in verdict.findings)
    said = [f"{counts[Result.PASS]} of {len(verdict.findings)} passed"]
    if counts[Result.FAIL]:
        said.append(f"{counts[Result.FAIL]} failed")
    if late:
        said.append(f"{late} left for later")
    if counts[Result.SKIPPED] - late:
        said.append(f"{counts[Result.SKIPPED] - late} not checked")
    return ", ".join(said) + "."
