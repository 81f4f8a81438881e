"""The report: the best of the rounds, its spread, and the ratios; as tables and as JSON."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from bench.catalog import TABLES, Subject
from bench.measure import Measurement
from bench.rounds import Attempt, Failure

WIDTH = 132


@dataclass(frozen=True, slots=True)
class Line:
    """A subject's metric over all rounds; the best round speaks for it."""

    subject: Subject
    metric: str
    rounds: tuple[Measurement, ...]

    @property
    def best(self) -> Measurement:
        """The best round: a busy machine only ever makes a figure worse."""
        choose = max if self.rounds[0].better == "more" else min
        return choose(self.rounds, key=lambda measurement: measurement.value)

    @property
    def lowest(self) -> float:
        return min(measurement.value for measurement in self.rounds)

    @property
    def highest(self) -> float:
        return max(measurement.value for measurement in self.rounds)


def gather_lines(attempts: Sequence[Attempt]) -> list[Line]:
    """The attempts as lines, in the order of the catalogue's tables and of first appearance."""
    found: dict[tuple[str, str], list[Measurement]] = {}
    subjects = {attempt.subject.name: attempt.subject for attempt in attempts}
    for attempt in attempts:
        if isinstance(attempt.outcome, Failure):
            continue
        for measurement in attempt.outcome:
            found.setdefault((attempt.subject.name, measurement.name), []).append(measurement)
    lines = [
        Line(subjects[name], metric, tuple(rounds)) for (name, metric), rounds in found.items()
    ]
    order = list(TABLES)
    return sorted(lines, key=lambda line: order.index(line.subject.table))


def find_rival(line: Line, lines: Sequence[Line], role: str) -> Line | None:
    """The line of the same table and metric that plays `role` (ours, or the limit)."""
    for other in lines:
        same = (other.subject.table, other.metric) == (line.subject.table, line.metric)
        if same and other.subject.role == role:
            return other
    return None


def compare_lines(line: Line | None, other: Line | None) -> float | None:
    """How many times better `line` is than `other`, by their best rounds."""
    if line is None or other is None or line is other:
        return None
    mine, theirs = line.best.value, other.best.value
    above, below = (mine, theirs) if line.best.better == "more" else (theirs, mine)
    return above / below if below else None


def print_report(console: Console, attempts: Sequence[Attempt]) -> None:
    """Print a table for each part that has figures, then who is missing and why."""
    lines = gather_lines(attempts)
    for table, title in TABLES.items():
        part = [line for line in lines if line.subject.table == table]
        if part:
            console.print(_draw_table(title, part))
    for attempt in attempts:
        if isinstance(attempt.outcome, Failure):
            name = f"{attempt.subject.table}: {attempt.subject.title}"
            console.print(f"{name}: {attempt.outcome.reason}", markup=False, highlight=False)


def _draw_table(title: str, lines: Sequence[Line]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    table.add_column("subject", no_wrap=True)
    for heading in ("metric", "best", "min..max", "CPU ms", "peak MB", "x limit", "remit is"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(*_draw_cells(line, lines))
    return table


def _draw_cells(line: Line, lines: Sequence[Line]) -> list[str]:
    best = line.best
    limit = compare_lines(line, find_rival(line, lines, "limit"))
    ours = compare_lines(find_rival(line, lines, "ours"), line)
    return [
        line.subject.title,
        f"{line.metric}, {best.unit}",
        _round_off(best.value),
        f"{_round_off(line.lowest)}..{_round_off(line.highest)}",
        _round_off(best.cpu_seconds * 1000 / best.count),
        f"{best.rss_bytes / 2**20:.0f}",
        "" if limit is None else f"{limit:.3f}",
        "" if ours is None else f"{ours:.2f} x",
    ]


def _round_off(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def write_results(
    path: Path,
    machine: dict[str, object],
    settings: dict[str, object],
    attempts: Sequence[Attempt],
) -> None:
    """Write everything a later reader needs to draw the tables again."""
    lines = gather_lines(attempts)
    missing = {
        attempt.subject.name: attempt.outcome.reason
        for attempt in attempts
        if isinstance(attempt.outcome, Failure)
    }
    content = {
        "machine": machine,
        "settings": settings,
        "results": [_describe_line(line, lines) for line in lines],
        "missing": missing,
    }
    path.write_text(json.dumps(content, indent=2) + "\n")


def _describe_line(line: Line, lines: Sequence[Line]) -> dict[str, object]:
    best = line.best
    limit = compare_lines(line, find_rival(line, lines, "limit"))
    ours = compare_lines(find_rival(line, lines, "ours"), line)
    return {
        "table": line.subject.table,
        "subject": line.subject.name,
        "title": line.subject.title,
        "role": line.subject.role,
        "metric": line.metric,
        "unit": best.unit,
        "better": best.better,
        "count": best.count,
        "best": round(best.value, 3),
        "rounds": [round(measurement.value, 3) for measurement in line.rounds],
        "cpu_ms_each": round(best.cpu_seconds * 1000 / best.count, 4),
        "peak_mb": round(best.rss_bytes / 2**20, 1),
        "times_limit": None if limit is None else round(limit, 4),
        "remit_times": None if ours is None else round(ours, 3),
        "facts": dict(best.facts),
    }
