"""How one can tell that a task is done, written down before the work begins."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ContractType(StrEnum):
    VERIFIABLE = "verifiable"  # checks decide
    ADVISORY = "advisory"  # the owner reads it afterwards
    SKIP = "skip"  # only the cheapest checks


class Timing(StrEnum):
    IMMEDIATE = "immediate"
    DEFERRED = "deferred"


class GeneratedFrom(StrEnum):
    AUTO = "auto"
    USER = "user"
    PRD = "prd"


@dataclass(frozen=True, slots=True)
class Criterion:
    activity: str
    description: str
    pattern: str | None = None
    timing: Timing = Timing.IMMEDIATE


@dataclass(frozen=True, slots=True)
class Contract:
    type: ContractType
    criteria: tuple[Criterion, ...] = ()
    generated_from: GeneratedFrom = GeneratedFrom.AUTO
    generated_at: datetime | None = None


class Result(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """What the check of one criterion saw."""

    activity: str
    result: Result
    error: str | None = None
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Verdict:
    findings: tuple[Finding, ...] = ()
    completed_at: datetime | None = None

    @property
    def passed(self) -> bool:
        return all(finding.result is not Result.FAIL for finding in self.findings)

    @property
    def complaint(self) -> str:
        failed = (f for f in self.findings if f.result is Result.FAIL)
        return "; ".join(f"{f.activity}: {f.error or 'failed'}" for f in failed)
