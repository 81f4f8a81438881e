"""`remit project add`: a project is set up without editing a file."""

import tomllib
from pathlib import Path

import pytest

from remit.cli.main import run
from remit.settings import load
from remit.verify.project_files import ProjectFiles
from remit.verify.proposals import propose
from tests.verify import workshop

WORKFLOW = """\
jobs:
  test:
    steps:
      - uses: actions/checkout@v4
      - run: pip install -e .
      - run: mypy src
      - name: all of it
        run: |
          pytest -q
          echo $HOME && rm -rf x
"""


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        (".github/workflows/ci.yml", WORKFLOW, ["typecheck: mypy src", "unit-test: pytest -q"]),
        ("scripts/lint", "#!/bin/sh -e\nruff check src\n", ["lint: ruff check src"]),
        ("tox.ini", "[testenv]\ncommands =\n  pytest {posargs:tests}\n", ["unit-test: pytest"]),
        ("noxfile.py", "session.run('mypy', 'src')\n", ["typecheck: mypy src"]),
        ("justfile", "test:\n  pytest\nrelease:\n  x\n", ["unit-test: just test"]),
        ("Makefile", "lint: a\n\truff\nX := 1\n", ["lint: make lint"]),
        ("package.json", '{"scripts": {"lint": "eslint .", "start": "x"}}', ["lint: npm run lint"]),
        ("AGENTS.md", "Run:\n```sh\n$ cargo clippy\n```\n", ["lint: cargo clippy"]),
        ("CLAUDE.md", "```bash\ngo test ./...\n```\n", ["unit-test: go test ./..."]),
        ("README.md", "```sh\npytest\n```\n", []),
    ],
)  # fmt: skip
def test_the_projects_own_commands_are_found(name: str, text: str, wanted: list[str]) -> None:
    files = ProjectFiles(frozenset({name}), lambda _: text.encode())

    found = propose(files)

    assert [f"{each.activity}: {' '.join(each.argv)}" for each in found] == wanted
    assert {each.source for each in found} <= {name}


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    workshop.write(tmp_path / "bin", {"claude": "#!/bin/sh\n", "make": "#!/bin/sh\n"})
    for name in ("claude", "make"):
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("REMIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{workshop.environ()['PATH']}")
    files = {
        "Makefile": "lint:\n\ttrue\n",
        "calc.py": "def add(a, b):\n    return a + b\n",
        "test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n",
    }
    return workshop.repository(tmp_path / "My Shop", files)


def test_a_project_is_set_up_with_what_was_found_and_checked_once(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["project", "add", str(repo), "--yes"]) == 0

    said = capsys.readouterr().out
    assert "unit-test: pytest, as its files say" in said
    assert "lint: make lint, proposed from Makefile" in said
    assert "claude: installed, would work on it as a command" in said
    assert "1 test passed." in said
    chosen = load().projects["my-shop"]
    assert (chosen.path, chosen.specialists) == (str(repo), ("claude",))
    assert chosen.argvs == {"lint": (("make", "lint"),)}
    assert load().specialists["claude"].argv[0] == "claude"
    assert tomllib.loads((repo.parent / "home/settings.toml").read_text())["projects"]

    assert run(["project", "add", str(repo), "--yes"]) != 0
    assert run(["project", "ls"]) == 0
    assert f"my-shop: {repo}, worked on by claude" in capsys.readouterr().out


_TOOL = """#!/bin/sh
grep -qr "bad for $(basename "$0")" --include=*.py . || exit 0
echo "calc.py:1: error: bad"
exit 1
"""
_SEVERAL = """\
jobs:
  check:
    steps:
      - run: mypy src
      - run: pyright
      - run: ty check
      - run: black --check .
      - run: ruff format .
"""


def test_several_type_checkers_and_formatters_are_proposed_and_each_has_to_pass(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for tool in ("mypy", "pyright", "black"):
        workshop.write(repo.parent / "bin", {tool: _TOOL})
        (repo.parent / "bin" / tool).chmod(0o755)
    files = {".github/workflows/ci.yml": _SEVERAL, "pyproject.toml": "[tool.mypy]\n"}
    workshop.write(repo, files)
    workshop.commit(repo)

    assert run(["project", "add", str(repo), "--yes"]) == 0

    said = capsys.readouterr().out
    assert "typecheck: pyright, proposed from .github/workflows/ci.yml" in said
    assert "typecheck: ty, named in .github/workflows/ci.yml, is not installed" in said
    assert load().projects["my-shop"].argvs == {
        "typecheck": (("mypy", "--cache-dir=/dev/null", "."), ("pyright",)),
        "lint": (("black", "--check", "."),),
    }
    for tool, activity in (("mypy", "typecheck"), ("pyright", "typecheck"), ("black", "lint")):
        (repo / "calc.py").write_text(f"# bad for {tool}\ndef add(a, b):\n    return a + b\n")
        assert run(["verify", "--workspace", str(repo)]) == 1
        said = capsys.readouterr().out
        assert f"✗ {activity}" in said
        assert f"{tool} ended with exit code 1" in said
        assert said.count("✗") == 1


def test_without_a_yes_only_the_folder_is_written_down(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["project", "add", str(repo), "--name", "shop", "--unchecked"]) == 0

    chosen = load().projects["shop"]
    assert (chosen.commands, chosen.specialists) == ({}, ())
    assert "Nobody is there to ask" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{0}/nowhere"], "There is no folder {0}/nowhere; name one that holds a project."),
        (["{0}"], "{0} is not under git, and a project has to be"),
        (["{0}/My Shop/docs"], "{0}/My Shop/docs lies in the git repository {0}/My Shop; add that"),
        (["{0}/My Shop", "--name", "My Shop"], "'My Shop' cannot be the name of a project"),
    ],
)
def test_what_cannot_be_a_project_is_refused_in_a_sentence(
    words: list[str], sentence: str, repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "docs").mkdir()

    assert run(["project", "add", *(each.format(repo.parent) for each in words)]) == 2

    assert sentence.format(repo.parent) in capsys.readouterr().err
