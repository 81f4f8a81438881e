"""Hides abstract Unix sockets of this machine from a program that may use the network.

Such sockets have no file: a program that shares the network can reach them, whatever else a sandbox
blocks. A session bus or a display may listen on one. Linux 6.12 and newer can hide them with
Landlock; for that this file runs as a script and replaces itself with the given program:

    python -I -S abstract_sockets.py /usr/bin/bwrap …
"""

import ctypes
import os
import stat
import sys
from pathlib import Path
from typing import Final

# The same on every architecture that Python runs on.
_CREATE_RULESET: Final = 444
_RESTRICT_SELF: Final = 446
_ASK_VERSION: Final = 1
_FIRST_WITH_SCOPES: Final = 6
_ABSTRACT_SOCKETS: Final = 1
_NO_NEW_PRIVILEGES: Final = 38


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


def launcher(bwrap: Path) -> tuple[str, ...]:
    """Return the arguments before `bwrap` that hide the sockets; none if not supported."""
    return (sys.executable, "-I", "-S", __file__) if can_hide(bwrap) else ()


def can_hide(bwrap: Path) -> bool:
    """Whether the kernel can; a setuid `bwrap` would not start then."""
    return _version() >= _FIRST_WITH_SCOPES and not bwrap.stat().st_mode & stat.S_ISUID


def hide() -> None:
    """Hide abstract sockets of others from this process and its children."""
    libc = ctypes.CDLL(None, use_errno=True)
    rules = _Ruleset(0, 0, _ABSTRACT_SOCKETS)
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(rules), ctypes.sizeof(rules), 0)
    done = ruleset >= 0 and libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    if not done or libc.syscall(_RESTRICT_SELF, ruleset, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.close(ruleset)


def _version() -> int:
    """Return the kernel's Landlock version; below 1 there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    return int(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, 0, _ASK_VERSION))


def _main(words: list[str]) -> None:
    try:
        hide()
        os.execv(words[0], words)  # noqa: S606 - it is given whole, and nothing is looked up
    except OSError as error:
        sys.exit(f"The sandbox could not hide this machine's sockets: {error.strerror}.")


if __name__ == "__main__":
    _main(sys.argv[1:])
