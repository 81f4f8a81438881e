"""Looks for keys in every home it can think of."""

# ruff: noqa: T201 - a hostile script, for the sandbox alone

import os
import pwd
import sys
from pathlib import Path

homes = {Path("~").expanduser(), Path("/root"), Path("/home"), Path("/var"), Path("/mnt")}
for each in pwd.getpwall() if Path("/etc/passwd").exists() else ():
    homes.add(Path(each.pw_dir))
for home in homes:
    for folder, below, names in os.walk(home):
        if Path(sys.prefix).is_relative_to(folder):
            below[:] = [
                name for name in below if not (Path(folder) / name / "bin/python3").exists()
            ]
        for name in names:
            path = Path(folder) / name
            try:
                if path.stat().st_size < 100_000:
                    print(path, path.read_text("utf-8", "replace"))
            except OSError as error:
                print(path, error.strerror)
print("TRIED")
