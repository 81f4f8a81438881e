"""What hostile code tries in the sandbox, and that nothing of it gets out.

Each script in escape/ tries what it is named for and prints TRIED at its end, so that none passes
by not having tried. What it must not find is put where it looks: a key in a home, one in the
environment, listeners, a process that it could end.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.verify import project_files
from remit.verify.sandbox import SandboxResult
from tests.verify import workshop
from tests.verify.workshop import PYTHON, SMALL

ESCAPE = Path(__file__).parent / "escape"
KEY = "sk-canary-5c1f0e7d2b"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    files = {"calc.py": "ONE = 1\n", "tests/test_calc.py": "def test_one() -> None: ...\n"}
    return workshop.repository(tmp_path / "outer" / "work", files)


async def attack(name: str, work: Path, *words: str, **limits: float) -> SandboxResult:
    """Run one of the scripts in the sandbox, from a folder it may do with as it likes."""
    shutil.copy(ESCAPE / f"{name}.py", work / "attack.py")
    argv = (str(PYTHON), "attack.py", *words)
    found = await workshop.ended(argv, work, replace(SMALL, **limits))
    assert "TRIED" in found.output, found.output
    return found


@pytest.fixture
def baited(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with links that lead out of it, a home with a key, and one in the environment."""
    workshop.write(tmp_path, {"secret": KEY, ".ssh/id_ed25519": KEY})
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BANK_PASSWORD", KEY)
    (work / "shadow").symlink_to("/etc/shadow")
    (work / "folder").symlink_to("/etc")
    (work / "outside").symlink_to(tmp_path / "secret")
    (work / "chain").symlink_to("../../secret")
    return work


@pytest.mark.parametrize(
    ("name", "signs"),
    [
        ("read_links", ("root:",)),
        ("read_home", ("PRIVATE KEY", ".ssh")),
        ("read_environment", ("BANK_PASSWORD",)),
        ("climb", ("WROTE /proc/1/root", "WROTE /usr", "WROTE /etc", "'home'", "'var'")),
        ("new_namespace", ("NEW NAMESPACE", "MOUNTED", "ROOT", "WRAPPED")),
        ("touch_devices", ("OPENED",)),
    ],
)
async def test_no_link_home_variable_or_device_leads_out(
    name: str, signs: tuple[str, ...], baited: Path, tmp_path: Path
) -> None:
    found = await attack(name, baited)

    for sign in (KEY, *signs):
        assert sign not in found.output
    assert str(os.getpid()) not in found.output.split("/proc/")[0]
    assert "escaped" not in _names(tmp_path)


async def test_nobody_is_called(work: Path, tmp_path: Path) -> None:
    name = f"remit-{uuid.uuid4()}"
    with _listening(tmp_path, name) as (port, path, listeners):
        found = await attack("call_out", work, str(port), path, name)

        assert "CONNECTED" not in found.output
        for listener in listeners:
            with pytest.raises(BlockingIOError):
                listener.accept()


async def test_a_fork_bomb_meets_a_wall_and_is_gone_and_so_is_a_daemon(work: Path) -> None:
    forks, stays = f"forks-{uuid.uuid4()}", f"stays-{uuid.uuid4()}"

    found = await attack("fork_bomb", work, forks, processes=64)
    await attack("stay_behind", work, stays)

    assert 0 < _number(found, "STOPPED") < 64
    assert _alive(forks) == _alive(stays) == []


async def test_ten_gigabytes_do_not_fit(work: Path) -> None:
    found = await attack("big_file", work)

    assert _number(found, "TOTAL") <= (SMALL.room + SMALL.scratch + 64) * 1024 * 1024
    for place in (str(work), "/dev/shm", "/tmp"):  # noqa: S108
        assert not os.path.exists(f"{place}/fills-0")  # noqa: PTH110, ASYNC240


async def test_memory_has_an_end(work: Path) -> None:
    found = await attack("memory_hog", work, memory=256, addresses=8_000)

    assert 0 < _number(found, "STOPPED") <= 270
    assert 0 < _number(found, "ADDRESSES") <= 8


async def test_the_owners_repository_is_not_touched(work: Path) -> None:
    shutil.copy(ESCAPE / "spoil_repository.py", work / "attack.py")
    before = workshop.seen(work)

    await attack("spoil_repository", work)

    assert workshop.seen(work) == before
    # Hooks, and keys that git ignores, are not laid in.
    workshop.write(work, {".gitignore": ".env\n", ".env": KEY, ".git/hooks/pre-commit": KEY})
    assert KEY.encode() not in workshop.packed(work)


async def test_no_process_outside_can_be_ended(work: Path) -> None:
    with subprocess.Popen((sys.executable, "-c", "import time; time.sleep(60)")) as bystander:  # noqa: ASYNC220
        found = await attack("kill_others", work, str(bystander.pid))
        alive = bystander.poll() is None
        bystander.send_signal(signal.SIGKILL)

    assert alive
    assert found.code != 0


def test_what_a_repository_configures_is_not_run_when_git_is_asked(
    work: Path, tmp_path: Path
) -> None:
    trap = f"touch {tmp_path}/sprung; cat"
    for key in ("core.fsmonitor", "filter.trap.clean", "filter.trap.smudge", "diff.external"):
        workshop.git(work, "config", key, trap)
    workshop.write(work, {".gitattributes": "* filter=trap diff=trap\n", "calc.py": "ONE = 2\n"})
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        workshop.write(work, {f".git/hooks/{hook}": f"#!/bin/sh\n{trap}\n"})
        (work / ".git/hooks" / hook).chmod(0o755)

    base = project_files.resolve_commit(work, "HEAD")
    touched = project_files.changed_files(work, project_files.files_at_commit(work, base))
    workshop.packed(work)

    assert touched == (".gitattributes", "calc.py")
    assert not (tmp_path / "sprung").exists()


@contextlib.contextmanager
def _listening(folder: Path, name: str) -> Iterator[tuple[int, str, list[socket.socket]]]:
    path = str(folder / "socket")
    with contextlib.ExitStack() as stack:
        lines = [stack.enter_context(socket.socket(family)) for family in _FAMILIES]
        lines[0].bind(("127.0.0.1", 0))
        lines[1].bind(path)
        lines[2].bind(f"\0{name}")
        for line in lines:
            line.listen()
            line.setblocking(False)
        yield lines[0].getsockname()[1], path, lines


_FAMILIES = (socket.AF_INET, socket.AF_UNIX, socket.AF_UNIX)


def _number(found: SandboxResult, word: str) -> int:
    """The number that a script printed after a word."""
    (line,) = [line for line in found.output.splitlines() if line.startswith(word)]
    return int(line.split()[1])


def _alive(mark: str) -> list[str]:
    """The processes of this machine that have a word in their command."""
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            said = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
            if mark in said and str(os.getpid()) != entry.name:
                found.append(said)
    return found


def _names(folder: Path) -> str:
    return " ".join(path.name for path in folder.rglob("*"))
