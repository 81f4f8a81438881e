"""Start-up: the CPU time of a fresh interpreter that imports a peer and does nothing else."""

import sys
from pathlib import Path

from bench.measure import Measurement, time_command


def run_python(size: int, _home: Path) -> Measurement:
    """The floor: the interpreter itself."""
    return _time_statement("pass", size)


def run_huey(size: int, _home: Path) -> Measurement:
    return _time_statement("import huey", size)


def run_dbos(size: int, _home: Path) -> Measurement:
    return _time_statement("import dbos", size)


def run_langgraph(size: int, _home: Path) -> Measurement:
    return _time_statement("import langgraph.graph, langgraph.checkpoint.sqlite.aio", size)


def _time_statement(statement: str, repeats: int) -> Measurement:
    return time_command("import", [sys.executable, "-c", statement], repeats)
