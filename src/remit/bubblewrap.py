"""Shared by all bubblewrap sandboxes: where the program is, and which system folders are shown."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

# Not by PATH: who may write a folder in it would be the sandbox.
PLACES: Final = (Path("/usr/bin"), Path("/bin"), Path("/usr/local/bin"))
_SYSTEM: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC: Final = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")


def find(name: str, places: Sequence[Path] = PLACES) -> Path | None:
    """A tool of the system."""
    return next((at / name for at in places if os.access(at / name, os.X_OK)), None)


def system() -> tuple[str, ...]:
    """The system, to be read: programs and libraries, and nothing that is about this machine."""
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
