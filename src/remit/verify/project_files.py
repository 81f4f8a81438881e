"""Reads the files of a project, from a folder or at a commit."""

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from msgspec import Struct

from remit.verify import ground, repository

_MAX_CHARACTERS: Final = 1_000_000


class ProjectFiles(Struct, frozen=True):
    names: frozenset[str]
    content: Callable[[str], bytes]

    def text(self, name: str) -> str:
        """Return a file's text; empty if it does not exist."""
        if name not in self.names:
            return ""
        return self.content(name).decode("utf-8", "replace")[:_MAX_CHARACTERS]

    def has(self, *names: str) -> bool:
        return any(name in self.names for name in names)

    def any(self, *globs: str) -> bool:
        return any(fnmatchcase(name, glob) for name in self.names for glob in globs)

    def in_root(self, *globs: str) -> bool:
        tops = [name for name in self.names if "/" not in name]
        return any(fnmatchcase(name, glob) for name in tops for glob in globs)


def in_folder(root: Path) -> ProjectFiles:
    """Return the files that a check would get; links are not followed."""

    def content(name: str) -> bytes:
        path = root / name
        try:
            return path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        except OSError:
            return b""

    return ProjectFiles(frozenset(ground.names(root)), content)


def at_commit(root: Path, commit: str) -> ProjectFiles:
    held: Mapping[str, str] = repository.tree(root, commit)
    return ProjectFiles(frozenset(held), lambda name: repository.blob(root, held[name]))
