"""Files that are replaced atomically and changed by one program at a time."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

PRIVATE: Final = 0o600


def write_atomic(
    path: Path, content: str | bytes, *, mode: int | None = None, durable: bool = True
) -> None:
    """Replace a file atomically: a reader sees the old or the new content, never a part.

    Without a mode the new file keeps the old one's, or gets 0600. A link is replaced, not followed.
    `durable` writes through to the disk; leave it out for files that can be rebuilt from the
    database.
    """
    if mode is None:
        mode = path.stat().st_mode & 0o777 if path.exists() else PRIVATE
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            os.fchmod(file.fileno(), mode)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise
    if durable:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename within this folder durable."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder while a file in it is read and written back; others wait.

    Every program of ours that changes a file the owner may edit holds this lock, so that no change
    is lost. Do not wait for a person or lock again while holding it.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)
