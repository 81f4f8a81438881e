"""A folder for each task that no path can leave.

Each part of a path is opened relative to its parent, and links are not followed, so changes by
others cannot redirect an access. Only plain text is read and written.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from remit.errors import BadInput, Conflict
from remit.model.ids import TaskId, task_id

MOST_BYTES: Final = 1_000_000
MOST_BYTES_IN_ALL: Final = 20_000_000
MOST_FILES: Final = 200
MOST_DEPTH: Final = 8
_MOST_NAME: Final = 120
_MOST_PATH: Final = 500
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_HALF: Final = ".half-written"  # names may not begin with a dot, so no task can ask for it


class Workspace:
    """The files of one task."""

    def __init__(self, root: Path, task: TaskId) -> None:
        self._root = root
        self._task = task_id(task)

    def files(self) -> list[tuple[str, int]]:
        """Return every file with its size, sorted by path."""
        with ExitStack() as stack:
            return sorted(_walk(self._folder(stack), stack, "", 0))

    def read(self, path: str) -> str:
        *folders, name = parts(path)
        with ExitStack() as stack:
            return _text(_opened(name, _READ, self._folder(stack, folders), path), path)

    def write(self, path: str, text: str) -> int:
        """Write a whole file atomically; return its size in bytes."""
        *folders, name = parts(path)
        content = _content(text, path)
        with ExitStack() as stack:
            self._check_room(path, len(content))
            folder = self._folder(stack, folders, make=True)
            _check_target(folder, name, path)
            _replace(folder, name, content)
        return len(content)

    def _folder(
        self, stack: ExitStack, names: list[str] | None = None, *, make: bool = False
    ) -> int:
        """Open the innermost of some folders, one after the other."""
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder = _held(stack, os.open(self._root, _FOLDER))
        _made(folder, self._task)
        folder = _held(stack, _opened(self._task, _FOLDER, folder, self._task))
        for name in names or ():
            if make:
                _made(folder, name)
            folder = _held(stack, _opened(name, _FOLDER, folder, name))
        return folder

    def _check_room(self, path: str, size: int) -> None:
        others = [had for name, had in self.files() if name != "/".join(parts(path))]
        if len(others) >= MOST_FILES:
            raise Conflict(f"A task keeps at most {MOST_FILES} files; write into one of those.")
        if sum(others) + size > MOST_BYTES_IN_ALL:
            most = MOST_BYTES_IN_ALL // 1_000_000
            raise Conflict(f"A task keeps at most {most} MB of files; {path!r:.60} is too much.")


def parts(path: str) -> list[str]:
    """Return the parts of a path; one that could lead elsewhere is refused."""
    if path.startswith("/"):
        sentence = f"{path!r:.60} begins with a slash; paths begin in the task's own folder."
        raise BadInput(sentence, field="path")
    names = path.split("/")
    if len(path) > _MOST_PATH or len(names) > MOST_DEPTH:
        sentence = f"The path has more than {_MOST_PATH} characters, or {MOST_DEPTH} names."
        raise BadInput(sentence, field="path")
    for name in names:
        _check_name(name)
    return names


def _check_name(name: str) -> None:
    if not name or name.startswith(".") or name != name.strip():
        sentence = (
            f"{name!r:.60} is no name here: it may not be empty, begin with a dot, or have "
            "blanks at its ends."
        )
        raise BadInput(sentence, field="path")
    if not name.isprintable() or "\\" in name:
        raise BadInput(f"{name!r:.60} holds characters that no name may hold.", field="path")
    if len(name.encode()) > _MOST_NAME:
        raise BadInput(f"{name!r:.60} is longer than {_MOST_NAME} bytes.", field="path")


def _held(stack: ExitStack, opened: int) -> int:
    stack.callback(os.close, opened)
    return opened


def _made(folder: int, name: str) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=folder)
    except FileExistsError:
        return
    except OSError as error:
        raise Conflict(f"{name!r:.60} cannot be made: {error.strerror}.") from None


def _opened(name: str, flags: int, folder: int, path: str) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        raise BadInput(f"There is no file {path!r:.60}; list_files says which are.") from None
    except OSError as error:
        # A link, or a file where a folder should be.
        raise BadInput(f"{path!r:.60} cannot be opened: {error.strerror}.") from None


def _walk(folder: int, stack: ExitStack, before: str, depth: int) -> Iterator[tuple[str, int]]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False) and depth < MOST_DEPTH:
            inner = _held(stack, _opened(entry.name, _FOLDER, folder, entry.name))
            yield from _walk(inner, stack, f"{before}{entry.name}/", depth + 1)
        elif entry.is_file(follow_symlinks=False):
            size = os.stat(entry.name, dir_fd=folder, follow_symlinks=False).st_size
            yield f"{before}{entry.name}", size


def _text(opened: int, path: str) -> str:
    found = os.fstat(opened)
    # A hard link of a file may be anywhere.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(opened)
        raise BadInput(f"{path!r:.60} is no file of this task.")
    with os.fdopen(opened, "rb") as file:
        if found.st_size > MOST_BYTES:
            sentence = f"{path!r:.60} has {found.st_size} bytes; at most {MOST_BYTES} are read."
            raise BadInput(sentence)
        content = file.read(MOST_BYTES)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise BadInput(f"{path!r:.60} is not text in UTF-8; only such is read.")
    return text


def _content(text: str, path: str) -> bytes:
    try:
        content = text.encode()
    except UnicodeEncodeError:
        content = b"\0"
    if b"\0" in content:
        raise BadInput(f"What is to stand in {path!r:.60} is not text; only such is written.")
    if len(content) > MOST_BYTES:
        sentence = (
            f"{path!r:.60} would have {len(content)} bytes; at most {MOST_BYTES} are written."
        )
        raise BadInput(sentence)
    return content


def _check_target(folder: int, name: str, path: str) -> None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{path!r:.60} is there and is no file; take another name.")


def _replace(folder: int, name: str, content: bytes) -> None:
    """Write a temporary file and rename it, so that nobody reads half of it."""
    try:
        with suppress(FileNotFoundError):
            os.unlink(_HALF, dir_fd=folder)
        with os.fdopen(os.open(_HALF, _WRITE, 0o600, dir_fd=folder), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.rename(_HALF, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except OSError as error:
        raise Conflict(f"{name!r:.60} cannot be written: {error.strerror}.") from None
