"""Start-up: the CPU time of the command line, as a person pays it."""

import os
import sys
from pathlib import Path

from bench.measure import Measurement, time_command
from bench.ours.million import with_tasks
from remit.store import home as homes

TASKS = 1000


def run(size: int, home: Path) -> list[Measurement]:
    homes.prepare(home / "agent.db")
    with_tasks(home / "agent.db", TASKS)
    os.environ["REMIT_HOME"] = str(home)
    remit = [sys.executable, "-m", "remit.cli.main"]
    return [
        time_command("import", [sys.executable, "-c", "import remit.wiring"], size),
        time_command("remit ls", [*remit, "ls"], size),
        time_command("remit ls --json", [*remit, "ls", "--json"], size),
        time_command("remit --help", [*remit, "--help"], size),
    ]
