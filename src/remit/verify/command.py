"""Checks that run a program: types, style, tests, builds. Exit code and report decide.

The command comes from the settings, from project.json at the base commit, or from what the
repository uses there; never from a model or a contract. A contract names an activity and a pattern;
the pattern is always part of one argument. A program's output is shown but not trusted.

Tests run as they were before the work, then as the work left them, and are compared with those of
the base commit. A failing test runs once more before it counts; a check known as flaky must pass
several times in a row.
"""

import asyncio
import posixpath
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.contract import ChangedTest, Criterion, Evidence, Finding, GeneratedFrom, Result
from remit.model.task import Task
from remit.ports import Check, Clock
from remit.verify import project_files
from remit.verify.project import ACTIVITIES, ProjectCommands, with_advice
from remit.verify.runners import Argv, CheckCommand, MissingTool
from remit.verify.sandbox import Sandbox, SandboxRefusal, SandboxResult
from remit.verify.selection import Selection, select
from remit.verify.suite_judge import SuiteJudge, output_excerpt
from remit.verify.suite_runs import (
    ALL,
    CachedRuns,
    CaseSelection,
    CheckOutcome,
    ComparedWork,
    SuiteRunner,
    SuiteTerms,
    command_arguments,
    compare_with_base,
    join_outcomes,
)


class Suite:
    """Judges tests. The whole suite runs once for all criteria about the same files.

    1. The test files that the change concerns, if there are few: a quick failure.
    2. The whole suite with the original tests and without new ones, compared with the base commit,
       whose run is cached: earlier failures do not count, and every test that ran before must run.
    3. The whole suite as the work left it.
    """

    def __init__(self, runner: SuiteRunner, terms: SuiteTerms, cache: CachedRuns) -> None:
        self._runner = runner
        self._terms = terms
        self._cache = cache
        self._wholes: dict[object, CheckOutcome] = {}

    async def prove(
        self,
        way: CheckCommand,
        workspace: Path,
        pattern: str | None,
        changed: Collection[str] = (),
        *,
        demanded: bool = False,
    ) -> CheckOutcome:
        """Whether the tests prove the work; `demanded`: a test of the pattern's name must exist."""
        work = await asyncio.to_thread(compare_with_base, workspace, self._terms)
        if work.guard.refused:
            return CheckOutcome(Result.FAIL, f"{'. '.join(work.guard.refused)}. No test was run.")
        judge = SuiteJudge(self._runner, self._terms, self._cache, work, way)
        about = files_named_by(pattern, changed or tuple(work.original))
        first, sentence = CheckOutcome(Result.SKIPPED), ""
        if pattern is not None and not about:
            first = await judge.named(pattern, demanded=demanded)
            sentence = first.note if first.result is Result.SKIPPED else ""
        elif way.selects and about:
            chosen = await asyncio.to_thread(_select, work, about, way)
            first, sentence = await judge.selected(chosen), chosen.why_all
        if first.result is Result.FAIL:
            return await judge.maybe_intended(first)
        if first.result is Result.PASS and not self._terms.whole:
            return first
        return _join_outcomes(await self._run_whole_suite(judge, work, way), first, sentence)

    def forget(self) -> None:
        """Run the whole suite again at the next request."""
        self._wholes.clear()

    async def _run_whole_suite(
        self, judge: SuiteJudge, work: ComparedWork, way: CheckCommand
    ) -> CheckOutcome:
        key = await asyncio.to_thread(_stamp, work, way)
        if key not in self._wholes:
            self._wholes[key] = await judge.whole()
        return self._wholes[key]


def _join_outcomes(whole: CheckOutcome, first: CheckOutcome, sentence: str) -> CheckOutcome:
    """Return the result of the whole suite; if it cannot finish, that of the first run."""
    if whole.result is not Result.SKIPPED:
        return replace(whole, note=" ".join(filter(None, (whole.note, sentence))))
    if first.result is Result.PASS:
        return replace(first, note=f"{first.note} {whole.note}", of=whole.of)
    return replace(whole, result=Result.FAIL, error=whole.note, note="")


def files_named_by(pattern: str | None, changed: Collection[str]) -> tuple[str, ...]:
    """Return the changed files that a pattern names; all without a pattern."""
    if pattern is None:
        return tuple(changed)
    wanted = _letters(pattern)
    return tuple(name for name in changed if wanted in _subject_names(name))


def _subject_names(name: str) -> set[str]:
    folder, last = posixpath.split(name)
    stem = re.sub(r"^test_|[_.-](?:test|spec)$", "", last.partition(".")[0])
    above = posixpath.basename(folder), posixpath.basename(posixpath.dirname(folder))
    return {_letters(each) for each in (stem, last.rpartition(".")[0], *above)} - {""}


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()


def _select(work: ComparedWork, about: Collection[str], way: CheckCommand) -> Selection:
    files = project_files.in_folder(work.folder)
    return select(files.names, files.text, about, way.concerns)


def _stamp(work: ComparedWork, way: CheckCommand) -> object:
    """Return what a whole run depends on, within the workspace."""
    paths = (work.folder / name for name in project_files.names_to_pack(work.folder))
    stamps = (
        (str(path), path.lstat().st_mtime_ns, path.lstat().st_size)
        for path in paths
        if path.is_symlink() or path.exists()
    )
    return way.folder, way.argv, tuple(stamps)


IN_A_ROW: Final = 3


async def run_flaky(once: Callable[[], Awaitable[CheckOutcome]]) -> tuple[CheckOutcome, int]:
    """Return the result of a flaky check and the number of runs; one failure decides."""
    for run in range(1, IN_A_ROW + 1):
        found = await once()
        if found.result is not Result.PASS:
            passed = f"It passed {run - 1} of {IN_A_ROW} times in a row. " if run > 1 else ""
            return replace(found, error=passed + found.error), run
    return found, IN_A_ROW


_MAX_NEW: Final = 20  # complaints listed by name
_TESTS: Final = frozenset({"unit-test", "e2e"})
# A tool's complaint about one place; line and column move when lines are added above.
_DIAGNOSTIC: Final = re.compile(
    r"^(\S+?\.\w+):\d+(?::\d+)?:?\s+(.*)$|^(\S+?\.\w+)\(\d+,\d+\): (.*)$"
)


class CommandCheck:
    """Checks criteria one by one, each on a fresh copy of the workspace."""

    def __init__(
        self,
        ways: ProjectCommands,
        sandbox: Sandbox,
        clock: Clock,
        *,
        terms: SuiteTerms = SuiteTerms(),  # noqa: B008 - frozen
        redact: Callable[[str], str] = str,
        kept: Path | None = None,
    ) -> None:
        self._ways = ways
        self._seconds = sandbox.limits.seconds
        self._clock = clock
        self._terms = terms
        self._redact = redact
        self._runs = SuiteRunner(ways, sandbox, redact)
        self._suite = Suite(self._runs, terms, CachedRuns(kept))

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        demanded = task.contract and task.contract.generated_from is GeneratedFrom.USER
        return await self.prove(
            criterion, evidence.workspace, evidence.changed, demanded=bool(demanded)
        )

    async def prove(
        self,
        criterion: Criterion,
        workspace: str | None,
        changed: Collection[str] = (),
        *,
        demanded: bool = True,
    ) -> Finding:
        """Return what a check of a folder finds; any obstacle is a finding too.

        `demanded`: a test that matches the criterion's pattern must exist; otherwise all tests run
        instead.
        """
        started, attempts = self._clock.now(), 1
        if workspace is None:
            found = CheckOutcome(Result.FAIL, "no folder was worked in, so there is nothing to run")
        else:
            try:
                found, attempts = await self._prove(
                    criterion, Path(workspace), changed, demanded=demanded
                )
            except (BadInput, OSError) as trouble:
                found = CheckOutcome(Result.FAIL, str(trouble))
        return Finding(
            criterion.activity,
            found.result,
            found.error or None,
            attempts,
            started_at=started,
            ended_at=self._clock.now(),
            note=found.note or None,
            ran=found.ran,
            of=found.of,
            still_failing=found.still_failing,
            intended=tuple(ChangedTest(*each) for each in sorted(found.intended.items())),
        )

    async def _prove(
        self, criterion: Criterion, workspace: Path, changed: Collection[str], *, demanded: bool
    ) -> tuple[CheckOutcome, int]:
        way = self._ways.command_for(criterion.activity)
        if isinstance(way, MissingTool):
            idle = self._ways.is_idle(criterion.activity)
            return CheckOutcome(Result.SKIPPED if idle else Result.FAIL, way.why), 1
        pattern, is_flaky = criterion.pattern, criterion.activity in self._ways.flaky
        touched = changed if criterion.activity in _TESTS else ()

        async def one(each: CheckCommand) -> CheckOutcome:
            if criterion.activity in _TESTS:
                suite = self._suite
                return await suite.prove(each, workspace, pattern, changed, demanded=demanded)
            return await self._plain(each, pattern, workspace)

        async def once() -> CheckOutcome:
            if is_flaky:
                self._suite.forget()
            found = [_entitled(way, each, await one(each)) for each in way.all_commands]
            needed = [each for each in way.lacks if any(map(each.concerns, touched))]
            whys = (with_advice(each.why, criterion.activity) for each in needed)
            found += [CheckOutcome(Result.FAIL, why) for why in whys]
            return join_outcomes(found, [each for each in way.lacks if each not in needed])

        return await run_flaky(once) if is_flaky else (await once(), 1)

    async def _plain(self, way: CheckCommand, pattern: str | None, workspace: Path) -> CheckOutcome:
        """Run a tool without test names once, with the original settings; compare with the base."""
        work = ComparedWork(workspace)
        if self._terms.base is not None:
            work = await asyncio.to_thread(compare_with_base, workspace, self._terms)
        argv = command_arguments(way, CaseSelection(name=pattern) if pattern else ALL)
        ended = await self._runs.ended(argv, workspace, work.guard.settings, way.folder)
        if isinstance(ended, SandboxRefusal):
            return CheckOutcome(Result.FAIL, ended.why)
        if ended.code == 0:
            return CheckOutcome(Result.PASS, note=work.guard.settings_sentence)
        name = way.origin if way.detected else Path(way.argv[0]).name
        if ended.code is None:
            why, new = f"{name} was stopped after {self._seconds:g} seconds", None
        else:
            why, new = (
                f"{name} ended with exit code {ended.code}",
                await self._new(argv, work, ended, way.folder),
            )
        if new == ():
            return CheckOutcome(Result.PASS, note=_unchanged_sentence(name, ended))
        if new:
            why = "\n".join((*new[:_MAX_NEW], f"{why}; {len(new)} of its complaints are new"))
        text = output_excerpt(why, self._redact(ended.output))
        return CheckOutcome(
            Result.FAIL, "\n".join(filter(None, (text, work.guard.settings_sentence)))
        )

    async def _new(
        self, argv: Argv, work: ComparedWork, ended: SandboxResult, within: str
    ) -> tuple[str, ...] | None:
        """Return the tool's new complaints; None if they cannot be determined."""
        if not work.is_compared and self._terms.before is not None:
            work = await asyncio.to_thread(compare_with_base, work.folder, self._terms)
        if not work.is_compared or not _diagnostics(ended.output):
            return None
        before = await self._runs.ended(argv, work.folder, work.original, within)
        return _new_diagnostics(ended, before)


def _entitled(whole: CheckCommand, way: CheckCommand, found: CheckOutcome) -> CheckOutcome:
    """Say whose note it is where several programs have one."""
    several = bool(whole.also) and found.note
    return replace(found, note=f"{way.title}: {found.note}") if several else found


def command_checks(check: Check) -> Mapping[str, Check]:
    """Return the same check for each activity it knows."""
    return dict.fromkeys(ACTIVITIES, check)


def _new_diagnostics(
    now: SandboxResult, before: SandboxResult | SandboxRefusal
) -> tuple[str, ...] | None:
    """Return a tool's complaints that were not there at the base; None if not comparable."""
    if isinstance(before, SandboxRefusal) or not before.code or before.code != now.code:
        return None
    was, found = _diagnostics(before.output), _diagnostics(now.output)
    if not found or not was:
        return None
    left, new = Counter(each for each, _ in was), list[str]()
    for each, line in found:
        if left[each]:
            left[each] -= 1
        else:
            new.append(line)
    return tuple(new)


def _diagnostics(output: str) -> list[tuple[tuple[str, ...], str]]:
    found = ((_DIAGNOSTIC.match(line), line) for line in output.splitlines())
    return [(tuple(filter(None, match.groups())), line) for match, line in found if match]


def _unchanged_sentence(name: str, ended: SandboxResult) -> str:
    count = len(_diagnostics(ended.output))
    return f"{name} complains of {count} things, as it did before the work; none is new."
