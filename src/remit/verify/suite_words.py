"""Sentences about a test run: how many ran, which failed, which are missing."""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.verify.reports import CaseResult, Cases, headline
from remit.verify.suite_runs import SuiteRun

MAX_NAMED: Final = 8  # tests listed by name


class FailedTests(Struct, frozen=True):
    """Failed tests, by who broke them."""

    broke: Cases = ()
    before: Cases = ()  # failed at the base as well
    unsteady: Cases = ()  # failed once, and passed when run again

    @property
    def sentence(self) -> str:
        before = _listed(self.before, "failed before the work and still fail")
        return before + _listed(self.unsteady, "failed once and passed when run again")


def counted(run: SuiteRun, base: SuiteRun | None, about: str, verb: str = "passed") -> str:
    """Return how many tests ran, which ones, and how many ran before."""
    if run.count is None:
        return "It does not say how many tests ran."
    count = run.count - (len(run.failed) if verb == "passed" else 0)
    ran = f" ({about})" if about else ""
    was = f"; {base.count:,} ran before the work" if base and base.count and not about else ""
    skipped = f"; {len(run.skipped):,} skipped" if run.skipped else ""
    return f"{count:,} test{'s' * (count != 1)} {verb}{ran}{was}{skipped}."


def broken(blame: FailedTests, run: SuiteRun, base: SuiteRun | None, about: str) -> str:
    """Return the failing tests first, then their number."""
    named = [headline(case) for case in blame.broke[:MAX_NAMED]]
    more = len(blame.broke) - MAX_NAMED
    many = f"{len(blame.broke):,} of {counted(run, base, about, 'failed')}{blame.sentence}"
    return "\n".join((*named, *((f"and {more:,} more",) if more > 0 else ()), many))


def missing(base: SuiteRun, run: SuiteRun, free: Collection[str]) -> tuple[str, ...]:
    """Return tests that ran at the base and now do not, or are skipped; except in `free`."""
    now = {case.function for case in run.ran}
    was = {case.function: case for case in base.ran}
    return tuple(
        headline(_bare(case))
        for key, case in was.items()
        if key not in now and case.file not in free and not (free and not case.file)
    )


def missing_sentence(names: Sequence[str], run: SuiteRun, base: SuiteRun) -> str:
    more = len(names) - MAX_NAMED
    listed = ", ".join(names[:MAX_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    return (
        f"{len(names):,} test{'s' * (len(names) != 1)} that ran before the work did not run: "
        f"{listed}. {run.count:,} tests ran, and {base.count:,} before the work"
    )


def _listed(cases: Cases, what: str) -> str:
    if not cases:
        return ""
    names = ", ".join(headline(_bare(case, case.line)) for case in cases[:MAX_NAMED])
    more = len(cases) - MAX_NAMED
    return f" {len(cases):,} {what}: {names}{f' and {more:,} more' if more > 0 else ''}."


def _bare(case: CaseResult, line: int = 0) -> CaseResult:
    return replace(case, message="", line=line)
