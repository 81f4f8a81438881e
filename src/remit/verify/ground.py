"""Copies the workspace for the sandbox, with the files that judge it restored.

In a git repository these are the tracked and trackable files; ignored files stay out, and with them
keys and caches. Installed folders (`.venv`, `node_modules`) are mounted read-only instead.
"""

import io
import os
import stat
import tarfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final

from remit.errors import BadInput
from remit.system.files import READ, open_below
from remit.verify import repository
from remit.verify.limits import MB

INSTALLED: Final = (".venv", "venv", "node_modules", "vendor/bundle")
_NEVER: Final = frozenset({".git", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
_MODE_BITS: Final = 0o755  # no setuid, nothing that only an owner may read


def pack(
    workspace: Path, into: BinaryIO, *, instead: Mapping[str, bytes | None], room: int
) -> None:
    """Write the workspace as an archive.

    `instead` holds files with other content, or None for removed ones; `room` is the limit in MB.
    """
    left, workspace = room * MB, workspace.resolve()
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
    """The files that are laid in, relative to the workspace."""
    every = (
        repository.files(workspace) if repository.is_repository(workspace) else _walked(workspace)
    )
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
    with ExitStack() as stack:
        try:
            # A folder on the way may have become a link since git listed it; then it is outside.
            handle = stack.enter_context(open_below(workspace, Path(name).parts, READ))
        except PermissionError:
            raise  # a test that cannot be read would be a test that is not run
        except OSError:
            if path.is_symlink():
                entry.type, entry.linkname = tarfile.SYMTYPE, str(path.readlink())
                archive.addfile(entry)
            return 0
        file = stack.enter_context(os.fdopen(handle, "rb", closefd=False))
        seen = os.fstat(handle)
        if not stat.S_ISREG(seen.st_mode):
            return 0
        entry.size, entry.mode = seen.st_size, 0o644 | (seen.st_mode & _MODE_BITS)
        entry.mtime = seen.st_mtime
        archive.addfile(entry, file)
    return seen.st_size
