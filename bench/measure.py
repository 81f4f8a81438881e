"""The toolkit of a measurement: a stopwatch, the memory held, percentiles, proof of durability."""

import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TypeAlias

Fact: TypeAlias = str | int | float
Better: TypeAlias = Literal["more", "less"]

FULL = 2
# Run before the stopwatch by each peer that finds its queue, imports or threads only when used.
WARM_UP = 20
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


class NotDurable(Exception):
    """A connection would lose commits in a power cut, so its speed may not be compared."""

    def __init__(self, journal_mode: str, synchronous: int) -> None:
        super().__init__(
            f"The connection has journal_mode={journal_mode} and synchronous={synchronous}; "
            f"a comparison needs journal_mode=wal and synchronous={FULL}."
        )


class Unfinished(Exception):
    """Not every task reached its end, so the time taken means nothing."""

    def __init__(self, what: str, found: int, wanted: int) -> None:
        super().__init__(f"{what}: {found} found, {wanted} wanted.")


@dataclass(frozen=True, slots=True)
class Measurement:
    """One figure and what it cost; `name` is the metric, compared across subjects of a table."""

    name: str
    value: float
    unit: str
    count: int
    wall_seconds: float
    cpu_seconds: float
    rss_bytes: int
    better: Better = "more"
    facts: Mapping[str, Fact] = field(default_factory=dict)


class Stopwatch:
    """Adds up wall and CPU time (own and children's) over the `with` blocks it is used for."""

    def __init__(self) -> None:
        self.wall_seconds = 0.0
        self.cpu_seconds = 0.0
        self._wall_started = 0.0
        self._cpu_started = 0.0

    def __enter__(self) -> Self:
        self._cpu_started = read_cpu_seconds()
        self._wall_started = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.wall_seconds += time.perf_counter() - self._wall_started
        self.cpu_seconds += read_cpu_seconds() - self._cpu_started

    def rate(self, count: int, facts: Mapping[str, Fact]) -> Measurement:
        """The usual figure: how many tasks went through in a second."""
        return Measurement(
            name="throughput",
            value=count / self.wall_seconds,
            unit="tasks/s",
            count=count,
            wall_seconds=self.wall_seconds,
            cpu_seconds=self.cpu_seconds,
            rss_bytes=read_peak_bytes(),
            facts=facts,
        )


def read_cpu_seconds() -> float:
    """CPU time of this process and of its ended children, user and system."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def read_peak_bytes() -> int:
    """The most memory this process has held at once."""
    # ru_maxrss outlives exec on Linux and so would count the parent; VmHWM begins anew.
    peak = _read_status_bytes("VmHWM")
    if peak is not None:
        return peak
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_UNIT


def read_resident_bytes() -> int:
    """The memory this process holds now (the peak, where the system does not tell)."""
    resident = _read_status_bytes("VmRSS")
    return read_peak_bytes() if resident is None else resident


def _read_status_bytes(label: str) -> int | None:
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    for line in status.read_text().splitlines():
        if line.startswith(f"{label}:"):
            return int(line.split()[1]) * 1024
    return None


def take_percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` of all values do not exceed (nearest rank)."""
    ordered = sorted(values)
    rank = math.ceil(percent / 100 * len(ordered))
    return ordered[max(rank, 1) - 1]


def time_calls(call: Callable[[], object], repeats: int) -> list[float]:
    """Milliseconds of each of `repeats` calls, one after the other."""
    spans: list[float] = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        spans.append((time.perf_counter() - started) * 1000)
    return spans


def time_command(name: str, command: Sequence[str], repeats: int) -> Measurement:
    """CPU milliseconds of a command run in a fresh process; the first run only warms caches."""
    subprocess.run(command, check=True, capture_output=True)
    spans: list[float] = []
    watch = Stopwatch()
    for _ in range(repeats):
        before = watch.cpu_seconds
        with watch:
            subprocess.run(command, check=True, capture_output=True)
        spans.append((watch.cpu_seconds - before) * 1000)
    return Measurement(
        name=name,
        value=take_percentile(spans, 50),
        unit="CPU ms",
        count=repeats,
        wall_seconds=watch.wall_seconds,
        cpu_seconds=watch.cpu_seconds,
        rss_bytes=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * MAXRSS_UNIT,
        better="less",
    )


def require_durable(journal_mode: object, synchronous: object) -> dict[str, Fact]:
    """Refuse a connection that is not WAL and FULL; otherwise the facts to print beside it."""
    mode, level = str(journal_mode).lower(), int(str(synchronous))
    if (mode, level) != ("wal", FULL):
        raise NotDurable(mode, level)
    return {"journal_mode": mode, "synchronous": level}


def require_count(what: str, found: int, wanted: int) -> None:
    """Refuse a run in which work is missing or was done twice."""
    if found != wanted:
        raise Unfinished(what, found, wanted)


def wait_for_count(what: str, count: Callable[[], int], wanted: int, seconds: float) -> None:
    """Look every 10 ms until `count` says `wanted`; give up after `seconds`."""
    deadline = time.monotonic() + seconds
    while (found := count()) < wanted:
        if time.monotonic() > deadline:
            raise Unfinished(what, found, wanted)
        time.sleep(0.01)
