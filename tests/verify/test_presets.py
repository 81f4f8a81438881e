"""What a repository is seen to use, and that it works: real tools on small repositories."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import BadInput
from remit.model import contract
from remit.model.contract import Criterion, Result
from remit.specialist.changes import ChangeKind, FileChange, Snapshot
from remit.verify import project, project_files, reports, suite_runs
from remit.verify.project_files import Toolchain
from remit.verify.runners import CheckCommand
from remit.verify.suite_runs import SuiteTerms
from tests.tables import for_each, read_yaml, table
from tests.verify import workshop
from tests.verify.workshop import check

TOOLS = (
    *("pytest", "python", "ruff", "mypy", "pyright", "flake8", "npm", "node", "tsc", "eslint"),
    *("vitest", "jest", "playwright", "go", "cargo"),
)


@pytest.fixture
def every_tool(tmp_path: Path) -> dict[str, str]:
    """A PATH where each tool is there in name."""
    for name in TOOLS:
        workshop.write(tmp_path / "bin", {name: "#!/bin/sh\n"})
        (tmp_path / "bin" / name).chmod(0o755)
    return {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}


STEERS = {
    "pyproject.toml": '[project]\nname = "a"\n[tool.ruff]\nline-length = 100\n',
    "package.json": '{"version": "1", "scripts": {"test": "jest"}}',
}
TEST = {"tests/test_a.py": "def test_a():\n    assert 1\n"}


def package(scripts: dict[str, str], **needs: str) -> str:
    return json.dumps({"scripts": scripts, "devDependencies": needs})


@pytest.mark.parametrize(("files", "activity", "said"), table(__file__, "repositories"))
def test_a_repository_shows_how_it_is_checked(
    files: dict[str, str], activity: str, said: str, tmp_path: Path, every_tool: dict[str, str]
) -> None:
    repo = workshop.write(tmp_path / "repo", files)

    way = project.detect_checks(project_files.in_folder(repo), Toolchain(repo, every_tool))[
        activity
    ]

    assert isinstance(way, CheckCommand)
    words = (word for word in way.argv[1:] if not word.startswith("import os"))
    assert " ".join((Path(way.argv[0]).name, *words)) == said


def test_what_is_installed_in_the_project_comes_before_what_is_on_the_machine(
    tmp_path: Path, every_tool: dict[str, str]
) -> None:
    repo = workshop.write(tmp_path / "repo", {"ruff.toml": "", "a.py": "", ".venv/bin/ruff": ""})
    (repo / ".venv/bin/ruff").chmod(0o755)

    way = project.detect_checks(project_files.in_folder(repo), Toolchain(repo, every_tool))["lint"]

    assert isinstance(way, CheckCommand)
    assert way.argv[0] == str(repo / ".venv/bin/ruff")


def test_all_type_checkers_that_are_installed_count_and_the_others_are_told(
    tmp_path: Path, every_tool: dict[str, str]
) -> None:
    files = {"pyproject.toml": "[tool.mypy]\n[tool.pyright]\n", "a.py": "", "go.mod": ""}
    repo = workshop.write(tmp_path / "repo", files)
    Path(every_tool["PATH"].partition(":")[0], "go").unlink()

    way = project.detect_checks(project_files.in_folder(repo), Toolchain(repo, every_tool))[
        "typecheck"
    ]

    assert isinstance(way, CheckCommand)
    assert [each.origin for each in way.all_commands] == ["mypy", "pyright"]
    assert [each.why for each in way.lacks] == ["the project uses go, which is not installed"]


@given(text=st.text())
def test_no_file_of_a_repository_makes_the_look_at_it_fail(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    repo = tmp_path_factory.mktemp("repo")
    for name in ("pyproject.toml", "package.json", "setup.cfg"):
        (repo / name).write_text(text, "utf-8", "surrogatepass")

    project.detect_checks(project_files.in_folder(repo), Toolchain(repo, {}))


NODE = {
    "package.json": package({"test": "node --test"}),
    "calc.js": "exports.add = (a, b) => a + b;\n",
    "calc.test.js": (
        "const { test } = require('node:test');\nconst assert = require('node:assert');\n"
        "test('adds', () => assert.equal(require('./calc.js').add(1, 2), 3));\n"
    ),
}
RUST = {
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": (
        "pub fn add(a: i32, b: i32) -> i32 { a + b }\n#[cfg(test)]\nmod tests {\n"
        "    #[test]\n    fn adds() { assert_eq!(super::add(1, 2), 3); }\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("program", "files", "broken"),
    [("node", NODE, "calc.js"), ("cargo", RUST, "src/lib.rs")],
    ids=["node", "cargo"],
)
async def test_the_tests_of_other_languages_are_run_and_counted(
    program: str, files: dict[str, str], broken: str, tmp_path: Path
) -> None:
    # Where a language is not installed, what is left to see is that this is said.
    installed = shutil.which(program)
    repo = workshop.repository(tmp_path / "repo", files)

    async def result(pattern: str | None) -> tuple[Result, str]:
        seen = await check(repo).prove(Criterion("unit-test", "Tests", pattern), str(repo))
        return seen.result, (seen.error or seen.note or "").splitlines()[0]

    if not installed:
        assert f"{program}, which is not installed" in (await result(None))[1]
        return
    assert (await result("adds"))[0] is Result.PASS
    assert (await result("subtracts"))[1].startswith("no test matches subtracts")
    (repo / broken).write_text(files[broken].replace("a + b", "a - b"))
    assert (await result(None))[0] is Result.FAIL


# project.json -------------------------------------------------------------------------------------


def test_project_json_is_read() -> None:
    said = project.parse_project_file(
        '{"name": "shop", "promptForAdvisory": true, "flaky": ["e2e"],'
        ' "commands": {"lint": "npm run lint", "e2e": ["a", "b c"], "dev": "vite & wait"}}'
    )

    assert said.prompt_for_advisory
    assert said.flaky == {"e2e"}
    assert said.commands == {"lint": (("npm", "run", "lint"),), "e2e": (("a", "b c"),)}


@for_each(("text", "sentence"), table(__file__, "wrong_projects"))
def test_a_project_json_that_is_wrong_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        project.parse_project_file(text)

    assert sentence in str(refused.value)


def test_settings_come_before_project_json_before_what_is_seen(
    tmp_path: Path, every_tool: dict[str, str]
) -> None:
    said = '{"commands": {"lint": ["mine"], "build": ["mine"]}}'
    files = {"go.mod": "", "project.json": said}
    repo = workshop.repository(tmp_path / "repo", files)

    ways = project.read_commands(repo, environ=every_tool, given={"build": (("settings",),)})

    origins = [
        way.origin
        for way in map(ways.command_for, ("typecheck", "lint", "build"))
        if isinstance(way, CheckCommand)
    ]
    assert origins == ["go", "project.json", "the settings"]


# Reports ------------------------------------------------------------------------------------------


def _read(reader: str, report: bytes = b"", output: str = "") -> list[tuple[str, str]] | None:
    cases = reports.read_cases(reader, report, output, "/data/shop")
    return (
        None if cases is None else [(reports.headline(each), each.outcome.value) for each in cases]
    )


REPORTS: Final[Mapping[str, Mapping[str, str]]] = read_yaml(
    Path(__file__).with_name("runner_reports.yml").read_text("utf-8")
)


@pytest.mark.parametrize("said", REPORTS.values(), ids=REPORTS)
def test_each_runner_is_read_test_by_test(said: Mapping[str, str]) -> None:
    found = _read(said["reader"], said.get("report", "").encode(), said.get("output", ""))
    assert found == [tuple(each) for each in said["wanted"]]


@for_each(
    "hostile",
    [
        b"",
        b"<testsuite>",
        b"{",
        b"{}",
        b'<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;&b;">]><a>&d;</a>',
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    ],
)
def test_a_report_that_is_none_is_not_believed(hostile: bytes) -> None:
    assert _read("report", hostile) is None


@given(report=st.binary())
def test_no_report_makes_the_reading_fail(report: bytes) -> None:
    _read("report", report)


# What decides -------------------------------------------------------------------------------------


@for_each(("name", "judges"), table(__file__, "judges"))
def test_files_that_judge_are_known_by_their_names_and_told_as_such(
    name: str, judges: bool
) -> None:
    assert (contract.is_test(name) or contract.is_runner_setting(name)) is judges
    seen = Snapshot("", (FileChange(name, ChangeKind.MODIFIED),))
    assert (seen.tests == (name,)) is judges


# What was there, what the work makes of it, and what the guard says.
@pytest.mark.parametrize(
    ("files", "changed", "notes"),
    [
        (STEERS, {"pyproject.toml": ('"a"', '"b"'), "package.json": ('"1"', '"2"')}, ()),
        (
            STEERS,
            {"pyproject.toml": ("100", "999"), "package.json": ("jest", "true")},
            (
                "package.json (what it says about checks changed)",
                "pyproject.toml (what it says about checks changed)",
            ),
        ),
        (TEST, {"tests/test_a.py": ("\n", "\r\n")}, ()),  # the ends of lines are no change
        (TEST, {"tests/test_a.py": ("assert 1", "pass")}, ("tests/test_a.py (1 assert fewer)",)),
    ],
    ids=["other uses", "checks", "ends of lines", "asserts"],
)
def test_of_a_file_with_many_uses_only_what_steers_checks_is_guarded(
    files: dict[str, str],
    changed: dict[str, tuple[str, str]],
    notes: tuple[str, ...],
    tmp_path: Path,
) -> None:
    repo = workshop.repository(tmp_path / "repo", files)
    if files is TEST and notes:  # a test that git was told to forget is not forgotten
        workshop.git(repo, "rm", "--quiet", "--cached", "tests/test_a.py")
        workshop.write(repo, {".gitignore": "tests\n"})
    for name, (old, new) in changed.items():
        (repo / name).write_bytes(files[name].replace(old, new).encode())

    head = workshop.git(repo, "rev-parse", "HEAD").strip()
    assert tuple(suite_runs.compare_with_base(repo, SuiteTerms(base=head)).guard.notes) == notes
