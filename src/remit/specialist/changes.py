"""What a specialist changed, from git's lists, and what must not be accepted. Pure."""

import posixpath
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.model.test_files import is_runner_setting, is_test

LINK: Final = "120000"
REPOSITORY: Final = "160000"  # mode of a submodule


class ChangeKind(StrEnum):
    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"


class FileChange(Struct, frozen=True):
    """One file that differs from the base."""

    path: str
    kind: ChangeKind
    mode: str = "100644"  # git's mode; empty if deleted
    hash: str = ""  # hash of its content; empty if deleted
    was: str | None = None  # its path before a rename


class Snapshot(Struct, frozen=True):
    """A folder at one moment, compared with the base."""

    tree: str  # git's tree id of the whole
    changes: tuple[FileChange, ...] = ()
    diff: str = ""
    refused: tuple[str, ...] = ()  # why it cannot be accepted, in sentences

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that is touched, including the old ones of renames."""
        both = (p for c in self.changes for p in (c.path, c.was) if p is not None)
        return tuple(dict.fromkeys(both))

    @property
    def hashes(self) -> Mapping[str, str]:
        return {change.path: change.hash for change in self.changes}

    @property
    def tests(self) -> tuple[str, ...]:
        """Existing tests that were changed; new ones do not count."""
        return tuple(
            change.was or change.path
            for change in self.changes
            if change.kind is not ChangeKind.ADDED and _judges(change.was or change.path)
        )


def _judges(path: str) -> bool:
    return is_test(path) or is_runner_setting(path)


def read(raw: bytes) -> tuple[FileChange, ...]:
    """Parse `git diff-tree -r -z -M --raw`."""
    fields = raw.decode("utf-8", "surrogateescape").split("\0")
    found: list[FileChange] = []
    at = 0
    while at + 1 < len(fields):
        _, mode, _, sha, status = fields[at].lstrip(":").split(" ")
        names = 2 if status[0] in "RC" else 1
        paths = fields[at + 1 : at + 1 + names]
        found.append(_change(status[0], mode, sha, paths))
        at += 1 + names
    return tuple(found)


def refusals(changes: Sequence[FileChange], targets: Mapping[str, str]) -> tuple[str, ...]:
    """Return why changes cannot be accepted; `targets` says where links lead."""
    found: list[str] = []
    for change in changes:
        if change.mode == REPOSITORY:
            found.append(is_repository(change.path))
        elif change.mode == LINK and _leaves(change.path, targets.get(change.path, "/")):
            found.append(f"{change.path!r} is a link that leads out of the folder.")
    return tuple(found)


def is_repository(path: str) -> str:
    return f"{path!r} is a repository of its own; only files are taken over."


def _change(letter: str, mode: str, sha: str, paths: Sequence[str]) -> FileChange:
    if letter == "D":
        return FileChange(paths[0], ChangeKind.DELETED, "", "")
    if letter in "RC":
        return FileChange(paths[1], ChangeKind.RENAMED, mode, sha, paths[0])
    return FileChange(
        paths[0], ChangeKind.ADDED if letter == "A" else ChangeKind.MODIFIED, mode, sha
    )


def _leaves(path: str, target: str) -> bool:
    if target.startswith("/") or not target:
        return True
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    names = place.split("/")
    return names[0] == ".." or any(name.casefold() == ".git" for name in names)
