"""Leaves daemons behind: in a session of their own, deaf to signals, with the pipes still open."""

# ruff: noqa: S606, T201 - a hostile script, for the sandbox alone

import os
import signal
import sys
import time

for number in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for deaf in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(deaf, signal.SIG_IGN)
            if number:
                os.closerange(0, 100)
            os.execv(
                sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]]
            )
        os._exit(0)
time.sleep(0.2)
print("TRIED")
