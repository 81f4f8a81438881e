"""The signals that stop `remit up`, `serve` and `worker`."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from typing import Final

from remit.cli import codes, out

MAX_PARTING_SECONDS: Final = 20.0  # for everything after the steps


class StopSignals:
    """The first signal stops in good order, the second at once; the next start recovers.

    If a thread, a follower or a server does not end in time, the process is ended.
    """

    def __init__(self, step_seconds: Callable[[], float]) -> None:
        """`step_seconds` is how long the steps that run may go on."""
        self._step_seconds = step_seconds
        self._last_moment: threading.Timer | None = None
        self.stopping = asyncio.Event()

    def listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._on_signal)
            # Called even if the event loop is busy; the line above still takes effect, too.
            signal.signal(number, self._limit_stop)

    def _on_signal(self) -> None:
        if self.stopping.is_set():
            os._exit(codes.INTERRUPTED)
        self.stopping.set()
        out.hint("Stopping; steps that run may end first. Once more stops at once.")

    def _limit_stop(self, *_: object) -> None:
        if self._last_moment is None:
            seconds = self._step_seconds() + MAX_PARTING_SECONDS
            self._last_moment = threading.Timer(seconds, os._exit, (codes.INTERRUPTED,))
            self._last_moment.daemon = True
            self._last_moment.start()
