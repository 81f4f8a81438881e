"""A place where a test can kill the process.

`REMIT_FAILPOINT=name:nth` kills this process with SIGKILL when the failpoint `name` is passed for
the nth time. Without the variable a failpoint costs one comparison. Every durable write passes
`<verb>:before` and `<verb>:after` (see `store.group_commit`); the courier adds its own.
"""

import os
import signal
from typing import Final

_ARMED: Final = os.environ.get("REMIT_FAILPOINT", "")
_NAME, _, _NTH = _ARMED.rpartition(":")
_left = int(_NTH) if _NAME else 0


def failpoint(name: str) -> None:
    """Kill the process here, if this is the armed failpoint and its count is reached."""
    global _left  # noqa: PLW0603 - one process, one armed failpoint
    if name != _NAME or not _NAME:
        return
    _left -= 1
    if _left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
