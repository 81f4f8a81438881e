"""Writes ten gigabytes, into one file and then into many, in every place."""

# ruff: noqa: S108, T201 - a hostile script, for the sandbox alone

import os
import signal
from pathlib import Path

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
PIECE = b"x" * 1_000_000
total = 0


def fill(path: Path) -> int:
    written = 0
    try:
        with path.open("wb") as file:
            for _ in range(10_000):
                written += file.write(PIECE)
                file.flush()
    except OSError as error:
        print(path, written, error.strerror)
    return written


for place in (".", "/tmp", "/dev/shm", "/dev", "/", "/usr", "/proc", "/var", "/run"):
    for number in range(40):
        total += fill(Path(place) / f"fills-{number}")
try:
    os.truncate("fills-0", 10_000_000_000)
except OSError as error:
    print("truncate", error.strerror)
print("TOTAL", total)
print("TRIED")
