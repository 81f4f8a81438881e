"""`remit service`: a unit that systemd accepts, and sentences where it cannot help."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, script=None)


def test_the_unit_is_written_as_systemd_wants_it_and_removed(
    terminal: Terminal, tmp_path: Path
) -> None:
    config = str(tmp_path / "a config")
    unit = tmp_path / "a config/systemd/user/remit.service"

    said = terminal.run(
        "service", "install", XDG_CONFIG_HOME=config, OPENAI_API_KEY="sk-1234567890"
    )
    text = unit.read_text()
    verified = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(unit)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
    )
    status = terminal.run("service", XDG_CONFIG_HOME=config)
    removed = terminal.run("service", "remove", XDG_CONFIG_HOME=config)

    assert f"REMIT_HOME={terminal.home}" in text
    assert " up\n" in text
    assert "remit.service" not in verified.stderr, verified.stderr
    assert "a service does not see that" in said.err
    assert str(unit) in status.out
    assert removed.code == 0
    assert not unit.exists()
    again = terminal.run("service", "remove", XDG_CONFIG_HOME=config)
    assert "nothing is installed" in again.err


def test_without_systemd_nothing_is_written_and_a_sentence_says_so(
    terminal: Terminal, tmp_path: Path
) -> None:
    said = terminal.run("service", "install", XDG_CONFIG_HOME=str(tmp_path), PATH=str(tmp_path))
    assert said.code == 2
    assert "There is no systemd here" in said.err
    assert not (tmp_path / "systemd").exists()
