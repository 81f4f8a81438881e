"""Shared by all bubblewrap sandboxes: where the program is, and which system folders are shown."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

# Not through PATH: anybody who can write to one of its folders could replace the sandbox.
PLACES: Final = (Path("/usr/bin"), Path("/bin"), Path("/usr/local/bin"))
_SYSTEM: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC: Final = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")


def find(name: str, places: Sequence[Path] = PLACES) -> Path | None:
    """Return a tool of the system."""
    return next((at / name for at in places if os.access(at / name, os.X_OK)), None)


def system() -> tuple[str, ...]:
    """Return the arguments for a read-only system, without anything about this machine."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            words += ["--ro-bind", name, name]
    for name in _ETC:
        words += ["--ro-bind-try", name, name]
    return tuple(words)


def is_root() -> bool:
    return os.geteuid() == 0
