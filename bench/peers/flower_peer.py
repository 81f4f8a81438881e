"""Flower, Celery's dashboard: the same list of as many tasks, held in its own memory.

It is told of the tasks by Celery's events, as by a worker; the broker is Celery's own in memory.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

from bench import browser as windows
from bench.measure import Measurement
from bench.ours.dashboard import LOADS, weighed

ROW: Final = "#tasks-table tbody tr:has(a)"
_HOST: Final = "127.0.0.1"


def run(size: int, _home: Path) -> list[Measurement]:
    """What its list of so many tasks weighs, and when it is there."""
    command = [sys.executable, "-m", "bench.peers.flower_server", str(size)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            port = json.loads(serving.stdout.readline())
            with windows.browsing() as browser:
                url = f"http://{_HOST}:{port}/tasks"
                looks = [windows.look(browser, url, ROW) for _ in range(LOADS + 1)]
            return weighed(looks[1:])
        finally:
            serving.terminate()
