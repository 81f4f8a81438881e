"""Copies the workspace for the sandbox, and finds the project's programs and what they need to run.

The files that judge the work are restored. In a git repository only tracked and trackable files are
copied; ignored files stay out, and with them keys and caches. Installed folders (`.venv`,
`node_modules`) and what a program needs outside the system are mounted read-only; never a home or a
folder above one.
"""

import io
import os
import pwd
import stat
import tarfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from remit.errors import BadInput
from remit.system.files import READ, open_below
from remit.verify import repository
from remit.verify.sandbox import HOME, MB, ReadOnlyFolder

INSTALLED: Final = (".venv", "venv", "node_modules", "vendor/bundle")
_NEVER: Final = frozenset({".git", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
_MODE_BITS: Final = 0o755  # no setuid, nothing that only an owner may read


def pack(workspace: Path, into: Path, *, instead: Mapping[str, bytes | None], room: int) -> None:
    """Write the workspace as an archive.

    `instead` holds files with other content, or None for removed ones; `room` is the limit in MB.
    """
    left, workspace = room * MB, workspace.resolve()
    with tarfile.open(into, mode="w", format=tarfile.PAX_FORMAT) as archive:
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
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return 0
        entry.size, entry.mode = status.st_size, 0o644 | (status.st_mode & _MODE_BITS)
        entry.mtime = status.st_mtime
        archive.addfile(entry, file)
    return status.st_size


_OWN: Final = (".venv/bin", "venv/bin", "node_modules/.bin")
_SYSTEM: Final = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64")))
# Folders whose siblings hold keys: only a program's own folder is shown.
_BARE: Final = frozenset({".local", ".cargo", ".config", ".bun", ".deno"})
_FETCHED: Final[Mapping[str, tuple[str, ...]]] = {
    "cargo": (".rustup", ".cargo/registry", ".cargo/git"),
    "go": ("go/pkg/mod",),
}
ENVIRON: Final[Mapping[str, str]] = {"GOPROXY": "off", "GOTOOLCHAIN": "local"}


class Toolchain:
    """Finds programs for the project at `place`."""

    def __init__(self, place: Path, environ: Mapping[str, str]) -> None:
        self._place = place
        real = pwd.getpwuid(os.geteuid()).pw_dir
        self._home = Path(environ.get("HOME") or real)
        self._homes = (self._home, Path(real))
        path = (Path(each) for each in environ.get("PATH", "").split(":") if each)
        own = (place / each for each in _OWN)
        # A shim would search for the real program where the sandbox has none.
        self._folders = (*own, *(each for each in path if each.name != "shims"))

    def find(self, program: str) -> Path | None:
        """Return the program's path inside the sandbox."""
        for folder in self._folders:
            path = folder / program
            if path.is_file() and os.access(path, os.X_OK):
                return path
        return None

    def needed_folders(self, program: Path) -> tuple[ReadOnlyFolder, ...]:
        """The folders that a program needs to be shown."""
        own = (
            ReadOnlyFolder(each, each)
            for each in self._needed_folders(program)
            if self._may_show(each)
        )
        # What was fetched before is found where the tool looks for it; keys beside it are not.
        fetched = (
            ReadOnlyFolder(self._home / each, Path(HOME) / each)
            for each in _FETCHED.get(program.name, ())
            if (self._home / each).is_dir()
        )
        return tuple(dict.fromkeys((*own, *fetched)))

    def _needed_folders(self, program: Path) -> Iterator[Path]:
        root = program.parent.parent
        if (root / "pyvenv.cfg").is_file():
            yield root
            yield from _made_from(root)
        elif not program.is_relative_to(self._place):
            yield from self._prefix(program)
            yield from self._prefix(program.resolve())

    def _prefix(self, program: Path) -> Iterator[Path]:
        folder = program.parent
        above = folder.parent
        bare = folder.name != "bin" or above.name in _BARE or above in self._homes
        bare = bare or self._place.is_relative_to(above)  # the project is never shown this way
        yield folder if bare else folder.parent

    def _may_show(self, folder: Path) -> bool:
        if not folder.is_dir() or any(folder.is_relative_to(each) for each in _SYSTEM):
            return False
        return not any(above.is_relative_to(folder) for above in (*self._homes, Path("/etc")))


def installed(place: Path, folders: tuple[str, ...]) -> tuple[ReadOnlyFolder, ...]:
    """Return what the project installed beside its files; links are not shown."""
    paths = (place / each for each in folders)
    return tuple(
        ReadOnlyFolder(each, each) for each in paths if each.is_dir() and not each.is_symlink()
    )


def _made_from(root: Path) -> Iterator[Path]:
    """Yield the interpreter of a virtual environment."""
    for line in (root / "pyvenv.cfg").read_text("utf-8", "replace").splitlines():
        key, _, value = (part.strip() for part in line.partition("="))
        home = Path(value)
        # The file may say anything; a folder counts only if the library is there.
        if key == "home" and home.name == "bin" and any(home.parent.glob("lib/python3*/os.py")):
            yield home.parent
