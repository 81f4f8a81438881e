"""Files: replaced atomically, changed by one program at a time, opened without following links."""

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

from remit.errors import BadInput, RemitError

PRIVATE: Final = 0o600
FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_HALF_WRITTEN: Final = ".remit-half-written"


def home_of(environ: Mapping[str, str]) -> Path:
    """Return the home directory: REMIT_HOME, or ~/.remit."""
    named = environ.get("REMIT_HOME")
    home = Path(named).expanduser().absolute() if named else Path.home() / ".remit"
    if home.is_file():
        raise BadInput(f"REMIT_HOME is {home}, which is a file; name a directory.")
    return home


FileStamp: TypeAlias = tuple[int, ...]


def file_stamp(path: Path) -> FileStamp | None:
    """Return what differs once a file was written anew; None if there is no such file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


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
    new = path.with_name(f".{path.name}.{os.urandom(8).hex()}.new")
    try:
        with os.fdopen(os.open(new, _NEW, PRIVATE), "wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            os.fchmod(file.fileno(), mode)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
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


def append_text(path: Path, text: str) -> None:
    """Add text at the end of a private file; a link is refused."""
    file, left = os.open(path, _APPEND, PRIVATE), memoryview(text.encode())
    try:
        while left:
            left = left[os.write(file, left) :]
    finally:
        os.close(file)


# Below a folder in which somebody else may write --------------------------------------------------


@contextmanager
def open_below(
    root: Path | str, names: Sequence[str], flags: int = FOLDER, *, make: int | None = None
) -> Iterator[int]:
    """Open a file or folder below a root, each name from the folder before it, following no link.

    So it does not matter who puts what there, or when. With `make`, folders that are missing are
    made with this mode.
    """
    with ExitStack() as stack:
        opened = os.open(root, FOLDER)
        stack.callback(os.close, opened)
        for n, name in enumerate(names, 1):
            if make is not None:
                with suppress(FileExistsError):
                    os.mkdir(name, make, dir_fd=opened)
            opened = os.open(name, flags if n == len(names) else FOLDER, dir_fd=opened)
            stack.callback(os.close, opened)
        yield opened


@contextmanager
def explained(path: str, missing: RemitError) -> Iterator[None]:
    """Turn what the system says about a path into a sentence; `missing` is for one not there."""
    try:
        yield
    except FileNotFoundError:
        raise missing from None
    except OSError as error:
        # ELOOP and ENOTDIR: a link, or a file where a folder should be.
        raise BadInput(f"{path!r:.80} cannot be opened: {error.strerror}.", field="path") from None


def replace_in(folder: int, name: str, content: bytes, mode: int = PRIVATE) -> None:
    """Replace a file of an open folder at one stroke, durably; a link is replaced, not followed."""
    with suppress(FileNotFoundError):
        os.unlink(_HALF_WRITTEN, dir_fd=folder)
    with os.fdopen(os.open(_HALF_WRITTEN, _NEW, PRIVATE, dir_fd=folder), "wb") as file:
        file.write(content)
        os.fchmod(file.fileno(), mode)
        file.flush()
        os.fsync(file.fileno())
    os.rename(_HALF_WRITTEN, name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)


def walk_below(
    folder: int, skip: Callable[[str], bool], max_depth: int, above: str = ""
) -> Iterator[tuple[str, int]]:
    """Every plain file below an open folder with its size, sorted; no link is followed."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if skip(entry.name):
            continue
        if entry.is_file(follow_symlinks=False):
            yield f"{above}{entry.name}", entry.stat(follow_symlinks=False).st_size
        elif entry.is_dir(follow_symlinks=False) and max_depth:
            with suppress(OSError), ExitStack() as stack:
                inner = os.open(entry.name, FOLDER, dir_fd=folder)
                stack.callback(os.close, inner)
                yield from walk_below(inner, skip, max_depth - 1, f"{above}{entry.name}/")


# In git's syntax for exclusions: at any depth, folders only.
UNTRACKED: Final = (
    ".venv/",
    "node_modules/",
    "__pycache__/",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".tox/",
    ".nox/",
)
