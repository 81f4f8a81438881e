"""Run tests at hours where clocks are tricky: `python -m tests.faked_clocks [pytest arguments]`.

libfaketime (a Debian package) moves the clock of the tests and of every program they start. Each
test begins a few seconds before one of the moments below, so that midnight, the new year, the end
of February or a change of summer time passes while it runs.
"""

import ctypes
import os
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

LIBRARIES: Final = "usr/lib/**/faketime/libfaketimeMT.so.1"
MISSING: Final = (
    "The tests were not run under faked clocks, because libfaketime is missing. "
    "Install it with: apt-get install libfaketime"
)
VARIABLES: Final = (
    *("LD_PRELOAD", "FAKETIME", "FAKETIME_DONT_FAKE_MONOTONIC", "FAKETIME_NO_CACHE"),
    *("FAKETIME_SHARED", "PYTHONPATH"),
)
# Folder -> why it cannot run under a faked clock. Postgres and Radicale can.
_LEFT_OUT: Final = {
    "browser": "Chromium shows no page under libfaketime: its zygote process gives no answer.",
    "machines": "Temporal's server is linked statically: libfaketime cannot reach its clock.",
}
SECONDS_BEFORE: Final = (0.2, 1.0, 2.0, 4.0)

SHARED_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - where libfaketime looks for it
PLACES: Final = 2**30
# Two counters, and four clocks whose start is not known yet.
_NOT_STARTED: Final = struct.pack("=10q", 0, 0, *(0, -1) * 4)

# Name -> the zone of the machine, and the moments (UTC) that pass during a test. All lie ahead:
# a Postgres server under libfaketime is now and then told the real time, and if that is later than
# its own, every transaction that is idle for a moment is ended as if its time limit were over.
CLOCKS: Final = {
    "new-year": ("UTC", ("2028-01-01T00:00",)),
    # The hour from 2 to 3 comes twice, and not at all.
    "summer-time": ("Europe/Berlin", ("2027-10-31T00:30", "2027-10-31T01:00", "2028-03-26T01:00")),
    "leap-day": ("UTC", ("2028-02-29T00:00", "2028-02-29T12:00", "2028-03-01T00:00")),
}


def main(arguments: list[str]) -> int:
    """Run pytest under each clock, or the one that FAKED_CLOCK names; return the worst exit code.

    Without a path among the arguments, the whole suite is run, folder by folder.
    """
    library = next(Path("/").glob(LIBRARIES), None)
    if library is None:
        sys.stdout.write(f"{MISSING}\n")
        return 0
    given = any(Path(each.partition("::")[0]).exists() for each in arguments)
    only, codes = os.environ.get("FAKED_CLOCK"), dict[str, int]()
    for name in [only] if only else CLOCKS:
        for paths in [[]] if given else _folders():
            label = f"{paths[0] if len(paths) == 1 else 'tests'} at {name}"
            codes[label] = _run(name, library, [*arguments, *paths])
    failed = [label for label, code in codes.items() if code]
    for folder, why in ({} if given else _LEFT_OUT).items():
        sys.stdout.write(f"Left out: tests/{folder}. {why}\n")
    sys.stdout.write(f"Failed under a faked clock: {', '.join(failed) or 'nothing'}.\n")
    return max(codes.values())


def _folders() -> list[list[str]]:
    """The folders with tests, each alone, and the tests that lie beside them."""
    root = Path("tests")
    found = sorted(each for each in root.iterdir() if any(each.rglob("test_*.py")))
    beside = [str(each) for each in sorted(root.glob("test_*.py"))]
    return [*([str(each)] for each in found if each.name not in _LEFT_OUT), beside]


def _run(name: str, library: Path, arguments: list[str]) -> int:
    sys.stdout.write(f"With the clock at {name}: {' '.join(arguments)[:80]}\n")
    sys.stdout.flush()
    command = [sys.executable, "-m", "pytest", *arguments]
    with _wide_semaphore() as shared:
        environ = {
            **os.environ,
            "FAKED_CLOCK": name,
            "TZ": CLOCKS[name][0],
            "LD_PRELOAD": str(library),
            "FAKETIME": _offset(name, "start", 0.0),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",  # event loops and timeouts go by this clock
            "FAKETIME_NO_CACHE": "1",  # each test sets the clock anew
            "FAKETIME_SHARED": shared,
            "PYTHONPATH": str(Path(__file__).parent / "faked_sleep"),
        }
        return subprocess.run(command, env=environ, check=False).returncode


@contextmanager
def _wide_semaphore() -> Iterator[str]:
    """What libfaketime shares between all programs of a run: a semaphore, and when it began.

    Each program takes the semaphore for a moment when it starts. The one that libfaketime makes has
    a single place: after a program that was killed in this moment no other starts, and the tests
    hang (seen after 2,450 kills of programs that were starting). This one has places to spare.
    """
    name = f"faketime_{os.getpid()}_{time.monotonic_ns()}"
    paths = [SHARED_MEMORY / name, SHARED_MEMORY / f"sem.{name}"]
    paths[0].write_bytes(_NOT_STARTED)
    ctypes.CDLL(None).sem_open(f"/{name}".encode(), os.O_CREAT, 0o600, PLACES)
    try:
        for path in paths:
            path.chmod(0o666)  # Postgres runs as another user
        yield f"/{name} /{name}"
    finally:
        for path in paths:
            path.unlink()


def variables() -> tuple[str, ...]:
    """Return the variables a program needs to have the same clock: none, unless it is faked."""
    return VARIABLES if "FAKED_CLOCK" in os.environ else ()


def set_clock(test: str) -> None:
    """Set the clock of this process and its children to shortly before a moment."""
    name = os.environ.get("FAKED_CLOCK")
    if name is not None and "FAKETIME" in os.environ:
        os.environ["FAKETIME"] = _offset(name, test, float(os.environ["FAKETIME"]))


def _offset(name: str, test: str, current: float) -> str:
    """Return one moment for all tests of a process, because programs they share keep their clock.

    Alone (-n 0) it is the first; PYTEST_XDIST_WORKER=gw1 takes the second.
    """
    moments = CLOCKS[name][1]
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    chosen = moments[int(worker) % len(moments)]
    moment = datetime.fromisoformat(chosen).replace(tzinfo=UTC)
    before = SECONDS_BEFORE[zlib.crc32(test.encode()) % len(SECONDS_BEFORE)]
    return f"{current + moment.timestamp() - before - time.time():+.3f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
