"""Repositories of shapes met in the wild: which tests run, and what is shown."""

from pathlib import Path

import pytest

from remit.cli.main import run
from tests.tables import table
from tests.verify import workshop
from tests.verify.projects import Files


@pytest.mark.parametrize("case", table(__file__, "repositories"))
def test_the_right_tests_judge_a_change(
    case: tuple[dict[str, str], Files, int, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files, change, code, said = case
    repo = workshop.repository(tmp_path / "repo", files)
    for name, text in change.items():
        workshop.write(repo, {name: text}) if text is not None else (repo / name).unlink()

    assert verify(repo, monkeypatch) == code

    out = capsys.readouterr().out
    assert [each for each in said if each not in out] == [], out


def test_the_files_of_a_submodule_are_there_and_are_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = workshop.repository(tmp_path / "parts", {"part.py": "SIZE = 3\n"})
    test = "import sys\n\nsys.path.insert(0, 'vendor/parts')\n\nimport part\n\n\n"
    test += "def test_size():\n    assert part.SIZE == 3\n"
    repo = workshop.repository(tmp_path / "repo", {"tests/test_part.py": test, "a.py": "A = 1\n"})
    add = ("submodule", "--quiet", "add", str(parts), "vendor/parts")
    workshop.git(repo, "-c", "protocol.file.allow=always", *add)
    workshop.commit(repo)
    workshop.write(repo, {"a.py": "A = 2\n", "nested/b.py": "B = 1\n"})
    workshop.git(repo / "nested", "init", "--quiet")  # of somebody else, and not tracked

    assert verify(repo, monkeypatch) == 0

    out, err = capsys.readouterr()
    assert "1 test passed; 1 ran before the work." in out
    assert "Changed: a.py.\n" in err


def verify(repo: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("REMIT_HOME", str(repo.with_name("no-house")))
    monkeypatch.setenv("PATH", workshop.environ()["PATH"])
    monkeypatch.chdir(repo)
    return run(["verify", "--base", "HEAD"])
