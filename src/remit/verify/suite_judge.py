"""Judges the tests of one workspace: what runs, who broke what fails, and how it is reported."""

import asyncio
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.model.codec import first_few
from remit.model.contract import Result
from remit.verify import guarded, project_files
from remit.verify.guarded import Contents
from remit.verify.reports import CaseResult, Cases, headline
from remit.verify.runners import CheckCommand
from remit.verify.sandbox import SandboxRefusal
from remit.verify.selection import Selection
from remit.verify.suite_runs import (
    ALL,
    CachedRuns,
    CaseSelection,
    CheckOutcome,
    ComparedWork,
    SuiteRun,
    SuiteRunner,
    SuiteTerms,
    run_key,
    takes_names,
)

MAX_NAMED: Final = 8  # tests listed by name


class FailedTests(Struct, frozen=True):
    """Failed tests, by who broke them."""

    broke: Cases = ()
    before: Cases = ()  # failed at the base as well
    unsteady: Cases = ()  # failed once, and passed when run again

    @property
    def sentence(self) -> str:
        still = "fails" if len(self.before) == 1 else "fail"
        before = _list_cases(self.before, f"failed before the work and still {still}")
        return before + _list_cases(self.unsteady, "failed once and passed when run again")


def count_sentence(run: SuiteRun, base: SuiteRun | None, about: str, verb: str = "passed") -> str:
    """Return how many tests ran, which ones, and how many ran before."""
    if run.count is None:
        return "It does not say how many tests ran."
    count = run.count - (len(run.failed) if verb == "passed" else 0)
    ran = f" ({about})" if about else ""
    was = f"; {base.count:,} ran before the work" if base and base.count and not about else ""
    skipped = f"; {len(run.skipped):,} skipped" if run.skipped else ""
    return f"{count:,} test{'s' * (count != 1)} {verb}{ran}{was}{skipped}."


def failure_report(blame: FailedTests, run: SuiteRun, base: SuiteRun | None, about: str) -> str:
    """Return the failing tests first, then their number."""
    named = [headline(case) for case in blame.broke[:MAX_NAMED]]
    more = len(blame.broke) - MAX_NAMED
    many = f"{len(blame.broke):,} of {count_sentence(run, base, about, 'failed')}{blame.sentence}"
    return "\n".join((*named, *((f"and {more:,} more",) if more > 0 else ()), many))


def missing_tests(base: SuiteRun, run: SuiteRun, free: Collection[str]) -> tuple[str, ...]:
    """Return tests that ran at the base and now do not, or are skipped; except in `free`."""
    now = {case.function for case in run.ran}
    was = {case.function: case for case in base.ran}
    return tuple(
        headline(_bare(case))
        for key, case in was.items()
        if key not in now and case.file not in free and not (free and not case.file)
    )


def missing_sentence(names: Sequence[str], run: SuiteRun, base: SuiteRun) -> str:
    return (
        f"{len(names):,} test{'s' * (len(names) != 1)} that ran before the work did not run: "
        f"{first_few(names, MAX_NAMED)}. {run.count:,} tests ran, and {base.count:,} before "
        "the work"
    )


def _list_cases(cases: Cases, what: str) -> str:
    if not cases:
        return ""
    names = [headline(_bare(case, case.line)) for case in cases]
    return f" {len(cases):,} {what}: {first_few(names, MAX_NAMED)}."


def _bare(case: CaseResult, line: int = 0) -> CaseResult:
    return replace(case, message="", line=line)


MAX_CHARACTERS: Final = 2_000
_LINES: Final = 40
_UNSEEN: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[^\S\n ]")
# What differs between runs would hide that the same error came twice.
_PASSING: Final = (
    (
        re.compile(r"\b(in|took|after) \d+(?:\.\d+)?\s?(?:ms|s|m|seconds)\b(?: \([\d:]+\))?"),
        r"\1 …",
    ),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
)


def output_excerpt(why: str, output: str) -> str:
    """A sentence and the end of what was said, no longer than may be told."""
    room = MAX_CHARACTERS - len(why) - 2
    lines = [line.rstrip() for line in _clean(output).splitlines()]
    shown: list[str] = []
    for line in reversed([line for line in lines if line][-_LINES:]):
        short = line if len(line) <= _LONG else f"{line[:_LONG]}…"
        if len(short) + 1 > room:
            break
        room -= len(short) + 1
        shown.append(short)
    return ":\n".join(filter(None, (why, "\n".join(reversed(shown)))))


def _clean(output: str) -> str:
    visible = _UNSEEN.sub(" ", output.replace("\r", "\n"))
    text = "".join(char for char in visible if char.isprintable() or char == "\n")
    for passing, shown in _PASSING:
        text = passing.sub(shown, text)
    return text


_LONG: Final = 300  # characters of a line


class SuiteJudge:
    def __init__(
        self,
        runner: SuiteRunner,
        terms: SuiteTerms,
        cache: CachedRuns,
        work: ComparedWork,
        way: CheckCommand,
    ) -> None:
        self._runner = runner
        self._terms = terms
        self._cache = cache
        self._work = work
        self._way = way
        self._runs: list[tuple[Contents, CaseSelection, SuiteRun | SandboxRefusal]] = []  # so far

    async def named(self, pattern: str, *, demanded: bool) -> CheckOutcome:
        """Run the tests with a name. Having none fails only where they are demanded."""
        settings = self._work.guard.settings
        nothing = CheckOutcome(
            Result.SKIPPED, note=f"No test is called {pattern}, so all tests ran."
        )
        by_words = takes_names(self._way)
        if not by_words and not (demanded and self._way.reader):
            return nothing
        run = await self._run_once(settings, CaseSelection(name=pattern) if by_words else ALL)
        if isinstance(run, SuiteRun) and run.code is not None and not _has(run, pattern, by_words):
            return self._fail(f"no test matches {pattern}", run) if demanded else nothing
        about = f"tests called {pattern}" if by_words else ""
        return await self._judge_run(run, None, settings, about)

    async def selected(self, chosen: Selection) -> CheckOutcome:
        """Run the chosen test files as they were before the work."""
        instead = self._work.guard.as_before
        files = tuple(name for name in chosen.files if instead.get(name, b"") is not None)
        if not files:
            return CheckOutcome(Result.SKIPPED)
        run = await self._run_once(instead, CaseSelection(files))
        if isinstance(run, SuiteRun) and run.code is not None and not run.count:
            return CheckOutcome(Result.SKIPPED)  # they are helpers of other tests
        return await self._judge_run(run, None, instead, replace(chosen, files=files).sentence)

    async def whole(self) -> CheckOutcome:
        """Run all tests as they were before the work, then as it left them."""
        work, guard = self._work, self._work.guard
        base = await self._baseline() if self._terms.base is not None else None
        if isinstance(base, SandboxRefusal):
            return CheckOutcome(Result.FAIL, base.why)
        if base is not None:
            ran = {case.file: work.original.get(case.file) for case in base.ran}
            terms = self._terms
            guarded.guard_tests_that_ran(
                guard, work.folder, ran, may_change=terms.may_change, intended=terms.intended
            )
        run = await self._run_once(guard.as_before, ALL)
        if isinstance(run, SuiteRun) and run.code is None and (base is None or base.code is None):
            note = f"The whole suite did not end within {self._runner.seconds:g} seconds."
            return CheckOutcome(Result.SKIPPED, note=note, of=base.count if base else None)
        judged = await self._judge_run(run, base, guard.as_before, "", self._work.named)
        if judged.result is Result.FAIL:
            return await self.maybe_intended(judged)
        if guard.tests:
            judged = await self._judge_as_left(judged, base)
        else:
            self._remember(run)
        if judged.result is Result.PASS and guard.notes:
            return replace(judged, note=f"{judged.note} {guard.sentence}")
        return judged

    async def _judge_as_left(self, before: CheckOutcome, base: SuiteRun | None) -> CheckOutcome:
        guard = self._work.guard
        run = await self._run_once(guard.settings, ALL)
        self._remember(run)
        changed = self._work.named | guard.tests.keys()
        judged = await self._judge_run(run, base, guard.settings, "", changed)
        if judged.result is Result.FAIL:
            return replace(judged, error=f"As the work left it: {judged.error}")
        if before.ran is None:
            return judged
        old = f"{before.ran:,} of them ran without what the work changed in tests."
        return replace(judged, note=f"{judged.note} {old}")

    async def maybe_intended(self, judged: CheckOutcome) -> CheckOutcome:
        """Offer the owner to confirm changed tests: they fail as they were and pass as they are.

        Tests that only became weaker are not offered: the work goes back.
        """
        guard = self._work.guard
        changed = {name: held for name, held in guard.changed.items() if name in guard.tests}
        if not changed or guard.is_weaker:
            return judged
        run = await self._run_once(guard.settings, ALL)
        left = await self._judge_run(run, None, guard.settings, "")
        return replace(judged, intended=changed) if left.result is Result.PASS else judged

    # Runs -----------------------------------------------------------------------------------------

    async def _run(self, instead: Contents, choice: CaseSelection) -> SuiteRun | SandboxRefusal:
        return await self._runner.run(self._way, self._work.folder, instead, choice)

    async def _run_once(
        self, instead: Contents, choice: CaseSelection
    ) -> SuiteRun | SandboxRefusal:
        """Run tests, unless exactly the same files and tests ran before."""
        for held, chosen, run in self._runs:
            if (held, chosen) == (instead, choice):
                return run
        found = await self._run(instead, choice)
        self._runs.append((instead, choice, found))
        return found

    async def _baseline(self) -> SuiteRun | SandboxRefusal:
        """Return the whole suite at the base, cached if it ran before."""
        work = self._work
        key = await asyncio.to_thread(run_key, work.tree, self._way, self._runner.ways)
        cached = await asyncio.to_thread(self._cache.load, key)
        if cached is not None:
            if cached.code == 0:  # of failed runs no messages are stored
                self._runs.append((work.original, ALL, cached))
            return cached
        run = await self._run_once(work.original, ALL)
        if isinstance(run, SuiteRun):
            await asyncio.to_thread(self._cache.save, key, run)
        return run

    def _remember(self, run: SuiteRun | SandboxRefusal) -> None:
        """Cache this run as the base of later work."""
        work = self._work
        if isinstance(run, SandboxRefusal) or not work.is_compared or work.guard.settings:
            return
        like = next(iter(work.tree.values()), "")
        tree = {name: held for name, held in work.tree.items() if name not in work.original}
        there = (name for name in work.original if (work.folder / name).is_file())
        tree |= {name: project_files.git_hash(work.folder / name, like) for name in there}
        self._cache.save(run_key(tree, self._way, self._runner.ways), run)

    # Judging --------------------------------------------------------------------------------------

    async def _judge_run(
        self,
        run: SuiteRun | SandboxRefusal,
        base: SuiteRun | None,
        instead: Contents,
        about: str,
        free: Collection[str] = frozenset(),
    ) -> CheckOutcome:
        """Return what one run proves. Tests in the files of `free` may differ from before."""
        if isinstance(run, SandboxRefusal):
            return CheckOutcome(Result.FAIL, run.why)
        if wrong := self._unreadable(run) or self._unlike(run, base):
            return self._fail(wrong, run)
        blame = await self._blame(run, base, instead)
        if blame.broke:
            return self._broken_outcome(blame, run, base, about)
        if lost := _lost(run, base, free) or ("" if about else _idle(run, blame)):
            return self._fail(lost, run, log=False)
        note = f"{count_sentence(run, base, about)}{blame.sentence}"
        still = len(blame.before)
        of = None if about else run.count
        return CheckOutcome(Result.PASS, note=note, ran=run.count, of=of, still_failing=still)

    def _unreadable(self, run: SuiteRun) -> str:
        """Return why a run cannot be judged."""
        name = self._name
        if run.code is None:
            return f"{name} was stopped after {self._runner.seconds:g} seconds"
        if run.cases is None and self._way.reader:
            ended = f"ended with exit code {run.code}" if run.code else "ended well"
            return f"{name} {ended} but left no report of its tests, so no test counts as run"
        if run.count == 0 and not run.failed:
            return f"no test ran; {len(run.skipped)} were skipped" if run.skipped else "no test ran"
        return ""

    def _unlike(self, run: SuiteRun, base: SuiteRun | None) -> str:
        """Return what is wrong with a run as a whole and was not at the base."""
        if base is not None and run.cases is None and (run.count or 0) < (base.count or 0):
            return f"{run.count or 0:,} tests ran, and {base.count:,} before the work"
        if not run.code or run.failed:
            return ""
        ended = f"{self._name} ended with exit code {run.code}"
        if base is None or base.code != run.code or base.failed:
            return ended
        return "" if run.cases is not None else f"{ended}, as it did before the work"

    @property
    def _name(self) -> str:
        return self._way.origin if self._way.detected else Path(self._way.argv[0]).name

    def _fail(self, why: str, run: SuiteRun, *, log: bool = True) -> CheckOutcome:
        text = output_excerpt(why, run.output if log else "")
        guard = self._work.guard.sentence
        return CheckOutcome(Result.FAIL, "\n".join(filter(None, (text, guard))), ran=run.count)

    def _broken_outcome(
        self, blame: FailedTests, run: SuiteRun, base: SuiteRun | None, about: str
    ) -> CheckOutcome:
        """Return the failing tests, their number, what was restored; then the first message."""
        lines = (failure_report(blame, run, base, about), self._work.guard.sentence)
        text = "\n".join(filter(None, lines))[:MAX_CHARACTERS]
        details = output_excerpt("", blame.broke[0].message.partition("\n")[2])
        details = details[: max(MAX_CHARACTERS - len(text) - 2, 0)]
        error = "\n\n".join(filter(None, (text, details)))
        return CheckOutcome(Result.FAIL, error, ran=run.count, of=base.count if base else None)

    async def _blame(self, run: SuiteRun, base: SuiteRun | None, instead: Contents) -> FailedTests:
        """Return who broke the failing tests: each runs once more, here and at the base."""
        excuses = self._terms.excuses
        known = {case.key for case in base.failed} if base is not None and excuses else set[str]()
        before = [case for case in run.failed if case.key in known]
        new = [case for case in run.failed if case.key not in known]
        if not new or not self._work.is_compared:
            return FailedTests(tuple(new), tuple(before))
        passed = _passed_keys(await self._run(instead, self._files_of(new)))
        left = [case for case in new if case.key not in passed]
        if left and excuses:
            old = await self._run(self._work.original, self._files_of(left, at_base=True))
            failed = {case.key for case in old.failed} if isinstance(old, SuiteRun) else set[str]()
            before += [case for case in left if case.key in failed]
        unsteady = tuple(case for case in new if case.key in passed)
        return FailedTests(
            tuple(case for case in left if case not in before), tuple(before), unsteady
        )

    def _files_of(self, cases: Sequence[CaseResult], *, at_base: bool = False) -> CaseSelection:
        files = {case.file for case in cases}
        gone = at_base and not files <= self._work.tree.keys()
        foreign = not all(map(self._way.concerns, files))
        whole = "" in files or foreign or gone or not self._way.selects
        return ALL if whole else CaseSelection(tuple(sorted(files)))


def _lost(run: SuiteRun, base: SuiteRun | None, free: Collection[str]) -> str:
    """Return which tests do not run any more, as a sentence."""
    gone = missing_tests(base, run, free) if base is not None and run.cases is not None else ()
    return missing_sentence(gone, run, base) if gone and base is not None else ""


def _idle(run: SuiteRun, blame: FailedTests) -> str:
    """Return that no test passes, if all failed before the work as well."""
    idle = run.cases and len(run.failed) == len(run.ran)
    return f"no test passes, so nothing is proven.{blame.sentence}" if idle else ""


def _has(run: SuiteRun, pattern: str, by_words: bool) -> bool:
    """Whether a test of this name ran; a runner given the name ran no other."""
    if by_words:
        return bool(run.count)
    return any(pattern.casefold() in case.name.casefold() for case in run.ran)


def _passed_keys(run: SuiteRun | SandboxRefusal) -> set[str]:
    if isinstance(run, SandboxRefusal):
        return set()
    return {case.key for case in run.ran} - {case.key for case in run.failed}
