"""Contracts and verdicts: how to tell that a task is done, fixed before the work begins.

The plan says what was asked, what the brain works on, and where the result goes.
"""

import re
from datetime import datetime
from enum import StrEnum
from fnmatch import translate
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.model.codec import sha256, text_of, to_json
from remit.model.delivery import Delivery


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
        return sha256(text_of(to_json(self)).encode()).hex()


class ReadSource(Struct, frozen=True):
    """A source that was read for the work: its place and its text."""

    place: str  # a URL, a file, or a tool call
    text: str
    read_at: datetime | None = None
    is_lead: bool = False  # results of a search: they lead to pages and are no source themselves


class Evidence(Struct, frozen=True):
    """The result of the work, for the checks."""

    text: str
    read: tuple[ReadSource, ...] = ()
    workspace: str | None = None  # the folder of the work
    changed: tuple[str, ...] = ()  # changed files, relative to the workspace


class Overall(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    PENDING = "pending"  # everything checked so far passed; some criteria are checked later


class Result(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    SKIPPED = "skipped"


class ChangedTest(Struct, frozen=True):
    """A judging file that the work changed: its path, and the hash of its new content."""

    path: str
    digest: str


class Finding(Struct, frozen=True):
    """What the check of one criterion found."""

    activity: str
    result: Result
    error: str | None = None
    attempts: int = 1
    started_at: datetime | None = None
    ended_at: datetime | None = None
    note: str | None = None  # extra information: how many tests ran, and which
    ran: int | None = None  # tests that ran
    of: int | None = None  # tests that exist, where known
    still_failing: int = 0  # tests that failed before the work and fail still
    intended: tuple[ChangedTest, ...] = ()  # it would pass if the owner confirms these changes

    @property
    def is_partial(self) -> bool:
        """Whether it passed, but only some of the tests ran."""
        return self.result is Result.PASS and self.ran is not None and self.ran != self.of


UNPROVEN = "Not proven yet: "  # start of a note that reports the findings of a check
NOT_DECIDED = "not verified: "  # start of the error of a finding that no check can decide
DEFERRED = "deferred"  # error of a criterion that is skipped now and checked when its group ends


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
        """Return this verdict with the attempts of an earlier verdict added."""
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
        """Changed tests that the owner could confirm, if they are the only obstacle."""
        failed = [finding for finding in self.findings if finding.result is Result.FAIL]
        if not all(finding.intended for finding in failed):
            return ()
        return tuple(dict.fromkeys(each for finding in failed for each in finding.intended))

    @property
    def partial(self) -> Finding | None:
        """The check that passed with only some of the tests, if any."""
        return next((finding for finding in self.findings if finding.is_partial), None)

    @property
    def complaint(self) -> str:
        """All errors of failed criteria, each once."""
        failed = (f for f in self.findings if f.result is Result.FAIL)
        return "; ".join(dict.fromkeys(f"{f.activity}: {f.error or 'failed'}" for f in failed))


_TESTS: Final = (
    *("test_*.py", "*_test.py", "tests.py", "*_test.go", "*_test.rs", "*_test.exs", "*_test.dart"),
    *("*.test.*", "*.spec.*", "*-test.*js", "*_test.*js", "*_test.ts", "*.snap", "test.*js"),
    *("*Test.java", "*Tests.java", "*Test.kt", "*Tests.kt", "*Test.cs", "*Tests.cs"),
    *("*Test.php", "*Test.scala", "*Spec.scala", "*Spec.kt", "*Spec.groovy", "*Tests.swift"),
    *("*_spec.rb", "*_test.rb", "test_*.rb", "*_test.cc", "*_test.cpp"),
)
_TEST_FOLDERS: Final = frozenset(
    {"tests", "test", "__tests__", "__snapshots__", "__mocks__", "e2e", "spec", "testdata"}
)
# Files that control check runs, by the program that reads them.
_SETTINGS: Final = {
    "pytest": ("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"),
    "python": ("sitecustomize.py", "usercustomize.py", ".coveragerc", "noxfile.py"),
    "mocha": (".mocharc*", "mocha.opts"),
    "jest": ("jest.config.*", "jest.setup.*", "jest-preset.*", "babel.config.*", ".babelrc*"),
    "vitest": ("vitest.config.*", "vitest.workspace.*", "vitest.setup.*", "vite.config.*"),
    "node": (".npmrc", ".yarnrc*", ".nycrc*", ".c8rc*", ".taprc", "ava.config.*", "karma.conf*"),
    "browsers": ("playwright.config.*", "cypress.config.*"),
    "rust": ("build.rs", "rust-toolchain*", "clippy.toml", ".clippy.toml", "nextest.toml"),
    "go": ("go.work", ".golangci.*"),
    "types": ("mypy.ini", ".mypy.ini", "pyrightconfig.json", "tsconfig*.json", "ty.toml"),
    "style": ("ruff.toml", ".ruff.toml", ".flake8", ".pylintrc", "eslint.config.*", ".eslintrc*"),
    "more style": (".eslintignore", "biome.json*", ".prettierrc*", ".pre-commit-config.yaml"),
    "commands": ("Makefile", "GNUmakefile", "justfile", ".justfile", "Taskfile.y*ml"),
    "other runners": ("phpunit.xml*", ".rspec", "Rakefile", "project.json"),
}
# Everything in these folders controls what lies beside them.
_SETTING_FOLDERS: Final = (".cargo", ".config", "*.egg-info", "*.dist-info")
# Only a part of these controls a run; the checks know which.
PARTLY_SETTINGS: Final = frozenset(
    {"pyproject.toml", "package.json", "setup.cfg", "tox.ini", "Cargo.toml"}
)
# A module of this name beside the tests would shadow the test runner.
RUNNER_MODULES: Final = (
    r"_?pytest|pytest_\w+|pluggy|iniconfig|packaging|pygments|exceptiongroup|py|xdist|execnet"
    r"|hypothesis|coverage|nose2?|mock"
)


_ALL_SETTINGS: Final = tuple(glob for globs in _SETTINGS.values() for glob in globs)


def _matches(name: str, globs: tuple[str, ...]) -> bool:
    return _any_of(globs).match(name) is not None


@cache
def _any_of(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, globs)))


def is_test(path: str) -> bool:
    """Whether a file is a test, or support for tests."""
    *folders, name = path.split("/")
    return not _TEST_FOLDERS.isdisjoint(folders) or _matches(name, _TESTS)


def is_runner_setting(path: str) -> bool:
    """Whether a whole file, by its name and place, controls check runs."""
    *folders, name = path.split("/")
    if any(_matches(folder, _SETTING_FOLDERS) for folder in folders):
        return True
    return _matches(name, _ALL_SETTINGS)


def steered_folder(path: str) -> str:
    """Return the folder that such a file controls; empty for the whole project."""
    kept: list[str] = []
    for folder in path.split("/")[:-1]:
        if _matches(folder, _SETTING_FOLDERS):
            break
        kept.append(folder)
    return "/".join(kept)


class ItemStatus(StrEnum):
    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"


class WorkItem(Struct, frozen=True):
    """One thing the brain works on. Never delivered."""

    description: str
    status: ItemStatus = ItemStatus.PENDING


class ClauseOutcome(StrEnum):
    """What a clause of the request became."""

    WORK = "work"
    DELIVERY = "delivery"
    TIME = "time"
    CONSTRAINT = "constraint"
    DECLINED = "declined"


class Clause(Struct, frozen=True):
    """A piece of the owner's words and what became of it; None: not known yet."""

    text: str
    start: int
    end: int
    became: ClauseOutcome | None = None
    why: str | None = None


class OwnerRequest(Struct, frozen=True):
    """The owner's exact words, with their clauses."""

    text: str
    clauses: tuple[Clause, ...] = ()


class Gap(Struct, frozen=True):
    """A missing part of a request; the task cannot start until the owner provides it.

    `waits` are deliveries that lack it; one listed in two gaps lacks both.
    """

    clause: int  # number in the request, from 1
    about: str
    options: tuple[str, ...] = ()
    waits: tuple[Delivery, ...] = ()
    letter: bool = False  # whether the answer is the text to send
    question: str = ""  # the question, in English
    line: int = 0  # its number on the card that asks

    @property
    def key(self) -> str:
        """The key of the reviews that ask for it."""
        return f"clause:{self.clause}:{self.about}"


class Plan(Struct, frozen=True):
    work: tuple[WorkItem, ...] = ()
    delivery: tuple[Delivery, ...] = ()
    contract: Contract | None = None
    unsure: str | None = None  # a question about the contract that must be answered first
    notice: str | None = None  # a remark for the owner that needs no answer
    conditional: bool = False  # whether a condition is checked before anything is sent

    @property
    def precomposed(self) -> bool:
        """Whether everything to send was written by the owner and can be sent at once."""
        return self.composed and not self.conditional

    @property
    def composed(self) -> bool:
        """Whether everything to send was written by the owner."""
        return (
            bool(self.delivery)
            and not self.work
            and all(delivery.content is not None for delivery in self.delivery if not delivery.part)
        )


class RankingRule(Struct, frozen=True):
    """The rule that set a priority, stored for `remit why`."""

    name: str
    because: str
