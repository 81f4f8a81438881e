"""`remit verify`: usable alone, in any repository."""

import json
import os
from pathlib import Path

import pytest

from remit.cli.main import run
from remit.settings import load
from remit.settings.projects import ProjectSettings
from tests.tables import for_each, table
from tests.verify import workshop

CALC = "def add(a: int, b: int) -> int:\n    return a + b\n"
TEST = "from calc import add\n\n\ndef test_add() -> None:\n    assert add(1, 2) == 3\n"
FILES = {"ruff.toml": "", "calc.py": CALC, "tests/test_calc.py": TEST}
CONTRACT = {
    "type": "verifiable",
    "criteria": [
        {"activity": "lint", "description": "No lint errors"},
        {"activity": "unit-test", "description": "It adds", "pattern": "add"},
        {"activity": "e2e", "description": "All of it", "timing": "deferred"},
    ],
    "generatedFrom": "auto",
    "generatedAt": "2026-02-28T10:00:00Z",
}


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REMIT_HOME", str(tmp_path / "no-house"))
    monkeypatch.setenv("PATH", workshop.environ()["PATH"])
    repo = workshop.repository(tmp_path / "repo", FILES)
    monkeypatch.chdir(repo)
    return repo


def written(repo: Path, contract: object) -> str:
    path = repo.with_name("contract.json")
    path.write_text(json.dumps(contract))
    return str(path)


def test_a_folder_is_checked_and_reported_and_nothing_is_changed(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files, environ = workshop.seen(repo), dict(os.environ)

    code = run(["verify", "--contract", written(repo, CONTRACT)])

    out, err = capsys.readouterr()
    assert code == 0
    assert "✓ lint: No lint errors" in out
    assert "✓ unit-test (add): It adds" in out
    assert "– e2e: All of it" in out
    assert "nothing in repo says how to do e2e" in out
    assert out.endswith("2 of 3 passed, 1 not checked.\n")
    assert "2/3 unit-test …" in err
    assert not (repo.parent / "no-house").exists()
    assert (workshop.seen(repo), dict(os.environ)) == (files, environ)


def test_what_is_left_for_the_end_of_a_group_is_checked_last_if_all_is_wanted(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = {"e2e": ["grep", "-q", "def add", "calc.py"]}
    (repo / "project.json").write_text(json.dumps({"commands": commands}))
    first = {"type": "verifiable", "criteria": [CONTRACT["criteria"][2], CONTRACT["criteria"][0]]}

    assert run(["verify", "--contract", written(repo, first)]) == 0
    left = capsys.readouterr().out
    assert "it is left for the end of its group; --all checks it now" in left
    assert left.endswith("1 of 2 passed, 1 left for later.\n")

    assert run(["verify", "--all", "--contract", written(repo, first)]) == 0
    out, err = capsys.readouterr()
    assert err.index("1/2 lint …") < err.index("2/2 e2e …")
    assert out.startswith("✓ e2e: All of it")
    assert out.endswith("2 of 2 passed.\n")


def test_what_fails_is_shown_and_the_exit_says_so(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "calc.py").write_text(CALC.replace("+", "-"))

    assert run(["verify", "--contract", written(repo, {"verificationContract": CONTRACT})]) == 1
    out = capsys.readouterr().out
    for text in ("✗ unit-test (add)", "assert -1 == 3", "1 failed"):
        assert text in out

    run(["verify", "--contract", written(repo, {"type": "advisory", "criteria": []})])
    assert "nothing is verified" in capsys.readouterr().out


def test_with_json_the_results_are_those_of_the_published_form(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lint, _, e2e = CONTRACT["criteria"]
    contract = written(repo, CONTRACT | {"criteria": [lint, e2e]})

    code = run(["verify", "--json", "--contract", contract])

    out, err = capsys.readouterr()
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert told["verificationResults"]["overall"] == "pass"
    statuses = [each["status"] for each in told["verificationResults"]["criteria"]]
    assert statuses == ["pass", "skipped"]
    assert told["verificationContract"]["criteria"][1]["timing"] == "deferred"


def test_without_a_contract_one_is_drafted_from_what_changed_and_not_from_what_was_installed(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "calc.py").write_text(CALC + "\n\nONE = 1\n")
    workshop.write(repo, {"node_modules/left-pad/widget.tsx": "x", ".venv/lib/site.sql": "x"})

    assert run(["verify"]) == 0
    out, err = capsys.readouterr()
    assert "Changed: calc.py." in err
    assert "✓ unit-test (calc): Tests for calc.py" in out

    run(["verify", "--json"])
    drafted = json.loads(capsys.readouterr().out)["verificationContract"]["criteria"]
    assert [each["pattern"] for each in drafted if each.get("pattern")] == ["calc"]
    assert "critic" not in {each["activity"] for each in drafted}


def test_the_words_of_the_settings_are_taken_where_they_know_the_folder(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = f'[projects.calc]\npath = "{repo}"\ncommands.lint = ["false"]\n'
    workshop.write(repo.parent / "no-house", {"settings.toml": said})

    lint = CONTRACT | {"criteria": CONTRACT["criteria"][:1]}

    assert run(["verify", "--contract", written(repo, lint)]) == 1
    assert "false ended with exit code 1" in capsys.readouterr().out


def test_with_a_base_what_decides_is_used_as_it_was(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "calc.py").write_text(CALC.replace("+", "-"))
    (repo / "tests/test_calc.py").write_text("def test_add() -> None:\n    pass\n")
    contract = written(repo, CONTRACT)

    assert run(["verify", "--contract", contract]) == 0
    said = capsys.readouterr().out
    assert "used as they are now: tests/test_calc.py (1 assert fewer)" in said
    assert "`remit verify --base HEAD` uses them as they were." in said

    assert run(["verify", "--contract", contract, "--base", "HEAD"]) == 1
    assert "tests/test_calc.py (1 assert fewer)" in capsys.readouterr().out


@for_each(("contract", "sentence"), table(__file__, "wrong_contracts"))
def test_a_contract_that_cannot_be_read_is_refused_in_a_sentence(
    contract: str, sentence: str, repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = repo.with_name("contract.json")
    path.write_text(contract)

    assert run(["verify", "--contract", str(path)]) == 2
    assert sentence in capsys.readouterr().err


# The settings -------------------------------------------------------------------------------------


def settings(folder: Path, text: str) -> dict[str, str]:
    (folder / "settings.toml").write_text(text)
    return {"REMIT_HOME": str(folder)}


def test_a_project_is_read_from_the_settings(tmp_path: Path) -> None:
    text = (
        '[projects.shop]\npath = "/data/shop"\nspecialists = ["brain"]\nflaky = ["e2e"]\n'
        'commands.unit-test = ["pytest", "-k{pattern}"]\nprompt_for_advisory = true\n'
    )

    shop = load(settings(tmp_path, text)).projects["shop"]

    assert shop == ProjectSettings(
        path="/data/shop",
        specialists=("brain",),
        commands={"unit-test": ["pytest", "-k{pattern}"]},
        flaky=("e2e",),
        prompt_for_advisory=True,
    )
    assert shop.argvs == {"unit-test": (("pytest", "-k{pattern}"),)}


@for_each(("text", "sentence"), table(__file__, "wrong_projects"))
def test_a_project_that_is_wrong_is_refused_by_name(
    text: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(Exception, match=r"settings\.toml") as refused:
        load(settings(tmp_path, text))

    assert sentence in str(refused.value)


@for_each(("words", "sentence"), table(__file__, "slips"))
def test_a_slip_is_told_in_a_sentence(
    words: list[str], sentence: str, repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "calc.py").write_text(f"{CALC}\n\nZERO = 0\n")

    assert run(["verify", *words]) == 2
    assert sentence in capsys.readouterr().err
