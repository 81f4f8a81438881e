"""Writes beside and above the workspace, by every spelling."""

# ruff: noqa: PTH208, T201 - a hostile script, for the sandbox alone

import os
from pathlib import Path

here = Path.cwd()
for place in ("../escaped", "../../escaped", f"{here}/../escaped", "/proc/self/cwd/../escaped"):
    try:
        Path(place).write_text("ESCAPED")
        print("WROTE", place)
    except OSError as error:
        print(place, error.strerror)
for place in ("/proc/1/root/escaped", "/proc/1/cwd/escaped", "/usr/escaped", "/etc/escaped"):
    try:
        Path(place).write_text("ESCAPED")
        print("WROTE", place)
    except OSError as error:
        print(place, error.strerror)
print(sorted(os.listdir("/")))
print("TRIED")
