"""Copies the workspace for the sandbox, with the files that judge it restored.

In a git repository these are the tracked and trackable files; ignored files stay out, and with them
keys and caches. Installed folders (`.venv`, `node_modules`) are mounted read-only instead.
"""

import io
import os
import stat
import tarfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from remit.errors import BadInput
from remit.verify import repository
from remit.verify.limits import MB

INSTALLED: Final = (".venv", "venv", "node_modules", "vendor/bundle")
_NEVER: Final = frozenset({".git", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
_KEPT: Final = 0o755  # no setuid, nothing that only the owner may read


def pack(
    workspace: Path, into: BinaryIO, *, instead: Mapping[str, bytes | None], room: int
) -> None:
    """Write the workspace as an archive.

    `instead` holds files with other content, or None for removed ones; `room` is the limit in MB.
    """
    left = room * MB
    with tarfile.open(fileobj=into, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted({*names(workspace), *instead}):
            if name in instead:
                left -= _add(archive, name, instead[name])
            else:
                left -= _copy(archive, workspace, name)
            if left < 0:
                raise BadInput(
                    f"{workspace} has more than the {room:,} MB of files that a check may have. "
                    "Ignore what is not needed, in .gitignore."
                )


def names(workspace: Path) -> Collection[str]:
    """Return the files to copy, relative to the workspace."""
    every = repository.files(workspace) if repository.is_one(workspace) else _walked(workspace)
    return [name for name in every if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    parts = Path(name).parts
    return ".git" in parts or any(name.startswith(f"{folder}/") for folder in INSTALLED)


def _walked(workspace: Path) -> Iterator[str]:
    for folder, below, found in os.walk(workspace):
        at = Path(folder)
        below[:] = [name for name in below if name not in {*_NEVER, *INSTALLED}]
        links = [name for name in below if (at / name).is_symlink()]
        for name in (*found, *links):
            yield (at / name).relative_to(workspace).as_posix()


def _add(archive: tarfile.TarFile, name: str, content: bytes | None) -> int:
    if content is None:
        return 0
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o755 if content.startswith(b"#!") else 0o644
    archive.addfile(entry, io.BytesIO(content))
    return len(content)


def _copy(archive: tarfile.TarFile, workspace: Path, name: str) -> int:
    """Add a file with its content, or a link as a link; others are left out."""
    path, entry = workspace / name, tarfile.TarInfo(name)
    try:
        # A folder on the path may have become a link since git listed it; then it is outside.
        handle = _open_within(workspace, name)
    except PermissionError:
        raise  # an unreadable test would be a test that does not run
    except OSError:
        if path.is_symlink():
            entry.type, entry.linkname = tarfile.SYMTYPE, str(path.readlink())
            archive.addfile(entry)
        return 0
    with os.fdopen(handle, "rb") as file:
        seen = os.fstat(handle)
        if not stat.S_ISREG(seen.st_mode):
            return 0
        entry.size, entry.mode = seen.st_size, 0o644 | (seen.st_mode & _KEPT)
        entry.mtime = seen.st_mtime
        archive.addfile(entry, file)
    return seen.st_size


def _open_within(workspace: Path, name: str) -> int:
    """Open a file without following any link on the path."""
    *folders, last = Path(name).parts
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    at = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            below = os.open(folder, flags | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = below
        return os.open(last, flags, dir_fd=at)
    finally:
        os.close(at)
