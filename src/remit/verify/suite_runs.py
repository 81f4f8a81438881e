"""What work is held to, how it differs from its base, and runs of its tests in the sandbox."""

import asyncio
import hashlib
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from posixpath import dirname
from typing import Final

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.contract import Result
from remit.system.files import write_atomic
from remit.verify import guarded, project_files
from remit.verify.guarded import Contents, GuardedTests
from remit.verify.project import ProjectCommands
from remit.verify.reports import CaseOutcome, Cases, read_cases, read_count
from remit.verify.runners import FILES, Argv, CheckCommand, MissingTool
from remit.verify.sandbox import REPORT, Sandbox, SandboxFiles, SandboxRefusal, SandboxResult

KEPT_RUNS: Final = "cache/test-runs"  # in Remit's directory
_PATTERN: Final = re.compile(r"\{(pattern|regex)\}")
_NAME: Final = re.compile(r"(?!(?:and|or|not|None|True|False)$)\w[\w:+.\[\]/-]*")
_SPECIAL: Final = re.compile(r"[\\^$.|?*+()\[\]{}]")
_MAX_PATTERN: Final = 200
_MAX_FILES: Final = 200  # test files named in one run; beyond that all run
_MAX_KEPT: Final = 40  # runs stored for comparison


class CaseSelection(Struct, frozen=True):
    """Which tests run: all, those in some files, or those with a name."""

    files: tuple[str, ...] = ()
    name: str | None = None


ALL: Final = CaseSelection()


class SuiteRun(Struct, frozen=True):
    """How one test run ended. `cases` is None if the runner reports no single tests."""

    code: int | None  # None: timed out and stopped
    cases: Cases | None = None
    count: int | None = None  # how many ran, if known
    output: str = ""

    @property
    def failed(self) -> Cases:
        return self._with_outcome(CaseOutcome.FAILED)

    @property
    def skipped(self) -> Cases:
        return self._with_outcome(CaseOutcome.SKIPPED)

    @property
    def ran(self) -> Cases:
        return tuple(case for case in self.cases or () if case.outcome is not CaseOutcome.SKIPPED)

    def _with_outcome(self, outcome: CaseOutcome) -> Cases:
        return tuple(case for case in self.cases or () if case.outcome is outcome)


class SuiteRunner:
    """Runs commands on fresh copies of a workspace."""

    def __init__(
        self, ways: ProjectCommands, sandbox: Sandbox, redact: Callable[[str], str]
    ) -> None:
        self.ways = ways
        self.seconds = sandbox.limits.seconds
        self._sandbox = sandbox
        self._redact = redact

    async def run(
        self, way: CheckCommand, workspace: Path, instead: Contents, choice: CaseSelection = ALL
    ) -> SuiteRun | SandboxRefusal:
        """Run tests on a copy in which some files have other content."""
        ended = await self.ended(command_arguments(way, choice), workspace, instead, way.folder)
        if isinstance(ended, SandboxRefusal):
            return ended
        root, folder = str(self.ways.place), way.folder
        cases = read_cases(way.reader, ended.report, ended.output, root, folder)
        if cases is not None:
            cases = tuple(replace(case, message=self._redact(case.message)) for case in cases)
            count: int | None = sum(case.outcome is not CaseOutcome.SKIPPED for case in cases)
        else:
            count = read_count(ended.output)
        return SuiteRun(ended.code, cases, count, self._redact(ended.output))

    async def ended(
        self, argv: Argv, workspace: Path, instead: Contents, within: str = ""
    ) -> SandboxResult | SandboxRefusal:
        """Run any command on such a copy, `within` a folder of it."""
        with tempfile.TemporaryDirectory(prefix="remit-verify-") as folder:
            files = Path(folder) / "files.tar"
            room = self._sandbox.limits.room
            await asyncio.to_thread(
                project_files.pack, workspace, files, instead=instead, room=room
            )
            ways = self.ways
            laid = SandboxFiles(
                files, ways.place, ways.shown, ways.programs, project_files.ENVIRON, within
            )
            return await self._sandbox.run(argv, laid)


def command_arguments(way: CheckCommand, choice: CaseSelection = ALL) -> Argv:
    """Return the arguments: a name is part of one argument or left out; files replace `{files}`."""
    name = choice.name
    if name is not None:
        _check_name(way, name)
        fill = {"pattern": name, "regex": _SPECIAL.sub(r"\\\g<0>", name)}
        found = [_PATTERN.sub(lambda at: fill[at[1]], word) for word in way.argv]
    else:
        found = [word for word in way.argv if not _PATTERN.search(word)]
    files = _file_arguments(way, choice.files)
    return tuple(
        word.replace("{report}", REPORT)
        for each in found
        for word in (files if each == FILES else (each,))
    )


def _file_arguments(way: CheckCommand, files: Sequence[str]) -> Argv:
    if not files or len(files) > _MAX_FILES:
        return way.everything
    files = [name.removeprefix(f"{way.folder}/") for name in files]
    if way.by_folder:
        return tuple(dict.fromkeys(f"./{dirname(name)}".rstrip("/") for name in files))
    return tuple(f"./{name}" if name.startswith("-") else name for name in files)


def takes_names(way: CheckCommand) -> bool:
    return any(_PATTERN.search(word) for word in way.argv)


def _check_name(way: CheckCommand, name: str) -> None:
    bare = any(_PATTERN.fullmatch(word) for word in way.argv)
    wrong = (
        (not name.strip(), "is empty"),
        (len(name) > _MAX_PATTERN, f"is longer than {_MAX_PATTERN} characters"),
        (not name.isprintable(), "holds something that cannot be printed"),
        (bare and name.startswith("-"), "would be read as an option"),
        (way.names and not _NAME.fullmatch(name), "is no name of a test"),
    )
    for holds, sentence in wrong:
        if holds:
            raise BadInput(f"The pattern {name!r:.60} {sentence}; one looks like DarkModeToggle.")


# What is kept -------------------------------------------------------------------------------------


class CachedRuns:
    """Stored runs of whole suites, by what was run, so that a base runs once."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def load(self, key: str) -> SuiteRun | None:
        if self._folder is None:
            return None
        try:
            return msgspec.json.decode((self._folder / f"{key}.json").read_bytes(), type=SuiteRun)
        except (OSError, ValueError):
            return None

    def save(self, key: str, run: SuiteRun) -> None:
        if self._folder is None:
            return
        cases = None if run.cases is None else tuple(replace(c, message="") for c in run.cases)
        stored = replace(run, cases=cases, output=run.output[-20_000:])
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            text = msgspec.json.encode(stored)
            write_atomic(self._folder / f"{key}.json", text, durable=False)
            runs = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
            for old in runs[:-_MAX_KEPT]:
                old.unlink()


def run_key(tree: Mapping[str, str], way: CheckCommand, ways: ProjectCommands) -> str:
    """Return what a run depends on: every file, the command, and what is installed."""
    files = sorted(f"{name}\0{held}" for name, held in tree.items())
    parts = (*files, way.folder, *command_arguments(way), *_installed_packages(ways))
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _installed_packages(ways: ProjectCommands) -> Iterator[str]:
    for shown in ways.shown:
        yield str(shown.folder)
        packages = shown.folder.glob("lib*/python*/site-packages/*.dist-info")
        yield from sorted(each.name for each in packages)
        lock = shown.folder / ".package-lock.json"
        if lock.is_file():
            yield f"{lock.stat().st_mtime_ns}"


class SuiteTerms(Struct, frozen=True):
    """What the work of one task is held to, besides its contract."""

    base: str | None = None  # the commit it began from; None: nobody else did it
    may_change: tuple[str, ...] = ()  # globs of judging files that the owner named
    also: tuple[str, ...] = ()  # more judging files
    intended: Mapping[str, str] = field(default_factory=dict)  # what the owner confirmed, by hash
    before: str | None = None  # the commit that failures are compared with, if not the base
    whole: bool = True  # whether the whole suite must run
    excuses: bool = True  # whether earlier failures may still fail


class CheckOutcome(Struct, frozen=True):
    """The outcome of a check. `ran` of `of` tests ran, if known."""

    result: Result
    error: str = ""
    note: str = ""
    ran: int | None = None
    of: int | None = None
    intended: Mapping[str, str] = field(default_factory=dict)  # what the owner could confirm
    still_failing: int = 0  # tests that failed before the work and fail still


def join_outcomes(found: Sequence[CheckOutcome], lacks: Sequence[MissingTool] = ()) -> CheckOutcome:
    """Return the outcome of several commands of one activity: each must pass; `lacks`: not run.

    The worst result leads, and all messages are kept.
    """
    worst = min(
        found, key=lambda each: (Result.FAIL, Result.SKIPPED, Result.PASS).index(each.result)
    )
    errors = dict.fromkeys(each.error for each in found if each.error)
    notes = dict.fromkeys(each.note for each in found if each.note)
    left_out = (f"Not run: {each.why}." for each in lacks)
    return CheckOutcome(
        worst.result,
        "\n".join(errors),
        " ".join((*notes, *left_out)),
        _sum(each.ran for each in found),
        _sum(each.of for each in found),
        {name: held for each in found for name, held in each.intended.items()},
        sum(each.still_failing for each in found),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [each for each in counts if each is not None]
    return sum(known) if known else None


class ComparedWork(Struct, frozen=True):
    """A workspace, compared with its base commit."""

    folder: Path
    tree: Mapping[str, str] = field(default_factory=dict)  # the base: hashes by name
    original: Contents = field(default_factory=dict)  # the base content of each changed file
    guard: GuardedTests = field(default_factory=GuardedTests)
    is_compared: bool = False
    named: frozenset[str] = frozenset()  # changed judging files that the owner wants


def compare_with_base(workspace: Path, terms: SuiteTerms) -> ComparedWork:
    """Compare a workspace with its base, or with the commit for failures."""
    commit = terms.base or terms.before
    if commit is None:
        return ComparedWork(workspace)
    tree = project_files.files_at_commit(workspace, commit)
    original = {
        name: project_files.read_blob(workspace, tree[name]) if name in tree else None
        for name in project_files.changed_files(workspace, tree)
    }
    if terms.base is None:
        return ComparedWork(workspace, tree, original, is_compared=True)
    guard = guarded.guard_tests(
        workspace,
        tree,
        original,
        may_change=terms.may_change,
        also=terms.also,
        intended=terms.intended,
    )
    asked = terms.may_change or terms.intended
    named = frozenset(original) - guard.as_before.keys() if asked else frozenset[str]()
    return ComparedWork(workspace, tree, original, guard, is_compared=True, named=named)
