"""Reads a workspace through git without running anything from the repository.

Whoever worked there may have changed the configuration, which can name programs for hooks, monitors
and filters. So git only lists and outputs stored objects; the files of the workspace are read and
compared here.
"""

import hashlib
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from remit.errors import BadInput
from remit.system.files import UNTRACKED
from remit.system.git import safe_environ

MAX_COMPARED_BYTES: Final = 16 * 1024 * 1024  # bytes of a file that are compared
_GIT_TIMEOUT_SECONDS: Final = 60
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_MODULE: Final = "160000"


def is_repository(workspace: Path) -> bool:
    """Whether a folder lies in a git repository."""
    return any((folder / ".git").exists() for folder in (workspace, *workspace.parents))


def files(workspace: Path) -> tuple[str, ...]:
    """Return tracked and trackable files: without ignored or installed ones."""
    apart = (f"--exclude={each}" for each in UNTRACKED)
    output = _git(workspace, "ls-files", "-z", "--cached", "--others", "--exclude-standard", *apart)
    return tuple(sorted(set(_names(output))))


def commit(workspace: Path, named: str) -> str:
    """The commit that a name means now."""
    if not is_repository(workspace):
        raise BadInput(f"{workspace} is not under git, so it has no commit {named}.")
    try:
        output = _git(workspace, "rev-parse", "--verify", "--end-of-options", f"{named}^{{commit}}")
    except BadInput:
        sentence = f"{workspace} has no commit {named!r:.60}; name one that `git log` shows."
        raise BadInput(sentence) from None
    return output.decode().strip()


def tree(workspace: Path, at: str) -> Mapping[str, str]:
    """Return each file at a commit with its hash; a link's content is its target."""
    found: dict[str, str] = {}
    for line in _names(_git(workspace, "ls-tree", "-r", "-z", at)):
        head, _, name = line.partition("\t")
        mode, _, held = head.split(" ")
        if mode != _MODULE:
            found[name] = held
    return found


def blob(workspace: Path, held: str) -> bytes:
    return _git(workspace, "cat-file", "blob", held)


def changed(workspace: Path, before: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that were added, changed or removed."""
    now = files(workspace)
    paths = ((name, workspace / name) for name in now)
    there = {name for name, path in paths if path.is_symlink() or path.is_file()}
    touched = {name for name in there if not same(workspace / name, before.get(name))}
    return tuple(sorted(touched | (before.keys() - there)))


def same(path: Path, held: str | None) -> bool:
    """Whether a file has the stored content; line ends may be the system's."""
    if held is None:
        return False
    try:
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
    except OSError:
        return False
    return held in (_name_of(content, held), _name_of(content.replace(b"\r\n", b"\n"), held))


def name_of(path: Path, like: str) -> str:
    """Return git's hash of a file's current content."""
    return _name_of(path.read_bytes(), like)


def _name_of(content: bytes, like: str) -> str:
    """Return git's hash of this content, with one of its two algorithms."""
    kind = hashlib.sha256 if len(like) == len(hashlib.sha256().hexdigest()) else hashlib.sha1
    return kind(b"blob %d\0" % len(content) + content).hexdigest()


def _names(output: bytes) -> Iterator[str]:
    return (os.fsdecode(name) for name in output.split(b"\0") if name)


def _git(workspace: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - words of our own
            ("git", *words),  # noqa: S607 - found by a PATH of our own
            cwd=workspace,
            env=safe_environ(_PATH),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput(f"git did not answer in {workspace}: {error}.") from None
    if done.returncode:
        complaint = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
        raise BadInput(f"git cannot say what is in {workspace}: {complaint or 'no reason given'}.")
    return done.stdout


def diff(workspace: Path, before: Mapping[str, str], names: Sequence[str], most: int) -> str:
    """Return what changed as a text diff, limited in length."""
    import difflib  # noqa: PLC0415 - only who drafts from a diff needs it

    pieces: list[str] = []
    for name in names:
        was = _text(blob(workspace, before[name])) if name in before else ""
        path = workspace / name
        now = _text(path.read_bytes()) if path.is_file() and not path.is_symlink() else ""
        lines = difflib.unified_diff(
            was.splitlines(), now.splitlines(), f"a/{name}", f"b/{name}", n=0, lineterm=""
        )
        pieces += lines
        if sum(map(len, pieces)) > most:
            break
    return "\n".join(pieces)[:most]


def _text(content: bytes) -> str:
    is_text = b"\0" not in content and len(content) <= MAX_COMPARED_BYTES
    return content.decode("utf-8", "replace") if is_text else ""
