"""What the dashboard may cost at most: no rival, a promise."""

from pathlib import Path
from typing import Final

from bench.measure import Measurement
from bench.ours.dashboard import figure

_BUDGET: Final = {
    "own JavaScript, gzip": (25.0, "kB"),
    "first paint, p50": (300.0, "ms"),
    "event to DOM, p95": (250.0, "ms"),
}


def run(_size: int, _home: Path) -> list[Measurement]:
    return [figure(name, most, unit, 1) for name, (most, unit) in _BUDGET.items()]
