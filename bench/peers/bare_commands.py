"""The same commands on the same repository, run bare: no copy, no sandbox, no limits."""

import subprocess
from pathlib import Path

from bench.measure import Measurement
from bench.ours.verify import COMMANDS, measure, repository


def run(size: int, home: Path) -> list[Measurement]:
    place = repository(home)

    def prove(activity: str) -> None:
        subprocess.run(COMMANDS[activity], cwd=place, check=True, capture_output=True)

    return measure(prove, size)
