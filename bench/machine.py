"""The machine: a scratch place on a real disk, and facts to read the figures by. No names."""

import os
import platform
import sqlite3
import tempfile
import time
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bench.measure import Fact, take_percentile

IN_MEMORY = {"tmpfs", "ramfs", "devtmpfs"}
BLOCK = b"\0" * 4096


class NoRealDisk(Exception):
    """Every candidate for the scratch place is held in memory, where fsync costs nothing."""

    def __init__(self) -> None:
        super().__init__(
            "Every temporary place found is held in memory, where fsync costs nothing; "
            "set TMPDIR to a directory on a disk."
        )


def find_scratch() -> Path:
    """The first temporary place that is on a real disk."""
    for place in (Path(tempfile.gettempdir()), Path("/var/tmp"), Path.cwd()):  # noqa: S108
        if place.is_dir() and os.access(place, os.W_OK) and read_filesystem(place) not in IN_MEMORY:
            return place
    raise NoRealDisk


def read_filesystem(place: Path) -> str:
    """The type of the file system that holds `place`, such as ext4."""
    resolved = place.resolve()
    best = ("", "unknown")
    mounts = Path("/proc/mounts")
    for line in mounts.read_text().splitlines() if mounts.exists() else ():
        _, mountpoint, kind, *_ = line.split()
        # The deepest mount wins; among equals the later one, which hides the earlier.
        if resolved.is_relative_to(mountpoint) and len(mountpoint) >= len(best[0]):
            best = (mountpoint, kind)
    return best[1]


def describe_machine(scratch: Path, packages: Iterable[str]) -> dict[str, object]:
    """Cores, memory, versions and the price of an fsync; neither hosts nor paths."""
    fsyncs = time_fsyncs(scratch)
    return {
        "day": time.strftime("%Y-%m-%d", time.gmtime()),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count() or 0,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_1m": round(os.getloadavg()[0], 2),
        "filesystem": read_filesystem(scratch),
        "fsync_us_p50": round(take_percentile(fsyncs, 50), 1),
        "fsync_us_p95": round(take_percentile(fsyncs, 95), 1),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "packages": read_versions(packages),
    }


def time_fsyncs(place: Path, repeats: int = 200) -> list[float]:
    """Microseconds of each of `repeats` appends of a page made durable."""
    spans: list[float] = []
    with tempfile.TemporaryFile(dir=place, buffering=0) as file:
        for _ in range(repeats):
            file.write(BLOCK)
            started = time.perf_counter()
            os.fsync(file.fileno())
            spans.append((time.perf_counter() - started) * 1_000_000)
    return spans


def read_versions(packages: Iterable[str]) -> dict[str, Fact]:
    """The installed version of each package, or that it is missing."""
    found: dict[str, Fact] = {}
    for package in sorted(set(packages)):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
