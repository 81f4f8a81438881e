"""The files of a worktree, for a specialist: no path leads out of it, and none into `.git`.

Each part of a path is opened relative to its parent and links are not followed, so changes by
others cannot redirect an access.
"""

import os
import stat
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import PurePosixPath
from typing import Final

from remit.errors import BadInput, Conflict, NotFound
from remit.system.files import READ, explained, open_below, replace_in, walk_below

MAX_FILE_BYTES: Final = 2_000_000  # of one file
MAX_NAMES: Final = 2_000  # in one listing
_MAX_DEPTH: Final = 40


class WorkspaceFiles:
    def __init__(self, root: str) -> None:
        self._root = root

    def names(self, below: str = "") -> list[str]:
        """The paths of all files, sorted; the last entry says if there are more."""
        parts = self.parts(below) if below.strip("./") else []
        above = f"{below.strip('/')}/".lstrip("/")
        with _explained(below), open_below(self._root, parts) as folder:
            walk = walk_below(folder, ".git".__eq__, _MAX_DEPTH - 1, above)
            found = [path for path, _ in islice(walk, MAX_NAMES + 1)]
        if len(found) > MAX_NAMES:
            found[-1] = f"… and more; name a folder to see less than {MAX_NAMES}"
        return found

    def read(self, path: str) -> str:
        with _explained(path), open_below(self._root, self.parts(path), READ) as opened:
            _check_size(opened, path)
            with os.fdopen(opened, "rb", closefd=False) as file:
                return _text(file.read(MAX_FILE_BYTES), path)

    def write(self, path: str, text: str) -> int:
        """Write a whole file atomically; return its size in bytes."""
        *folders, name = self.parts(path)
        content = text.encode("utf-8", "surrogatepass")
        if len(content) > MAX_FILE_BYTES:
            sentence = f"{path!r:.80} would have {len(content)} bytes; {MAX_FILE_BYTES} may be."
            raise BadInput(sentence)
        with _explained(path), open_below(self._root, folders, make=0o777) as folder:
            mode = _mode(folder, name, path)
            try:
                replace_in(folder, name, content, mode)
            except OSError as error:
                raise Conflict(f"{name!r:.80} cannot be written: {error.strerror}.") from None
        return len(content)

    def delete(self, path: str) -> None:
        *folders, name = self.parts(path)
        with _explained(path), open_below(self._root, folders) as folder:
            _mode(folder, name, path)
            os.unlink(name, dir_fd=folder)

    def parts(self, path: str) -> list[str]:
        """Return the parts of a path, from the root of the folder."""
        place = PurePosixPath(path)
        if place.is_absolute():
            if not place.is_relative_to(self._root):
                raise BadInput(f"{path!r:.80} is not in the folder of this task.", field="path")
            place = place.relative_to(self._root)
        names = [name for name in place.parts if name != "."]
        bad = not names or len(names) > _MAX_DEPTH or "\0" in path or ".." in names
        if bad or any(name.casefold().rstrip(". ") == ".git" for name in names):
            raise BadInput(
                f"{path!r:.80} is no path of a file in this task's folder.", field="path"
            )
        return names


def _explained(path: str) -> AbstractContextManager[None]:
    return explained(path, NotFound("file", f"{path!r:.80}"))


def _check_size(opened: int, path: str) -> None:
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{path!r:.80} is no file.", field="path")
    if found.st_size > MAX_FILE_BYTES:
        raise BadInput(
            f"{path!r:.80} has {found.st_size} bytes; at most {MAX_FILE_BYTES} are read."
        )


def _text(content: bytes, path: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise BadInput(f"{path!r:.80} is not text.", field="path") from None


def _mode(folder: int, name: str, path: str) -> int:
    """Return a file's mode, so that a rewritten file keeps it."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return 0o644
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{path!r:.80} is there and is no file; take another name.", field="path")
    return stat.S_IMODE(found.st_mode) & 0o755
