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
from remit.verify.suite_runs import CaseSelection, SuiteTerms, words
from tests.model.lifecycle_checks import task_in
from tests.soak import one_in
from tests.tables import for_each
from tests.verify import workshop
from tests.verify.workshop import SMALL, check, found

CALC = "def add(a: int, b: int) -> int:\n    return a + b\n"
TEST = "from calc import add\n\n\ndef test_add() -> None:\n    assert add(1, 2) == 3\n"
PYPROJECT = "[tool.ruff]\n[tool.mypy]\nstrict = true\n[tool.pytest.ini_options]\n"


class CountingSandbox(Sandbox):
    runs = 0

    async def run(
        self, argv: Sequence[str], app_context: SandboxFiles
    ) -> SandboxResult | SandboxRefusal:
        self.runs += 1
        return await super().run(argv, app_context)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files = {"pyproject.toml": PYPROJECT, "calc.py": CALC, "tests/test_calc.py": TEST}
    return workshop.repository(tmp_path / "repo", files)


@for_each("activity", ["typecheck", "lint", "unit-test"])
async def test_good_work_passes_and_the_workspace_stays_as_it_was(
    activity: str, repo: Path
) -> None:
    before = workshop.seen(repo)

    seen = await found(repo, activity)

    assert workshop.seen(repo) == before
    assert (seen.result, seen.error, seen.started_at) == (Result.PASS, None, START)
    if activity == "unit-test":
        assert (seen.note, seen.ran, seen.of) == ("1 test passed.", 1, 1)


@for_each(
    ("activity", "calc", "said"),
    [
        ("typecheck", "def add(a: int, b: int) -> int:\n    return str(a + b)\n", 'got "str"'),
        ("lint", "import os\n" + CALC, "F401"),
        ("unit-test", CALC.replace("+", "-"), "assert -1 == 3"),
    ],
)
async def test_bad_work_fails_and_the_error_says_where_each_time_in_the_same_words(
    activity: str, calc: str, said: str, repo: Path
) -> None:
    (repo / "calc.py").write_text(calc)

    seen = await found(repo, activity)

    assert seen.result is Result.FAIL
    assert said in (seen.error or "")
    ended = "1 of 1 test failed." if activity == "unit-test" else "ended with exit code 1"
    assert ended in (seen.error or "")
    if activity == "unit-test":
        assert (await found(repo, activity)).error == seen.error


async def test_the_pattern_chooses_the_tests_that_run_first_and_never_the_only_ones(
    repo: Path,
) -> None:
    workshop.write(repo, {"tests/test_bad.py": "def test_other() -> None:\n    assert False\n"})

    one, other = await found(repo, "unit-test", "add"), await found(repo, "unit-test", "other")
    assert "1 of 2 tests failed." in (one.error or "")
    assert "1 of 1 test failed (tests called other)." in (other.error or "")

    quick = check(repo, terms=SuiteTerms(whole=False))
    some = await quick.prove(Criterion("unit-test", "Tests", "add"), str(repo))
    assert (some.result, some.note) == (Result.PASS, "1 test passed (tests called add).")
    assert some.is_partial


async def test_a_pattern_that_matches_no_test_fails(repo: Path) -> None:
    seen = await found(repo, "unit-test", "DarkModeToggle")

    assert seen.result is Result.FAIL
    assert (seen.error or "").startswith("no test matches DarkModeToggle")


async def test_tests_that_are_all_skipped_prove_nothing(repo: Path) -> None:
    skipped = "import pytest\n\n\n@pytest.mark.skip\ndef test_add() -> None: ...\n"
    workshop.write(repo, {"tests/test_calc.py": skipped})

    seen = await found(repo, "unit-test")

    assert (seen.error or "").startswith("no test ran; 1 were skipped")


@for_each(
    "hostile",
    [
        "import os\nos._exit(0)\n",
        "import os, sys\nprint('1 passed in 0.01s')\nsys.stdout.flush()\nos._exit(0)\n",
        "import sys\nsys.exit(0)\n",
    ],
)
async def test_work_that_ends_the_tests_well_before_they_ran_is_not_believed(
    hostile: str, repo: Path
) -> None:
    (repo / "calc.py").write_text(hostile + CALC)

    seen = await found(repo, "unit-test")

    assert seen.result is Result.FAIL


@for_each(
    "pattern",
    [
        "x; touch /tmp/escaped", "$(id)", "`id`", "a && b", "| cat", "> out", "'", '"', "*", "a\nb",
        "not test_add", "not", "a or b", "--collect-only", "-x", " ", "", "{report}", "x" * 300,
    ],
)  # fmt: skip
async def test_a_pattern_is_a_name_or_it_is_refused(pattern: str, repo: Path) -> None:
    seen = await found(repo, "unit-test", pattern)

    assert seen.result is Result.FAIL
    assert "The pattern" in (seen.error or "")


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
        assert words(way, CaseSelection(name=pattern)) == wanted
        return
    with pytest.raises(BadInput, match=wanted):
        words(way, CaseSelection(name=pattern))


async def test_words_of_the_settings_are_run_as_they_are_and_by_no_shell(repo: Path) -> None:
    given = {"build": ("echo", "$HOME", "&&", "false", "*")}

    seen = await check(repo, given=given).prove(Criterion("build", "It builds"), str(repo))

    assert seen.result is Result.PASS


async def test_words_of_the_owner_that_choose_no_tests_run_them_all_and_say_so(repo: Path) -> None:
    given = {"unit-test": ("true",)}

    seen = await check(repo, given=given).prove(Criterion("unit-test", "Tests", "add"), str(repo))

    assert seen.result is Result.PASS
    assert seen.note == (
        "It does not say how many tests ran. No test is called add, so all tests ran."
    )


@for_each(("says", "result"), [("Ran 0 tests in 0s", Result.FAIL), ("3 passing", Result.PASS)])
async def test_a_count_that_a_command_prints_is_read(says: str, result: Result, repo: Path) -> None:
    given = {"unit-test": ("echo", says)}

    seen = await check(repo, given=given).prove(Criterion("unit-test", "Tests"), str(repo))

    assert seen.result is result
    assert (seen.ran == 3) is (result is Result.PASS)


async def test_words_with_a_report_but_no_pattern_are_searched_for_it(repo: Path) -> None:
    python = str(workshop.lean() / "bin/python")
    given = {"unit-test": (python, "-m", "pytest", "--junitxml={report}")}
    checks = check(repo, given=given)

    good = await checks.prove(Criterion("unit-test", "Tests", "add"), str(repo))
    bad = await checks.prove(Criterion("unit-test", "Tests", "subtract"), str(repo))

    assert (good.result, bad.result) == (Result.PASS, Result.FAIL)
    assert "no test matches subtract" in (bad.error or "")


async def test_what_nobody_can_check_fails_and_says_what_to_configure(repo: Path) -> None:
    seen = await found(repo, "e2e")

    assert seen.result is Result.FAIL
    assert seen.error == (
        "nothing in repo says how to do e2e; "
        'set commands.e2e = ["program", "word"] for this project'
    )


async def test_types_and_style_are_skipped_where_a_project_has_no_such_tool(tmp_path: Path) -> None:
    repo = workshop.repository(tmp_path / "bare", {"calc.py": CALC})

    for activity in ("typecheck", "lint"):
        seen = await found(repo, activity)
        assert seen.result is Result.SKIPPED
        assert "nothing in bare says how" in (seen.error or "")


async def test_a_tool_that_is_spoken_of_but_not_installed_fails(tmp_path: Path) -> None:
    repo = workshop.repository(tmp_path / "repo", {"pyproject.toml": PYPROJECT, "calc.py": CALC})
    ways = project.read(repo, environ={"PATH": "/nonexistent", "HOME": "/nonexistent"})

    seen = await CommandCheck(ways, Sandbox(SMALL), FrozenClock()).prove(
        Criterion("typecheck", "Types"), str(repo)
    )

    assert seen.result is Result.FAIL
    assert "the project uses mypy, which is not installed" in (seen.error or "")


async def test_without_a_sandbox_a_check_fails_with_the_reason(repo: Path, tmp_path: Path) -> None:
    ways = project.read(repo, environ=workshop.environ())

    seen = await CommandCheck(ways, Sandbox(SMALL, places=(tmp_path,)), FrozenClock()).prove(
        Criterion("lint", "Style"), str(repo)
    )

    assert seen.result is Result.FAIL
    assert "There is no bwrap on this machine" in (seen.error or "")


async def test_what_takes_too_long_fails(repo: Path) -> None:
    given = {"build": ("sleep", "600")}
    limits = replace(SMALL, seconds=1)

    seen = await check(repo, given=given, limits=limits).prove(
        Criterion("build", "It builds"), str(repo)
    )

    assert seen.error == "sleep was stopped after 1 seconds"


async def test_an_error_holds_no_secret_and_is_short(repo: Path) -> None:
    key = "sk-proj-0123456789abcdef0123"
    noisy = f"for n in range(9000):\n    print(n, 'line')\nprint('{key}')\nraise SystemExit(1)\n"
    workshop.write(repo, {"noisy.py": noisy})
    ways = project.read(
        repo, environ=workshop.environ(), given={"build": (("python3", "noisy.py"),)}
    )

    seen = await CommandCheck(
        ways, Sandbox(SMALL), FrozenClock(), redact=lambda text: text.replace(key, "…")
    ).prove(Criterion("build", "It builds"), str(repo))

    assert key not in (seen.error or "")
    assert "8999 line" in (seen.error or "")
    assert len(seen.error or "") <= 2000


async def test_what_a_program_paints_does_not_reach_a_terminal(repo: Path) -> None:
    given = {"build": ("sh", "-c", r"printf '\033[31mred\033[0m\033]0;title\007\rover'; exit 1")}

    seen = await check(repo, given=given).prove(Criterion("build", "It builds"), str(repo))

    assert "red" in (seen.error or "")
    assert (seen.error or "").replace("\n", "").isprintable()


async def test_a_wavering_check_must_pass_three_times_in_a_row(tmp_path: Path) -> None:
    said = '{"commands": {"e2e": ["true"]}, "flaky": ["e2e"]}'
    repo = workshop.repository(tmp_path / "repo", {"project.json": said})
    sandbox = CountingSandbox(SMALL)
    ways = project.read(repo, environ=workshop.environ())

    check = CommandCheck(ways, sandbox, FrozenClock(START))
    seen = await check.prove(Criterion("e2e", "It works"), str(repo))

    assert (seen.result, seen.attempts, sandbox.runs) == (Result.PASS, 3, 3)


async def test_as_a_plug_it_takes_the_folder_that_was_worked_in(repo: Path) -> None:
    task = task_in(Status.VERIFYING)
    checks = command.checks(check(repo))

    done = await checks["lint"].check(
        task, Criterion("lint", "x"), Evidence("", workspace=str(repo))
    )
    nothing = await checks["lint"].check(task, Criterion("lint", "x"), Evidence(""))

    assert done.result is Result.PASS
    assert nothing.error == "no folder was worked in, so there is nothing to run"


async def test_a_worktree_is_checked_with_what_the_project_installed(
    repo: Path, tmp_path: Path
) -> None:
    """The copy is seen where the project lies, so its environment finds the changed files."""
    worktree = tmp_path / "worktree"
    workshop.git(repo, "worktree", "add", "--quiet", "--detach", str(worktree))
    (worktree / "calc.py").write_text(CALC.replace("+", "-"))

    checks = check(repo, workspace=worktree)
    here = await checks.prove(Criterion("unit-test", "Tests"), str(repo))
    there = await checks.prove(Criterion("unit-test", "Tests"), str(worktree))

    assert (here.result, there.result) == (Result.PASS, Result.FAIL)


# What decides is guarded --------------------------------------------------------------------------


async def _guarded(repo: Path, *may_change: str) -> Finding:
    base = workshop.git(repo, "rev-parse", "HEAD").strip()
    terms = SuiteTerms(base=base, may_change=may_change)
    return await check(repo, terms=terms).prove(Criterion("unit-test", "Tests"), str(repo))


async def test_a_test_that_was_weakened_is_used_as_it_was_and_told(repo: Path) -> None:
    (repo / "calc.py").write_text(CALC.replace("+", "-"))
    (repo / "tests/test_calc.py").write_text("def test_add() -> None:\n    pass\n")

    seen = await _guarded(repo)

    assert seen.result is Result.FAIL
    assert "assert -1 == 3" in (seen.error or "")
    assert "tests/test_calc.py (1 assert fewer)" in (seen.error or "")


async def test_good_work_passes_though_a_test_was_touched_and_that_is_told(repo: Path) -> None:
    workshop.write(repo, {"tests/test_more.py": "def test_more() -> None: ...\n"})
    workshop.commit(repo)
    (repo / "tests/test_calc.py").unlink()

    seen = await _guarded(repo)

    assert seen.result is Result.PASS
    assert "tests/test_calc.py (deleted)" in (seen.note or "")


@pytest.mark.parametrize(("right", "result"), [("5", Result.PASS), ("6", Result.FAIL)])
async def test_a_test_that_was_added_to_an_old_file_is_run_too(
    right: str, result: Result, repo: Path
) -> None:
    more = f"\n\ndef test_more() -> None:\n    assert add(2, 3) == {right}\n"
    (repo / "tests/test_calc.py").write_text(TEST + more)
    base = workshop.git(repo, "rev-parse", "HEAD").strip()
    checks = check(repo, terms=SuiteTerms(base=base))

    every = await checks.prove(Criterion("unit-test", "Tests"), str(repo))
    new = await checks.prove(Criterion("unit-test", "Tests", "more"), str(repo))

    assert (every.result, new.result) == (result, result)
    assert ("As the work left it" in (every.error or "")) is (result is Result.FAIL)
    assert "tests/test_calc.py (changed)" in (every.error or every.note or "")


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
        ways = project.read(repo, environ=workshop.environ(), base=base)
        terms, before = SuiteTerms(base), sandbox.runs
        check = CommandCheck(ways, sandbox, FrozenClock(START), terms=terms, kept=tmp_path / "kept")
        found = await check.prove(Criterion("unit-test", "All tests pass"), str(repo))

        assert (found.result, found.error) == (Result.PASS, None)
        assert sandbox.runs - before == runs, why
        if files not in ({}, code):
            workshop.commit(repo)


async def test_who_was_asked_to_change_tests_may(repo: Path) -> None:
    (repo / "tests/test_calc.py").write_text("def test_other() -> None:\n    pass\n")

    seen = await _guarded(repo, "tests/*")

    assert (seen.result, seen.error) == (Result.PASS, None)


async def test_a_new_test_is_run_and_not_complained_about(repo: Path) -> None:
    workshop.write(repo, {"tests/test_more.py": "def test_more() -> None:\n    assert False\n"})

    seen = await _guarded(repo)

    assert seen.result is Result.FAIL
    assert "Changed by the work" not in (seen.error or "")


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
    (repo / "calc.py").write_text(CALC.replace("+", "-"))
    workshop.write(repo, {name: text})

    seen = await _guarded(repo)

    assert seen.result is Result.FAIL
    assert "assert -1 == 3" in (seen.error or "")
    assert f"{name} (" in (seen.error or "")


async def test_how_work_is_checked_is_read_from_before_the_work(repo: Path) -> None:
    (repo / "calc.py").write_text(CALC.replace("+", "-"))
    workshop.write(repo, {"project.json": '{"commands": {"unit-test": ["true"]}}'})

    seen = await _guarded(repo)

    assert seen.result is Result.FAIL
    assert "1 of 1 test failed" in (seen.error or "")


def test_the_limits_are_all_told_to_the_kernel() -> None:
    said = " ".join(SandboxLimits().words)

    for word in ("--cpu=", "--data=", "--as=", "--nproc=", "--fsize=", "--nofile=", "--core=0"):
        assert word in said
