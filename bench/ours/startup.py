"""Start-up: the CPU time of the command line, as a person pays it, and the memory of an idle Remit.

Each figure says how many times a bare interpreter it is, measured in the same minute.
"""

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

import psutil

from bench.http_load import running
from bench.measure import Measurement, Stopwatch, time_command
from bench.ours.million import with_tasks
from remit.store import home as homes

TASKS: Final = 1000
IDLE_SECONDS: Final = 5.0  # until everything that starts by itself has started
PYTHON: Final = (sys.executable, "-c", "pass")
REMIT: Final = (sys.executable, "-m", "remit.cli.main")
LISTS: Final = ("ls", "ls --json", "inbox --json")
COMMANDS: Final = ("--help", "hooks", "calendar", "doctor")
IMPORTS: Final = {
    "import": "import remit.wiring.app",
    "import the reader": "import remit.intake.plain_reader",
}


def run(size: int, home: Path) -> list[Measurement]:
    full, empty = home / "full", home / "empty"
    homes.prepare(full / "agent.db")
    with_tasks(full / "agent.db", TASKS)
    empty.mkdir()
    return [
        *(_time(name, [sys.executable, "-c", code], size, empty) for name, code in IMPORTS.items()),
        *(_time(f"remit {words}", [*REMIT, *words.split()], size, full) for words in LISTS),
        *(_time(f"remit {words}", [*REMIT, *words.split()], size, empty) for words in COMMANDS),
        _time("remit add", [*REMIT, "add", "Write a poem about the sea"], size, empty),
        _idle_memory(home / "idle"),
    ]


def _time(name: str, command: list[str], repeats: int, home: Path) -> Measurement:
    os.environ["REMIT_HOME"] = str(home)
    bare = time_command("python", PYTHON, repeats)
    found = time_command(name, command, repeats)
    return replace(found, facts={"times python": round(found.value / bare.value, 1)})


def _idle_memory(home: Path) -> Measurement:
    home.mkdir()
    watch = Stopwatch()
    with watch, running([*REMIT, "up", "--port", "0", "--json"], home, REMIT_HOME=str(home)) as up:
        time.sleep(IDLE_SECONDS)
        held = int(psutil.Process(up[1]).memory_info().rss)
    cost = (watch.wall_seconds, watch.cpu_seconds, held)
    return Measurement("remit up, idle and empty", held / 1e6, "MB", 1, *cost, better="less")
