"""Under libfaketime, sleep by select: libfaketime spoils the call that `time.sleep` makes.

On the path of Python processes only during `python -m tests.faked_clocks`.
"""

import select
import time
from typing import SupportsIndex


def _sleep(seconds: float | SupportsIndex, /) -> None:
    seconds = float(seconds)
    if seconds < 0:
        message = "sleep length must be non-negative"
        raise ValueError(message)
    select.select([], [], [], seconds)


time.sleep = _sleep
