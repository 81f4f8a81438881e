"""Contracts and verdicts: how to tell that a task is done, fixed before the work begins."""

import hashlib
from datetime import datetime
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from remit.model.codec import text_of, to_json


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


class Criterion(Struct, frozen=True):
    activity: str
    description: str
    pattern: str | None = None
    timing: Timing = Timing.IMMEDIATE


class Contract(Struct, frozen=True):
    type: ContractType
    criteria: tuple[Criterion, ...] = ()
    generated_from: GeneratedFrom = GeneratedFrom.AUTO
    generated_at: datetime | None = None

    @property
    def digest(self) -> str:
        """What exactly was agreed before the work began; a contract that changed has another."""
        return hashlib.sha256(text_of(to_json(self)).encode()).hexdigest()


class ReadSource(Struct, frozen=True):
    """Something that was read for the work: where it stands, and what stood there."""

    place: str  # a URL, a file, or the call of a tool
    text: str
    read_at: datetime | None = None


class Evidence(Struct, frozen=True):
    """What the work left behind, for the checks to look at."""

    text: str
    read: tuple[ReadSource, ...] = ()
    workspace: str | None = None  # the folder that was worked in
    changed: tuple[str, ...] = ()  # files in it, relative to it


class Overall(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    PENDING = "pending"  # what could be checked is good; something is checked later


class Result(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    SKIPPED = "skipped"


class ChangedTest(Struct, frozen=True):
    """A judging file that the work changed: its path, and the hash of what it holds now."""

    path: str
    digest: str


class Finding(Struct, frozen=True):
    """What the check of one criterion saw."""

    activity: str
    result: Result
    error: str | None = None
    attempts: int = 1
    started_at: datetime | None = None
    ended_at: datetime | None = None
    note: str | None = None  # what is told of it besides: how many tests ran, and which
    ran: int | None = None  # tests that ran
    of: int | None = None  # tests that there are, where that is known
    still_failing: int = 0  # tests that failed before the work and fail still
    intended: tuple[ChangedTest, ...] = ()  # it would pass, if the owner says that these are meant

    @property
    def is_partial(self) -> bool:
        """Whether it passed on some of the tests alone."""
        return self.result is Result.PASS and self.ran is not None and self.ran != self.of


UNPROVEN = "Not proven yet: "  # what a note begins with that tells what a check found
NOT_DECIDED = "not verified: "  # what the note of a finding begins with that no check can decide
DEFERRED = "deferred"  # why a criterion was skipped that will be checked when its group ends


class Verdict(Struct, frozen=True):
    findings: tuple[Finding, ...] = ()
    completed_at: datetime | None = None

    @property
    def passed(self) -> bool:
        return all(finding.result is not Result.FAIL for finding in self.findings)

    @property
    def overall(self) -> Overall:
        if not self.passed:
            return Overall.FAIL
        late = any(f.result is Result.SKIPPED and f.error == DEFERRED for f in self.findings)
        return Overall.PENDING if late else Overall.PASS

    @property
    def failed(self) -> tuple[str, ...]:
        """The criteria that were not met."""
        return tuple(f.activity for f in self.findings if f.result is Result.FAIL)

    @property
    def undecided(self) -> tuple[str, ...]:
        """The criteria that no check could decide."""
        skipped = (f for f in self.findings if f.result is Result.SKIPPED)
        return tuple(f.activity for f in skipped if (f.error or "").startswith(NOT_DECIDED))

    def after(self, before: "Verdict") -> "Verdict":
        """The verdict on work that was checked before: how often is counted on."""
        known: dict[str, list[int]] = {}
        for each in before.findings:
            known.setdefault(each.activity, []).append(each.attempts)
        found = (
            replace(each, attempts=each.attempts + (known.get(each.activity) or [0]).pop(0))
            for each in self.findings
        )
        return replace(self, findings=tuple(found))

    @property
    def intended(self) -> tuple[ChangedTest, ...]:
        """Changed tests that the owner could agree to, where nothing else is in the way."""
        failed = [finding for finding in self.findings if finding.result is Result.FAIL]
        if not all(finding.intended for finding in failed):
            return ()
        return tuple(dict.fromkeys(each for finding in failed for each in finding.intended))

    @property
    def partial(self) -> Finding | None:
        """A check that passed on some of the tests alone."""
        return next((finding for finding in self.findings if finding.is_partial), None)

    @property
    def complaint(self) -> str:
        """What failed, each error once, however many criteria it failed."""
        failed = (f for f in self.findings if f.result is Result.FAIL)
        return "; ".join(dict.fromkeys(f"{f.activity}: {f.error or 'failed'}" for f in failed))
