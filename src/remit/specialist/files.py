"""File access limited to a worktree: no path leads out of it or into `.git`.

Each part of a path is opened relative to its parent and links are not followed, so changes by
others cannot redirect an access.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import PurePosixPath
from typing import Final

from remit.errors import BadInput, Conflict, NotFound

MOST_BYTES: Final = 2_000_000  # of one file
MOST_NAMES: Final = 2_000  # in one listing
_MOST_DEPTH: Final = 40
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_HALF: Final = ".remit-half-written"


class WorkspaceFiles:
    def __init__(self, root: str) -> None:
        self._root = root

    def names(self, below: str = "") -> list[str]:
        """Return the paths of all files, sorted; the last entry says if there are more."""
        found: list[str] = []
        with ExitStack() as stack:
            folder = self._folder(stack, self.parts(below) if below.strip("./") else [])
            for path in _walk(folder, f"{below.strip('/')}/".lstrip("/"), 0):
                if len(found) == MOST_NAMES:
                    return [*found, f"… and more; name a folder to see less than {MOST_NAMES}"]
                found.append(path)
        return found

    def read(self, path: str) -> str:
        *folders, name = self.parts(path)
        with ExitStack() as stack:
            folder = self._folder(stack, folders)
            opened = _opened(name, _READ, folder, path)
            stack.callback(os.close, opened)
            _check_size(opened, path)
            with os.fdopen(opened, "rb", closefd=False) as file:
                return _text(file.read(MOST_BYTES), path)

    def write(self, path: str, text: str) -> int:
        """Write a whole file atomically; return its size in bytes."""
        *folders, name = self.parts(path)
        content = text.encode("utf-8", "surrogatepass")
        if len(content) > MOST_BYTES:
            raise BadInput(f"{path!r:.80} would have {len(content)} bytes; {MOST_BYTES} may be.")
        with ExitStack() as stack:
            folder = self._folder(stack, folders, make=True)
            _replace(folder, name, content, _mode(folder, name, path))
        return len(content)

    def delete(self, path: str) -> None:
        *folders, name = self.parts(path)
        with ExitStack() as stack:
            folder = self._folder(stack, folders)
            _mode(folder, name, path)
            try:
                os.unlink(name, dir_fd=folder)
            except FileNotFoundError:
                raise NotFound("file", path) from None

    def parts(self, path: str) -> list[str]:
        """Return the parts of a path, from the root of the folder."""
        place = PurePosixPath(path)
        if place.is_absolute():
            if not place.is_relative_to(self._root):
                raise BadInput(f"{path!r:.80} is not in the folder of this task.", field="path")
            place = place.relative_to(self._root)
        names = [name for name in place.parts if name != "."]
        bad = not names or len(names) > _MOST_DEPTH or "\0" in path or ".." in names
        if bad or any(name.casefold().rstrip(". ") == ".git" for name in names):
            raise BadInput(
                f"{path!r:.80} is no path of a file in this task's folder.", field="path"
            )
        return names

    def _folder(self, stack: ExitStack, names: list[str], *, make: bool = False) -> int:
        folder = os.open(self._root, _FOLDER)
        stack.callback(os.close, folder)
        for name in names:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)
            folder = _opened(name, _FOLDER, folder, "/".join(names))
            stack.callback(os.close, folder)
        return folder


def _opened(name: str, flags: int, folder: int, path: str) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        raise NotFound("file", f"{path!r:.80}") from None
    except OSError as error:
        # ELOOP and ENOTDIR: a link, or a file where a folder should be.
        raise BadInput(f"{path!r:.80} cannot be opened: {error.strerror}.", field="path") from None


def _check_size(opened: int, path: str) -> None:
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{path!r:.80} is no file.", field="path")
    if found.st_size > MOST_BYTES:
        raise BadInput(f"{path!r:.80} has {found.st_size} bytes; at most {MOST_BYTES} are read.")


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


def _replace(folder: int, name: str, content: bytes, mode: int) -> None:
    try:
        with suppress(FileNotFoundError):
            os.unlink(_HALF, dir_fd=folder)
        with os.fdopen(os.open(_HALF, _WRITE, 0o600, dir_fd=folder), "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)
        os.rename(_HALF, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        raise Conflict(f"{name!r:.80} cannot be written: {error.strerror}.") from None


def _walk(folder: int, above: str, depth: int) -> Iterator[str]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name == ".git" or depth >= _MOST_DEPTH:
            continue
        if entry.is_dir(follow_symlinks=False):
            with suppress(OSError), ExitStack() as stack:
                inner = os.open(entry.name, _FOLDER, dir_fd=folder)
                stack.callback(os.close, inner)
                yield from _walk(inner, f"{above}{entry.name}/", depth + 1)
        elif entry.is_file(follow_symlinks=False):
            yield f"{above}{entry.name}"
