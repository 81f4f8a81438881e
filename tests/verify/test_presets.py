"""What a repository is seen to use, and that it works: real tools on small repositories."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import BadInput
from remit.model.contract import Criterion, Result
from remit.verify import guarded, junit, presets, project
from remit.verify.presets import Lacking, Way
from remit.verify.toolchain import Toolchain
from tests.verify import workshop
from tests.verify.workshop import check

TOOLS = (
    *("pytest", "python", "ruff", "mypy", "pyright", "flake8", "npm", "node", "tsc", "eslint"),
    *("vitest", "jest", "playwright", "go", "cargo"),
)

RUFF = "ruff check --no-fix --no-cache --output-format=concise ."
MYPY_FILES = '[tool.mypy]\nfiles = ["src"]\n'


@pytest.fixture
def every_tool(tmp_path: Path) -> dict[str, str]:
    """A PATH where each tool is there in name."""
    for name in TOOLS:
        workshop.write(tmp_path / "bin", {name: "#!/bin/sh\n"})
        (tmp_path / "bin" / name).chmod(0o755)
    return {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}


def package(scripts: dict[str, str], **needs: str) -> str:
    return json.dumps({"scripts": scripts, "devDependencies": needs})


@pytest.mark.parametrize(
    ("files", "activity", "said"),
    [
        ({"pyproject.toml": "[tool.mypy]\n"}, "typecheck", "mypy --cache-dir=/dev/null ."),
        ({"pyproject.toml": MYPY_FILES}, "typecheck", "mypy --cache-dir=/dev/null"),
        ({"setup.cfg": "[mypy]\n"}, "typecheck", "mypy --cache-dir=/dev/null ."),
        ({"pyproject.toml": "[tool.pyright]\n"}, "typecheck", "pyright"),
        ({"a.py": "", "ruff.toml": ""}, "lint", RUFF),
        ({"a.py": "", ".flake8": ""}, "lint", "flake8"),
        (
            {"tests/unit/test_a.py": "", "pyproject.toml": ""},
            "unit-test",
            "python -m pytest -q -p no:cacheprovider --junitxml={report} -k{pattern}",
        ),
        (
            {"e2e/test_a.py": "", "pytest.ini": "", "setup.py": ""},
            "unit-test",
            "python -m pytest -q -p no:cacheprovider --junitxml={report} -k{pattern} --ignore=e2e",
        ),
        (
            {"e2e/test_a.py": "", "pytest.ini": "", "setup.py": ""},
            "e2e",
            "python -m pytest -q -p no:cacheprovider --junitxml={report} -k{pattern} e2e",
        ),
        ({"package.json": package({"lint": "x"})}, "lint", "npm run --silent lint"),
        ({"package.json": package({"types": "x"})}, "typecheck", "npm run --silent types"),
        ({"package.json": package({"build": "x"})}, "build", "npm run --silent build"),
        ({"package.json": package({"test": "x"})}, "unit-test", "npm run --silent test"),
        ({"package.json": package({}, a="1"), "tsconfig.json": ""}, "typecheck", "tsc --noEmit"),
        ({"package.json": package({}, a="1"), "eslint.config.js": ""}, "lint", "eslint ."),
        (
            {"package.json": package({}, vitest="1")},
            "unit-test",
            "vitest run --reporter=junit --outputFile={report} --testNamePattern={regex}",
        ),
        (
            {"package.json": package({"test": "jest"})},
            "unit-test",
            "jest --ci --json --outputFile={report} --testNamePattern={regex}",
        ),
        (
            {"package.json": package({}, a="1"), "playwright.config.ts": ""},
            "e2e",
            "playwright test --reporter=line --grep={regex}",
        ),
        ({"go.mod": ""}, "unit-test", "go test -json -count=1 -run={regex} ./..."),
        ({"go.mod": ""}, "lint", "go vet ./..."),
        ({"Cargo.toml": ""}, "unit-test", "cargo test --offline {pattern}"),
        ({"Cargo.toml": ""}, "lint", "cargo clippy --offline --quiet -- -Dwarnings"),
    ],
)  # fmt: skip
def test_a_repository_shows_how_it_is_checked(
    files: dict[str, str], activity: str, said: str, tmp_path: Path, every_tool: dict[str, str]
) -> None:
    repo = workshop.write(tmp_path / "repo", files)

    way = presets.detect(repo, Toolchain(repo, every_tool))[activity]

    assert isinstance(way, Way)
    assert " ".join((Path(way.argv[0]).name, *way.argv[1:])) == said


def test_what_is_installed_in_the_project_comes_before_what_is_on_the_machine(
    tmp_path: Path, every_tool: dict[str, str]
) -> None:
    repo = workshop.write(tmp_path / "repo", {"ruff.toml": "", "a.py": "", ".venv/bin/ruff": ""})
    (repo / ".venv/bin/ruff").chmod(0o755)

    way = presets.detect(repo, Toolchain(repo, every_tool))["lint"]

    assert isinstance(way, Way)
    assert way.argv[0] == str(repo / ".venv/bin/ruff")


def test_a_tool_that_is_missing_is_named(tmp_path: Path) -> None:
    repo = workshop.write(tmp_path / "repo", {"go.mod": ""})

    found = presets.detect(repo, Toolchain(repo, {"PATH": "/nonexistent"}))

    assert found["lint"] == Lacking("the project uses go, which is not installed")


@given(text=st.text())
def test_no_file_of_a_repository_makes_the_look_at_it_fail(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    repo = tmp_path_factory.mktemp("repo")
    for name in ("pyproject.toml", "package.json", "setup.cfg"):
        (repo / name).write_text(text, "utf-8", "surrogatepass")

    presets.detect(repo, Toolchain(repo, {}))


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
        return seen.result, (seen.error or "").splitlines()[0] if seen.error else ""

    if not installed:
        assert f"{program}, which is not installed" in (await result(None))[1]
        return
    assert (await result("adds"))[0] is Result.PASS
    assert (await result("subtracts"))[1].startswith("no test matches subtracts")
    (repo / broken).write_text(files[broken].replace("a + b", "a - b"))
    assert (await result(None))[0] is Result.FAIL


# project.json -------------------------------------------------------------------------------------


def test_project_json_is_read() -> None:
    said = project.parse(
        '{"name": "shop", "promptForAdvisory": true, "flaky": ["e2e"],'
        ' "commands": {"lint": "npm run lint", "e2e": ["a", "b c"], "dev": "vite & wait"}}'
    )

    assert said.prompt_for_advisory
    assert said.flaky == {"e2e"}
    assert said.commands == {"lint": ("npm", "run", "lint"), "e2e": ("a", "b c")}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "project.json is not valid JSON"),
        ("[]", "project.json must hold an object"),
        ('{"promptForAdvisory": "yes"}', "promptForAdvisory in project.json must be true or false"),
        ('{"commands": []}', "commands in project.json must be an object"),
        ('{"commands": {"lint": "a && b"}}', "commands.lint in project.json is 'a && b'; no shell"),
        ('{"commands": {"lint": []}}', "it must be a list of words"),
        ('{"commands": {"lint": [1]}}', "it must be a list of words"),
        ('{"flaky": "e2e"}', "flaky in project.json must be a list"),
    ],
)
def test_a_project_json_that_is_wrong_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        project.parse(text)

    assert sentence in str(refused.value)


def test_settings_come_before_project_json_before_what_is_seen(
    tmp_path: Path, every_tool: dict[str, str]
) -> None:
    said = '{"commands": {"lint": ["mine"], "build": ["mine"]}}'
    files = {"go.mod": "", "project.json": said}
    repo = workshop.repository(tmp_path / "repo", files)

    ways = project.read(repo, environ=every_tool, given={"build": ("settings",)})

    origins = [
        way.origin for way in map(ways.of, ("typecheck", "lint", "build")) if isinstance(way, Way)
    ]
    assert origins == ["go", "project.json", "the settings"]


# Reports ------------------------------------------------------------------------------------------


def test_a_report_is_counted_case_by_case() -> None:
    xml = (
        b'<testsuites><testsuite tests="99"><testcase classname="a" name="one"/>'
        b'<testcase classname="a" name="two"><failure/></testcase>'
        b'<testcase name="three"><skipped/></testcase></testsuite></testsuites>'
    )

    assert junit.read(xml) == junit.Tests(("a.one", "a.two"), 1, 1)


def test_a_report_of_jest_is_counted() -> None:
    cases = [{"status": "passed", "fullName": "adds"}, {"status": "pending", "fullName": "later"}]
    report = json.dumps({"numPassedTests": 9, "testResults": [{"assertionResults": cases}]})

    assert junit.read(report.encode()) == junit.Tests(("adds",), 0, 1)


def test_a_report_of_go_is_counted() -> None:
    events = [{"Action": "pass", "Test": "TestAdd"}, {"Action": "skip", "Test": "TestNo"}]
    output = "\n".join([*map(json.dumps, events), '{"Action": "pass", "Package": "calc"}', "{"])

    assert junit.go(output) == junit.Tests(("TestAdd",), 0, 1)


@pytest.mark.parametrize(
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
    assert junit.read(hostile) is None


@given(report=st.binary())
def test_no_report_makes_the_reading_fail(report: bytes) -> None:
    junit.read(report)


# What decides -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "decides"),
    [
        ("tests/test_a.py", True),
        ("tests/data/golden.json", True),
        ("src/cart.test.ts", True),
        ("src/__tests__/cart.ts", True),
        ("cart_test.go", True),
        ("src/conftest.py", True),
        ("web/vitest.config.ts", True),
        ("Makefile", True),
        ("src/cart.py", False),
        ("src/latest.py", False),
        ("docs/testing.md", False),
        ("src/contest.py", False),
    ],
)
def test_files_that_decide_are_known_by_their_names(name: str, decides: bool) -> None:
    assert guarded.decides(name) is decides


def _guard(repo: Path) -> tuple[str, ...]:
    return guarded.compare(repo, workshop.git(repo, "rev-parse", "HEAD").strip()).told


def test_of_a_file_with_many_uses_only_what_steers_checks_is_guarded(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "a"\n[tool.ruff]\nline-length = 100\n',
        "package.json": '{"version": "1", "scripts": {"test": "jest"}}',
    }
    repo = workshop.repository(tmp_path / "repo", files)
    workshop.write(repo, {"pyproject.toml": files["pyproject.toml"].replace('"a"', '"b"')})
    workshop.write(repo, {"package.json": '{"version": "2", "scripts": {"test": "jest"}}'})
    assert _guard(repo) == ()

    workshop.write(repo, {"pyproject.toml": files["pyproject.toml"].replace("100", "999")})
    workshop.write(repo, {"package.json": '{"version": "1", "scripts": {"test": "true"}}'})

    assert _guard(repo) == (
        "package.json (what it says about checks changed)",
        "pyproject.toml (what it says about checks changed)",
    )


def test_a_test_that_git_was_told_to_forget_is_not_forgotten(tmp_path: Path) -> None:
    test = "def test_a():\n    assert 1\n"
    repo = workshop.repository(tmp_path / "repo", {"tests/test_a.py": test})
    workshop.git(repo, "rm", "--quiet", "--cached", "tests/test_a.py")
    workshop.write(repo, {".gitignore": "tests\n", "tests/test_a.py": "def test_a(): pass\n"})

    assert _guard(repo) == ("tests/test_a.py (1 assert fewer)",)


def test_the_ends_of_lines_are_no_change(tmp_path: Path) -> None:
    repo = workshop.repository(tmp_path / "repo", {"tests/test_a.py": "def test_a(): ...\n"})
    (repo / "tests/test_a.py").write_bytes(b"def test_a(): ...\r\n")

    assert _guard(repo) == ()
