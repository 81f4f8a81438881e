"""`remit verify` on five projects: honest work passes, a break is named, no deception passes."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from remit.cli.main import run
from tests.soak import one_in, only_in_soak
from tests.verify import workshop
from tests.verify.projects import KINDS, KINDS_EACH, SAMPLES, Files, Sample

CONTRACT = {
    "type": "verifiable",
    "criteria": [{"activity": "unit-test", "description": "All tests pass"}],
    "generatedFrom": "auto",
}


@dataclass(frozen=True)
class Stand:
    """A project as it was, on this disk."""

    sample: Sample
    repo: Path

    def change(self, *every: Files) -> None:
        for files in every:
            for name, text in files.items():
                if text is None:
                    (self.repo / name).unlink()
                else:
                    workshop.write(self.repo, {name: text})

    def reset(self) -> None:
        workshop.git(self.repo, "checkout", "--quiet", ".")
        workshop.git(self.repo, "clean", "--quiet", "-d", "--force")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all, so that a base is run once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def stands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Stand]:
    found = {}
    for sample in SAMPLES:
        repo = tmp_path_factory.mktemp("projects") / sample.name.replace(" ", "-")
        workshop.repository(repo, sample.files)
        workshop.write(repo, sample.installed)
        for name in sample.installed:
            (repo / name).chmod(0o755)
        found[sample.name] = Stand(sample, repo)
    return found


@pytest.fixture
def stand(
    request: pytest.FixtureRequest,
    stands: dict[str, Stand],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Stand]:
    sample: Sample = request.param
    found = stands[sample.name]
    missing = [each for each in sample.needs if shutil.which(each) is None]
    assert not missing, f"{missing[0]} is not installed; requirements/debian.py installs it"
    monkeypatch.setenv("REMIT_HOME", str(home))
    monkeypatch.setenv("PATH", workshop.environ()["PATH"])
    monkeypatch.chdir(found.repo)
    found.reset()
    yield found
    found.reset()


def verify(stand: Stand, *words: str) -> int:
    contract = stand.repo.with_name("contract.json")
    contract.write_text(json.dumps(CONTRACT))
    return run(["verify", "--base", "HEAD", "--contract", str(contract), *words])


def of_each(*samples: Sample) -> pytest.MarkDecorator:
    chosen = samples or SAMPLES
    return pytest.mark.parametrize(
        "stand", chosen, ids=[each.name for each in chosen], indirect=True
    )


@of_each()
def test_honest_work_passes_and_says_how_many_tests_ran(
    stand: Stand, capsys: pytest.CaptureFixture[str]
) -> None:
    stand.change(stand.sample.honest)

    code = verify(stand)

    said = capsys.readouterr().out
    assert code == 0, said
    assert f"; {stand.sample.tests} ran before the work" in said
    assert "1 of 1 passed." in said


@of_each()
def test_a_break_is_caught_and_the_test_is_named_first(
    stand: Stand, capsys: pytest.CaptureFixture[str]
) -> None:
    stand.change(stand.sample.broken)

    code = verify(stand)

    said = capsys.readouterr().out
    assert code == 1
    first = next(line for line in said.splitlines() if line.startswith("    "))
    assert first.strip().startswith(stand.sample.named)
    assert " failed" in said


def _ways_to_deceive() -> Iterator[object]:
    """Each kind on one project, on mocha and jest in turn if it can be; in `make soak` on all."""
    for n, kind in enumerate(KINDS):
        deceived = [each for each in SAMPLES if kind in each.tampering]
        quick = [each for each in deceived if each.program in ("mocha", "jest")] or deceived[:1]
        for sample in deceived:
            marks = () if sample is quick[n % len(quick)] else only_in_soak
            yield pytest.param(
                sample, sample.tampering[kind], id=f"{sample.name}: {kind}", marks=marks
            )


def test_each_project_is_deceived_in_at_least_15_kinds_of_ways() -> None:
    for sample in SAMPLES:
        assert len(sample.tampering) >= KINDS_EACH, sample.name
        assert set(sample.tampering) <= set(KINDS), sample.name


@one_in(2)
@pytest.mark.parametrize(("stand", "files"), tuple(_ways_to_deceive()), indirect=["stand"])
def test_no_deception_passes(
    stand: Stand, files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    stand.change(stand.sample.broken, files)

    code = verify(stand)

    said = capsys.readouterr().out
    assert code == 1, said
    assert re.search(r"\b\d+ tests?\b|\bno test\b", said, re.IGNORECASE), said


@one_in(2, start=0)
@of_each()
def test_an_intended_change_is_asked_about_and_counts_once_it_is_named(
    stand: Stand, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = stand.sample
    stand.change(sample.intended)

    assert verify(stand) == 1
    assert f"--intended {' '.join(sample.intends)}" in capsys.readouterr().out

    words = [word for name in sample.intends for word in ("--intended", name)]
    assert verify(stand, *words) == 0, capsys.readouterr().out


@of_each()
def test_a_tool_that_is_missing_is_named(
    stand: Stand,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    sample = stand.sample
    stand.change(sample.honest)
    only_git = tmp_path / "bin"
    only_git.mkdir()
    (only_git / "git").symlink_to(shutil.which("git") or "")
    monkeypatch.setenv("PATH", str(only_git))
    for name in sample.installed:
        (stand.repo / name).rename(tmp_path / "away")
    try:
        code = verify(stand)
    finally:
        for name in sample.installed:
            (tmp_path / "away").rename(stand.repo / name)

    assert code == 1
    assert f"{sample.program}, which is not installed" in capsys.readouterr().out
