"""Forks until it cannot, and in every child again; were there no wall, it would end at 800."""

# ruff: noqa: T201 - a hostile script, for the sandbox alone

import contextlib
import os
import time

made = 0
with contextlib.suppress(OSError):
    while made < 200:
        if os.fork() == 0:
            with contextlib.suppress(OSError):
                for _ in range(2):
                    os.fork()
            time.sleep(600)
        made += 1
print("STOPPED", made)
print("TRIED", flush=True)
