"""Checks in the sandbox: a repository of 1,000 files, its tests, and a check of nothing.

And before them: which of 33,000 tests a change concerns.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.measure import Measurement, Stopwatch, read_peak_bytes, take_percentile, time_calls
from remit.model.contract import Criterion, Result
from remit.testing import FrozenClock
from remit.verify import project, project_files
from remit.verify.command import CommandCheck
from remit.verify.sandbox import Sandbox
from remit.verify.selection import Selection, select

FILES = 1_000
PYTHON = str(Path(sys.base_prefix) / "bin/python3")
COMMANDS = {"build": ("true",), "e2e": (PYTHON, "-m", "unittest", "discover", "-q")}
TEST = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        pass\n"


def run(size: int, home: Path) -> list[Measurement]:
    place = repository(home)
    given = {activity: (argv,) for activity, argv in COMMANDS.items()}
    ways = project.read_commands(place, environ=os.environ, given=given)

    def prove(activity: str) -> None:
        check = CommandCheck(ways, Sandbox(), FrozenClock())  # it runs the same suite once
        found = asyncio.run(check.prove(Criterion(activity, "measured"), str(place)))
        assert found.result is Result.PASS, found.error

    library = large_library(home)
    return [
        *measure(prove, size),
        _row("choosing among 33,000 tests", lambda _: choose(library), "unit-test", size),
    ]


def choose(library: Path) -> Selection:
    files = project_files.in_folder(library)
    chosen = select(files.names, files.text, ("src/library/module_7.py",))
    assert 0 < len(chosen.files) < chosen.of, chosen
    return chosen


def large_library(home: Path) -> Path:
    """A thousand modules that import each other in chains of ten, and 33 tests for each."""
    place = home / "library"
    tests = "".join(f"\n\ndef test_{n}():\n    assert VALUE\n" for n in range(33))
    for folder in ("src/library", "tests"):
        (place / folder).mkdir(parents=True)
    for number in range(FILES):
        before = (
            f"from library.module_{number - 1} import VALUE\n" if number % 10 else "VALUE = 1\n"
        )
        (place / f"src/library/module_{number}.py").write_text(before + "# a line\n" * 100)
        own = f"from library.module_{number} import VALUE\n"
        (place / f"tests/test_module_{number}.py").write_text(own + tests)
    subprocess.run(("git", "init", "--quiet"), cwd=place, check=True)
    return place


def measure(prove: Callable[[str], object], size: int) -> list[Measurement]:
    """The same two figures for whatever runs a command on the repository."""
    return [
        _row(name, prove, activity, size)
        for name, activity in (("a check that does nothing", "build"), ("20 test files", "e2e"))
    ]


def repository(home: Path) -> Path:
    """A thousand files in fifty folders, and twenty small tests."""
    place = home / "repository"
    for number in range(FILES):
        path = place / f"part_{number % 50}" / f"module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"VALUE = {number}\n" * 50)
    for number in range(20):
        (place / f"test_{number}.py").write_text(TEST)
    for words in (("init", "--quiet"), ("add", "--all")):
        subprocess.run(("git", *words), cwd=place, check=True)
    return place


def _row(name: str, prove: Callable[[str], object], activity: str, size: int) -> Measurement:
    prove(activity)
    watch = Stopwatch()
    with watch:
        spans: Sequence[float] = time_calls(lambda: prove(activity), size)
    return Measurement(
        name,
        take_percentile(spans, 50),
        "ms",
        size,
        watch.wall_seconds,
        watch.cpu_seconds,
        read_peak_bytes(),
        better="less",
        facts={"p95 ms": round(take_percentile(spans, 95), 1), "files": FILES},
    )
