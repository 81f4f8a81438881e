"""Checks that run a program: types, style, tests, builds. Its exit code and its report decide.

The words of a program come from the settings, from project.json at the base commit, or from what
the repository is seen to use; never from a model or a contract. A contract names the activity and a
pattern, and a pattern is part of one word, whatever it holds. What a program prints is told and
never believed.
"""

import asyncio
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from remit.errors import BadInput
from remit.model.contract import Criterion, Evidence, Finding, Result
from remit.model.task import Task
from remit.ports import Check, Clock
from remit.verify import flaky, ground, guarded, junit, toolchain
from remit.verify.guarded import Guard
from remit.verify.presets import ACTIVITIES, Argv, Lacking, Way
from remit.verify.project import Ways
from remit.verify.said import useful
from remit.verify.sandbox import REPORT, Ended, Ground, Refused, Sandbox

_TESTS: Final = frozenset({"unit-test", "e2e"})
_PATTERN: Final = re.compile(r"\{(pattern|regex)\}")
_NAME: Final = re.compile(r"(?!(?:and|or|not|None|True|False)$)\w[\w:+.\[\]/-]*")
_SPECIAL: Final = re.compile(r"[\\^$.|?*+()\[\]{}]")
_MOST_PATTERN: Final = 200
_NO_TESTS: Final = 5  # what pytest ends with when it found none


@dataclass(frozen=True, slots=True)
class Terms:
    """What the work of one task is held to, besides its contract."""

    base: str | None = (
        None  # the commit it began from; None: nobody else did it, nothing is guarded
    )
    may_change: tuple[str, ...] = ()  # globs of files that decide and that the task asks to change
    also: tuple[str, ...] = ()  # more files that decide


class CommandCheck:
    """Checks one criterion after the other, each on a fresh copy of the workspace."""

    def __init__(
        self,
        ways: Ways,
        sandbox: Sandbox,
        clock: Clock,
        *,
        terms: Terms = Terms(),  # noqa: B008 - frozen
        redact: Callable[[str], str] = str,
    ) -> None:
        self._ways = ways
        self._sandbox = sandbox
        self._clock = clock
        self._terms = terms
        self._redact = redact

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task
        return await self.prove(criterion, evidence.workspace)

    async def prove(self, criterion: Criterion, workspace: str | None) -> Finding:
        """What a check of a folder finds; whatever stands in the way is a finding too."""
        started, attempts = self._clock.now(), 1
        if workspace is None:
            result, why = Result.FAIL, "no folder was worked in, so there is nothing to run"
        else:
            try:
                result, why, attempts = await self._prove(criterion, Path(workspace))
            except (BadInput, OSError) as trouble:
                result, why = Result.FAIL, str(trouble)
        return Finding(
            criterion.activity,
            result,
            why or None,
            attempts,
            started_at=started,
            ended_at=self._clock.now(),
        )

    async def _prove(self, criterion: Criterion, workspace: Path) -> tuple[Result, str, int]:
        way = self._ways.of(criterion.activity)
        if isinstance(way, Lacking):
            idle = self._ways.is_idle(criterion.activity)
            return (Result.SKIPPED if idle else Result.FAIL), way.why, 1
        argv = words(way, criterion.pattern)
        guard = await asyncio.to_thread(self._guard, workspace)
        found = await self._tried(criterion, way, argv, workspace, guard)
        none = _nothing_ran(criterion)
        if guard.instead and (found[0] is Result.PASS or found[1].startswith(none)):
            # What is taken over has to hold as well, with the tests that were added to old files.
            left = await self._tried(criterion, way, argv, workspace, Guard())
            if not left[1].startswith(none):
                found = left[0], f"as the work left it: {left[1]}" if left[1] else "", left[2]
        result, why, attempts = found
        return result, "\n".join(filter(None, (why, guard.sentence))), attempts

    async def _tried(
        self, criterion: Criterion, way: Way, argv: Argv, workspace: Path, guard: Guard
    ) -> tuple[Result, str, int]:
        """Run it on a copy of the workspace, as often as it takes to be believed."""
        with tempfile.TemporaryDirectory(prefix="remit-verify-") as folder:
            files = Path(folder) / "files.tar"
            await asyncio.to_thread(self._pack, workspace, files, guard)
            once = partial(self._once, criterion, way, argv, files)
            if criterion.activity in self._ways.flaky:
                return await flaky.settle(once)
            result, why = await once()
            return result, why, 1

    def _guard(self, workspace: Path) -> Guard:
        if self._terms.base is None:
            return Guard()
        return guarded.compare(
            workspace,
            self._terms.base,
            may_change=self._terms.may_change,
            also=self._terms.also,
        )

    def _pack(self, workspace: Path, into: Path, guard: Guard) -> None:
        with into.open("wb") as archive:
            room = self._sandbox.limits.room
            ground.pack(workspace, archive, instead=guard.instead, room=room)

    async def _once(
        self, criterion: Criterion, way: Way, argv: Argv, files: Path
    ) -> tuple[Result, str]:
        ways = self._ways
        laid = Ground(files, ways.place, ways.shown, ways.programs, toolchain.ENVIRON)
        ended = await self._sandbox.run(argv, laid)
        if isinstance(ended, Refused):
            return Result.FAIL, ended.why
        why = judge(ended, way, criterion, self._sandbox.limits.seconds)
        if why is None:
            return Result.PASS, ""
        return Result.FAIL, useful(why, self._redact(ended.output))


def checks(check: Check) -> Mapping[str, Check]:
    """The same check for each activity that it knows."""
    return dict.fromkeys(ACTIVITIES, check)


def words(way: Way, pattern: str | None) -> Argv:
    """The words that are run: the pattern is set in as part of one of them, or left out."""
    if pattern is not None:
        _check_pattern(way, pattern)
        fill = {"pattern": pattern, "regex": _SPECIAL.sub(r"\\\g<0>", pattern)}
        found = [_PATTERN.sub(lambda at: fill[at[1]], word) for word in way.argv]
    else:
        found = [word for word in way.argv if not _PATTERN.search(word)]
    return tuple(word.replace("{report}", REPORT) for word in found)


def _check_pattern(way: Way, pattern: str) -> None:
    bare = any(_PATTERN.fullmatch(word) for word in way.argv)
    wrong = (
        (not pattern.strip(), "is empty"),
        (len(pattern) > _MOST_PATTERN, f"is longer than {_MOST_PATTERN} characters"),
        (not pattern.isprintable(), "holds something that cannot be printed"),
        (bare and pattern.startswith("-"), "would be read as an option"),
        (way.names and not _NAME.fullmatch(pattern), "is no name of a test"),
        (not _says_what_ran(way), f"cannot be looked for: {way.origin} has no {{pattern}}"),
    )
    for holds, sentence in wrong:
        if holds:
            raise BadInput(
                f"The pattern {pattern!r:.60} {sentence}; one looks like DarkModeToggle."
            )


def _says_what_ran(way: Way) -> bool:
    return any(_PATTERN.search(word) or "{report}" in word for word in way.argv)


def judge(ended: Ended, way: Way, criterion: Criterion, seconds: float) -> str | None:
    """Why a run does not prove what it should; None if it does."""
    name = way.origin if way.detected else Path(way.argv[0]).name
    if ended.code is None:
        return f"{name} was stopped after {seconds:g} seconds"
    if ended.code:
        none = ended.code == _NO_TESTS and way.origin == "pytest"
        return _nothing_ran(criterion) if none else f"{name} ended with exit code {ended.code}"
    return _doubt(name, ended, way, criterion) if criterion.activity in _TESTS else None


def _doubt(name: str, ended: Ended, way: Way, criterion: Criterion) -> str | None:
    """Why tests that went well prove nothing."""
    tests = _tests(way, ended)
    if tests is None:
        left = f"{name} ended well but left no report of its tests"
        return left if _counts(way) else None
    if tests.failed:
        return f"{name} ended well, but its report has {tests.failed} tests that failed"
    return None if _ran(tests, way, criterion) else _nothing_ran(criterion, tests.skipped)


def _tests(way: Way, ended: Ended) -> junit.Tests | None:
    if any("{report}" in word for word in way.argv):
        return junit.read(ended.report)
    if way.argv[1:3] == ("test", "-json"):
        return junit.go(ended.output)
    return junit.cargo(ended.output) if way.origin == "cargo" else None


def _counts(way: Way) -> bool:
    return any("{report}" in word for word in way.argv)


def _ran(tests: junit.Tests, way: Way, criterion: Criterion) -> bool:
    chosen = criterion.pattern is None or any(_PATTERN.search(word) for word in way.argv)
    wanted = "" if chosen else (criterion.pattern or "").casefold()
    return any(wanted in name.casefold() for name in tests.ran)


def _nothing_ran(criterion: Criterion, skipped: int = 0) -> str:
    found = f"no test matches {criterion.pattern}" if criterion.pattern else "no test ran"
    return f"{found}; {skipped} were skipped" if skipped else found
