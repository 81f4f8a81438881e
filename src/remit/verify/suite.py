"""Runs the tests as they were before the work, then as the work left them.

1. The test files that the change concerns, if there are few: a quick failure.
2. The whole suite with the original tests and without new ones. Its results are compared with those
   of the base commit, which runs once and is cached: earlier failures are reported but do not
   count, and every test that ran before must run.
3. The whole suite as the work left it.

A failing test runs once more, on the work and on the base, before it counts.
"""

import asyncio
import posixpath
import re
from collections.abc import Collection
from pathlib import Path

from msgspec.structs import replace

from remit.model.contract import Result
from remit.verify import ground, project_files
from remit.verify.runners import CheckCommand
from remit.verify.selection import Selection, select
from remit.verify.suite_judge import SuiteJudge
from remit.verify.suite_runs import CachedRuns, SuiteRunner
from remit.verify.suite_terms import CheckOutcome, ComparedWork, SuiteTerms, compare


class Suite:
    """Judges tests. The whole suite runs once for all criteria about the same files."""

    def __init__(self, runner: SuiteRunner, terms: SuiteTerms, kept: CachedRuns) -> None:
        self._runner = runner
        self._terms = terms
        self._kept = kept
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
        work = await asyncio.to_thread(compare, workspace, self._terms)
        if work.guard.refused:
            return CheckOutcome(Result.FAIL, f"{'. '.join(work.guard.refused)}. No test was run.")
        judge = SuiteJudge(self._runner, self._terms, self._kept, work, way)
        about = files_called(pattern, changed or tuple(work.original))
        first, sentence = CheckOutcome(Result.SKIPPED), ""
        if pattern is not None and not about:
            first = await judge.named(pattern, demanded=demanded)
            sentence = first.note if first.result is Result.SKIPPED else ""
        elif way.selects and about:
            chosen = await asyncio.to_thread(_select, work, about)
            first, sentence = await judge.selected(chosen), chosen.why_all
        if first.result is Result.FAIL:
            return await judge.maybe_intended(first)
        if first.result is Result.PASS and not self._terms.whole:
            return first
        return _joined(await self._whole(judge, work, way), first, sentence)

    def forget(self) -> None:
        """Run the whole suite again at the next request."""
        self._wholes.clear()

    async def _whole(
        self, judge: SuiteJudge, work: ComparedWork, way: CheckCommand
    ) -> CheckOutcome:
        key = await asyncio.to_thread(_stamp, work, way)
        if key not in self._wholes:
            self._wholes[key] = await judge.whole()
        return self._wholes[key]


def _joined(whole: CheckOutcome, first: CheckOutcome, sentence: str) -> CheckOutcome:
    """Return the result of the whole suite; if it cannot finish, that of the first run."""
    if whole.result is not Result.SKIPPED:
        return replace(whole, note=" ".join(filter(None, (whole.note, sentence))))
    if first.result is Result.PASS:
        return replace(first, note=f"{first.note} {whole.note}", of=whole.of)
    return replace(whole, result=Result.FAIL, error=whole.note, note="")


def files_called(pattern: str | None, changed: Collection[str]) -> tuple[str, ...]:
    """Return the changed files that a pattern names; all without a pattern."""
    if pattern is None:
        return tuple(changed)
    wanted = _letters(pattern)
    return tuple(name for name in changed if wanted in _called(name))


def _called(name: str) -> set[str]:
    folder, last = posixpath.split(name)
    stem = re.sub(r"^test_|[_.-](?:test|spec)$", "", last.partition(".")[0])
    above = posixpath.basename(folder), posixpath.basename(posixpath.dirname(folder))
    return {_letters(each) for each in (stem, last.rpartition(".")[0], *above)} - {""}


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()


def _select(work: ComparedWork, about: Collection[str]) -> Selection:
    files = project_files.in_folder(work.folder)
    return select(files.names, files.text, about)


def _stamp(work: ComparedWork, way: CheckCommand) -> object:
    """Return what a whole run depends on, within the workspace."""
    paths = (work.folder / name for name in ground.names(work.folder))
    seen = (
        (str(path), path.lstat().st_mtime_ns, path.lstat().st_size)
        for path in paths
        if path.is_symlink() or path.exists()
    )
    return way.argv, tuple(seen)
