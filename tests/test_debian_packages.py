"""`make test` installs the Debian packages it needs, or names those it may not install."""

import os
import subprocess
import sys
from pathlib import Path

# Looked for at its place, because few have /usr/sbin on their path; this machine may have it.
DOVECOT = "" if Path("/usr/sbin/dovecot").exists() else " dovecot-imapd"
SCRIPT = Path(__file__).resolve().parent.parent / "requirements" / "debian.py"


def run_script(programs: Path) -> "subprocess.CompletedProcess[str]":
    """Run the script on a machine whose only programs are those in one folder."""
    return subprocess.run(
        [sys.executable, SCRIPT],
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
        check=False,
    )


def add_program(folder: Path, name: str, script: str = "exit 0") -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_what_is_missing_is_installed_and_nothing_else(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    add_program(tmp_path, "sudo", 'shift; exec "$@"')  # for those who are not root
    add_program(tmp_path, "true")
    add_program(tmp_path, "apt-get", f'echo "$@" >> {calls}')
    add_program(tmp_path, "google-chrome")  # does as well as Debian's Chromium
    add_program(tmp_path, "git")

    done = run_script(tmp_path)

    assert done.returncode == 0
    names = f"bubblewrap cargo chromium-headless-shell{DOVECOT} faketime mocha nodejs"
    assert calls.read_text().splitlines() == [
        "update",
        f"install --yes --no-install-recommends {names}",
    ]


def test_who_may_not_install_reads_one_sentence_and_the_tests_go_on(tmp_path: Path) -> None:
    add_program(tmp_path, "git")
    if os.geteuid() != 0:
        add_program(tmp_path, "apt-get")
        add_program(tmp_path, "sudo", "exit 1")  # it would ask for a password

    done = run_script(tmp_path)

    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    names = f"bubblewrap cargo chromium chromium-headless-shell{DOVECOT} faketime mocha nodejs"
    assert f"sudo apt-get install {names}" in done.stderr


def test_what_apt_says_when_it_fails_is_shown(tmp_path: Path) -> None:
    add_program(tmp_path, "sudo", 'shift; exec "$@"')
    add_program(tmp_path, "true")
    add_program(tmp_path, "apt-get", 'echo "E: no such archive" >&2; exit 100')

    done = run_script(tmp_path)

    assert done.returncode == 0
    assert "E: no such archive" in done.stderr
