"""Where a project's programs are, and which folders they need to run.

A program is searched in what the project installed, then in the operator's PATH. What lies outside
the system is mounted read-only: the program's environment, and the interpreter it was made from.
Never a home or a folder above one.
"""

import os
import pwd
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from remit.verify.sandbox import HOME, ReadOnlyFolder

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
