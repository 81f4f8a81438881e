"""The child: runs one measurement in a fresh process and leaves its figures in a file."""

import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.measure import Measurement

Run = Callable[[int, Path], Measurement | Sequence[Measurement]]


def main(target: str, size: str, home: str, report: str) -> None:
    """Run the target inside `home`; write its measurements, or what went wrong, to `report`."""
    try:
        measurements = _run_target(target, int(size), Path(home))
    except Exception as error:  # noqa: BLE001 - whatever a peer raises becomes its row
        traceback.print_exc()
        Path(report).write_text(json.dumps({"error": _name_error(error)}))
        sys.stderr.flush()
        # A peer's threads would keep the process alive; there is nothing left to wait for.
        os._exit(1)
    content = {"measurements": [asdict(measurement) for measurement in measurements]}
    Path(report).write_text(json.dumps(content))


def _run_target(target: str, size: int, home: Path) -> list[Measurement]:
    module, _, function = target.partition(":")
    run: Run = getattr(importlib.import_module(module), function)
    outcome = run(size, home)
    return [outcome] if isinstance(outcome, Measurement) else list(outcome)


def _name_error(error: Exception) -> str:
    # Its kind only: an error's text may hold a path, and this goes into the results.
    if isinstance(error, ModuleNotFoundError):
        return f"{error.name} is not installed"
    return type(error).__name__


if __name__ == "__main__":
    main(*sys.argv[1:])
