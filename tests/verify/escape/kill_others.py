"""Ends every process it can name, the first one too."""

# ruff: noqa: T201 - a hostile script, for the sandbox alone

import contextlib
import os
import signal
import sys

print("TRIED", flush=True)
for pid in (int(sys.argv[1]), os.getppid(), 1, -1):
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        print("KILLED", pid, flush=True)
