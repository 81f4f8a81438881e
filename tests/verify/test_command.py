"""Checks that run a program: what they find, and what they do not believe."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.contract import Criterion, Evidence, Finding, Result
from remit.model.status import Status
from remit.testing import START, FrozenClock
from remit.verify import command, project
from remit.verify.command import CommandCheck
from remit.verify.runners import CheckCommand
from remit.verify.sandbox import Sandbox, SandboxFiles, SandboxLimits, SandboxRefusal, SandboxResult
from remit.verify.suite_runs import CaseSelection, SuiteTerms, command_arguments
from tests.model.lifecycle_checks import task_in
from tests.soak import one_in
from tests.tables import for_each
from tests.verify import workshop
from tests.verify.workshop import SMALL, check, found

PASS, FAIL = Result.PASS, Result.FAIL
CALC = "def add(a: int, b: int) -> int:\n    return a + b\n"
WRONG = {"calc.py": CALC.replace("+", "-")}
TEST = "from calc import add\n\n\ndef test_add() -> None:\n    assert add(1, 2) == 3\n"
PYPROJECT = "[tool.ruff]\n[tool.mypy]\nstrict = true\n[tool.pytest.ini_options]\n"


class CountingSandbox(Sandbox):
    runs = 0

    async def run(
        self, argv: Sequence[str], context: SandboxFiles
    ) -> SandboxResult | SandboxRefusal:
        self.runs += 1
        return await super().run(argv, context)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files = {"pyproject.toml": PYPROJECT, "calc.py": CALC, "tests/test_calc.py": TEST}
    return workshop.repository(tmp_path / "repo", files)


def said(finding: Finding) -> str:
    return finding.error or finding.note or ""


@for_each("activity", ["typecheck", "lint", "unit-test"])
async def test_good_work_passes_and_the_workspace_stays_as_it_was(
    activity: str, repo: Path
) -> None:
    before = workshop.seen(repo)

    seen = await found(repo, activity)

    assert workshop.seen(repo) == before
    assert (seen.result, seen.error, seen.started_at) == (PASS, None, START)
    if activity == "unit-test":
        assert (seen.note, seen.ran, seen.of) == ("1 test passed.", 1, 1)


@pytest.mark.parametrize(
    ("files", "activity", "phrases"),
    [
        ({"calc.py": CALC.replace("a + b", "str(a + b)")}, "typecheck", ('got "str"', "code 1")),
        ({"calc.py": f"import os\n{CALC}"}, "lint", ("F401", "ended with exit code 1")),
        (WRONG, "unit-test", ("assert -1 == 3", "1 of 1 test failed.")),
        (
            {"tests/test_calc.py": "import pytest\n\n\n@pytest.mark.skip\ndef test_add(): ...\n"},
            "unit-test",
            ("no test ran; 1 were skipped",),
        ),
        # What ends the tests well before they ran is not believed.
        ({"calc.py": f"import os\nos._exit(0)\n{CALC}"}, "unit-test", ()),
        (
            {"calc.py": f"import os\nprint('1 passed in 0.01s', flush=True)\nos._exit(0)\n{CALC}"},
            "unit-test",
            (),
        ),
        ({"calc.py": f"import sys\nsys.exit(0)\n{CALC}"}, "unit-test", ()),
    ],
    ids=["types", "style", "tests", "skipped", "exits", "lies", "ends"],
)
async def test_bad_work_fails_and_the_error_says_where_each_time_in_the_same_words(
    files: dict[str, str], activity: str, phrases: tuple[str, ...], repo: Path
) -> None:
    workshop.write(repo, files)

    seen = await found(repo, activity)

    assert seen.result is FAIL
    assert all(each in said(seen) for each in phrases), said(seen)
    if files is WRONG:
        assert said(await found(repo, activity)) == said(seen)


async def test_the_pattern_chooses_the_tests_that_run_first_and_never_the_only_ones(
    repo: Path,
) -> None:
    workshop.write(repo, {"tests/test_bad.py": "def test_other() -> None:\n    assert False\n"})

    assert "1 of 2 tests failed." in said(await found(repo, "unit-test", "add"))
    other = await found(repo, "unit-test", "other")
    assert "1 of 1 test failed (tests called other)." in said(other)
    none = await found(repo, "unit-test", "DarkModeToggle")
    assert (none.result, said(none)[:30]) == (FAIL, "no test matches DarkModeToggle")

    some = await found(repo, "unit-test", "add", terms=SuiteTerms(whole=False))
    assert (some.result, some.note) == (PASS, "1 test passed (tests called add).")
    assert some.is_partial


@for_each(
    "pattern",
    [
        "x; touch /tmp/escaped", "$(id)", "`id`", "a && b", "| cat", "> out", "'", '"', "*", "a\nb",
        "not test_add", "not", "a or b", "--collect-only", "-x", " ", "", "{report}", "x" * 300,
    ],
)  # fmt: skip
async def test_a_pattern_is_a_name_or_it_is_refused(pattern: str, repo: Path) -> None:
    seen = await found(repo, "unit-test", pattern)

    assert seen.result is FAIL
    assert "The pattern" in said(seen)


@for_each(
    ("argv", "pattern", "wanted"),
    [
        *(
            (("tool", "--only={pattern}", "end"), odd, ("tool", f"--only={odd}", "end"))
            for odd in ("x; touch y", "$(id)", "a && b", "'", '"', "a b", "--help", "*")
        ),
        (("vitest", "--name={regex}"), "a.b|.*", ("vitest", r"--name=a\.b\|\.\*")),
        (("pytest", "-k{pattern}", "--xml={report}"), None, ("pytest", "--xml=/tmp/report")),
        (("cargo", "test", "{pattern}"), "--help", "would be read as an option"),
    ],
)
def test_a_pattern_stays_part_of_one_word_or_is_left_out(
    argv: tuple[str, ...], pattern: str | None, wanted: tuple[str, ...] | str
) -> None:
    way = CheckCommand(argv, argv[0])
    if isinstance(wanted, tuple):
        assert command_arguments(way, CaseSelection(name=pattern)) == wanted
        return
    with pytest.raises(BadInput, match=wanted):
        command_arguments(way, CaseSelection(name=pattern))


# A command of the owner, the pattern of the criterion, and what comes of it.
@pytest.mark.parametrize(
    ("argv", "pattern", "result", "text"),
    [
        (("echo", "$HOME", "&&", "false", "*"), None, PASS, ""),  # no shell reads it
        (
            ("true",),
            "add",
            PASS,
            "It does not say how many tests ran. No test is called add, so all tests ran.",
        ),
        (("echo", "Ran 0 tests in 0s"), None, FAIL, "no test ran"),
        (("echo", "3 passing"), None, PASS, "3 tests passed"),
        (("pytest", "--junitxml={report}"), "add", PASS, ""),  # the report is searched for it
        (("pytest", "--junitxml={report}"), "subtract", FAIL, "no test matches subtract"),
        (("sleep", "600"), None, FAIL, "The whole suite did not end within 2 seconds."),
        (
            ("sh", "-c", r"printf '\033[31mred\033[0m\033]0;title\007\rover'; exit 1"),
            None,
            FAIL,
            "red",
        ),
    ],
    ids=["shell", "pattern", "none ran", "counted", "report", "not in it", "slow", "painted"],
)
async def test_words_of_the_settings_are_run_as_they_are_and_by_no_shell(
    argv: tuple[str, ...], pattern: str | None, result: Result, text: str, repo: Path
) -> None:
    limits = replace(SMALL, seconds=2) if argv[0] == "sleep" else SMALL
    if argv[0] == "pytest":
        argv = (str(workshop.lean() / "bin/python"), "-m", *argv)
    seen = await found(repo, "unit-test", pattern, given={"unit-test": argv}, limits=limits)

    assert seen.result is result, said(seen)
    assert text in said(seen)
    assert said(seen).replace("\n", "").isprintable()


async def test_what_nobody_can_check_fails_and_says_what_to_configure(repo: Path) -> None:
    seen = await found(repo, "e2e")

    assert seen.result is FAIL
    assert seen.error == (
        "nothing in repo says how to do e2e; "
        'set commands.e2e = ["program", "word"] for this project'
    )


async def test_types_and_style_are_skipped_where_a_project_has_no_such_tool(tmp_path: Path) -> None:
    repo = workshop.repository(tmp_path / "bare", {"calc.py": CALC})

    for activity in ("typecheck", "lint"):
        seen = await found(repo, activity)
        assert seen.result is Result.SKIPPED
        assert "nothing in bare says how" in said(seen)


@pytest.mark.parametrize(
    ("path", "bwrap", "why"),
    [
        ("/nonexistent", "/usr/bin", "the project uses mypy, which is not installed"),
        ("", "/nonexistent", "There is no bwrap on this machine"),
    ],
)
async def test_without_the_tool_or_the_sandbox_a_check_fails_with_the_reason(
    path: str, bwrap: str, why: str, repo: Path
) -> None:
    environ = {"PATH": path, "HOME": path} if path else workshop.environ()
    ways = project.read_commands(repo, environ=environ)

    checks = CommandCheck(ways, Sandbox(SMALL, places=(Path(bwrap),)), FrozenClock())
    seen = await checks.prove(Criterion("typecheck", "Types"), str(repo))

    assert seen.result is FAIL
    assert why in said(seen)


async def test_an_error_holds_no_secret_and_is_short(repo: Path) -> None:
    key = "sk-proj-0123456789abcdef0123"
    noisy = f"for n in range(9000):\n    print(n, 'line')\nprint('{key}')\nraise SystemExit(1)\n"
    workshop.write(repo, {"noisy.py": noisy})
    argv = ("python3", "noisy.py")
    ways = project.read_commands(repo, environ=workshop.environ(), given={"build": (argv,)})

    seen = await CommandCheck(
        ways, Sandbox(SMALL), FrozenClock(), redact=lambda text: text.replace(key, "…")
    ).prove(Criterion("build", "It builds"), str(repo))

    assert key not in said(seen)
    assert "8999 line" in said(seen)
    assert len(said(seen)) <= 2000


async def test_a_wavering_check_must_pass_three_times_in_a_row(tmp_path: Path) -> None:
    flaky = '{"commands": {"e2e": ["true"]}, "flaky": ["e2e"]}'
    repo = workshop.repository(tmp_path / "repo", {"project.json": flaky})
    sandbox = CountingSandbox(SMALL)
    ways = project.read_commands(repo, environ=workshop.environ())

    seen = await CommandCheck(ways, sandbox, FrozenClock(START)).prove(
        Criterion("e2e", "It works"), str(repo)
    )

    assert (seen.result, seen.attempts, sandbox.runs) == (PASS, 3, 3)


async def test_as_a_plug_it_takes_the_folder_that_was_worked_in(repo: Path) -> None:
    lint, task, criterion = (
        command.command_checks(check(repo))["lint"],
        task_in(Status.VERIFYING),
        Criterion("lint", "x"),
    )

    done = await lint.check(task, criterion, Evidence("", workspace=str(repo)))
    nothing = await lint.check(task, criterion, Evidence(""))

    assert done.result is PASS
    assert nothing.error == "no folder was worked in, so there is nothing to run"


async def test_a_worktree_is_checked_with_what_the_project_installed(
    repo: Path, tmp_path: Path
) -> None:
    """The copy is seen where the project lies, so its environment finds the changed files."""
    worktree = tmp_path / "worktree"
    workshop.git(repo, "worktree", "add", "--quiet", "--detach", str(worktree))
    workshop.write(worktree, WRONG)

    checks = check(repo, workspace=worktree)
    here = await checks.prove(Criterion("unit-test", "Tests"), str(repo))
    there = await checks.prove(Criterion("unit-test", "Tests"), str(worktree))

    assert (here.result, there.result) == (PASS, FAIL)


# What decides is guarded --------------------------------------------------------------------------


async def _guarded(repo: Path, *may_change: str, pattern: str | None = None) -> Finding:
    base = workshop.git(repo, "rev-parse", "HEAD").strip()
    return await found(repo, "unit-test", pattern, terms=SuiteTerms(base, may_change=may_change))


async def test_a_test_that_was_weakened_is_used_as_it_was_and_told(repo: Path) -> None:
    weak = {"tests/test_calc.py": "def test_add() -> None:\n    pass\n"}
    workshop.write(repo, WRONG | weak)

    seen = await _guarded(repo)

    assert seen.result is FAIL
    assert "assert -1 == 3" in said(seen)
    assert "tests/test_calc.py (1 assert fewer)" in said(seen)
    # Who was asked to change tests may.
    allowed = await _guarded(repo, "tests/*")
    assert (allowed.result, allowed.error) == (PASS, None)


async def test_good_work_passes_though_a_test_was_touched_and_that_is_told(repo: Path) -> None:
    workshop.write(repo, {"tests/test_more.py": "def test_more() -> None: ...\n"})
    workshop.commit(repo)
    (repo / "tests/test_calc.py").unlink()

    seen = await _guarded(repo)

    assert seen.result is PASS
    assert "tests/test_calc.py (deleted)" in said(seen)


@pytest.mark.parametrize(("right", "result"), [("5", PASS), ("6", FAIL)])
async def test_a_test_that_was_added_to_an_old_file_is_run_too(
    right: str, result: Result, repo: Path
) -> None:
    more = f"\n\ndef test_more() -> None:\n    assert add(2, 3) == {right}\n"
    workshop.write(repo, {"tests/test_calc.py": TEST + more})

    every, new = await _guarded(repo), await _guarded(repo, pattern="more")

    assert (every.result, new.result) == (result, result)
    assert ("As the work left it" in said(every)) is (result is FAIL)
    assert "tests/test_calc.py (changed)" in said(every)


async def test_no_suite_is_run_twice_on_the_same_files(repo: Path, tmp_path: Path) -> None:
    sandbox = CountingSandbox(SMALL)
    code = {"calc.py": (repo / "calc.py").read_text() + "\n\nZERO = 0\n"}
    new_test = {"tests/test_more.py": "def test_more() -> None: ...\n"}
    test_only = {"tests/test_more.py": "def test_more() -> None:\n    assert True\n"}
    more_code = {"calc.py": (repo / "calc.py").read_text() + "\n\nONE = 1\n"}
    for files, runs, why in (
        ({}, 1, "nothing changed: the base is the work"),
        (code, 1, "the base is known"),
        (code | new_test, 2, "as tests were, and as they are"),
        (test_only, 1, "without its tests the work is the base, which is known"),
        (more_code, 1, "the work that was run last is the base now"),
    ):
        workshop.write(repo, files)
        base = workshop.git(repo, "rev-parse", "HEAD").strip()
        ways = project.read_commands(repo, environ=workshop.environ(), base=base)
        terms, before = SuiteTerms(base), sandbox.runs
        check = CommandCheck(ways, sandbox, FrozenClock(START), terms=terms, kept=tmp_path / "kept")
        seen = await check.prove(Criterion("unit-test", "All tests pass"), str(repo))

        assert (seen.result, seen.error) == (PASS, None)
        assert sandbox.runs - before == runs, why
        if files not in ({}, code):
            workshop.commit(repo)


async def test_a_new_test_is_run_and_not_complained_about(repo: Path) -> None:
    workshop.write(repo, {"tests/test_more.py": "def test_more() -> None:\n    assert False\n"})

    seen = await _guarded(repo)

    assert seen.result is FAIL
    assert "Changed by the work" not in said(seen)


@one_in(2, start=0)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("conftest.py", "def pytest_collection_modifyitems(items):\n    items.clear()\n"),
        ("tests/conftest.py", "collect_ignore = ['test_calc.py']\n"),
        ("pytest.ini", "[pytest]\naddopts = --deselect tests/test_calc.py::test_add\n"),
        ("pyproject.toml", PYPROJECT + 'addopts = "--co"\n'),
        ("tox.ini", "[pytest]\naddopts = --co\n"),
    ],
)
async def test_what_steers_the_tests_cannot_be_turned(name: str, text: str, repo: Path) -> None:
    workshop.write(repo, WRONG | {name: text})

    seen = await _guarded(repo)

    assert seen.result is FAIL
    assert "assert -1 == 3" in said(seen)
    assert f"{name} (" in said(seen)


async def test_how_work_is_checked_is_read_from_before_the_work(repo: Path) -> None:
    workshop.write(repo, WRONG | {"project.json": '{"commands": {"unit-test": ["true"]}}'})

    seen = await _guarded(repo)

    assert seen.result is FAIL
    assert "1 of 1 test failed" in said(seen)


def test_the_limits_are_all_told_to_the_kernel() -> None:
    told = " ".join(SandboxLimits().words)

    for word in ("--cpu=", "--data=", "--as=", "--nproc=", "--fsize=", "--nofile=", "--core=0"):
        assert word in told
