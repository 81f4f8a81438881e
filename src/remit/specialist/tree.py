"""One task's worktree on disk: its parts, whether they are as we made them, and its files.

No path of a specialist leads out of it, and none into `.git`. Each part of a path is opened
relative to its parent and links are not followed, so changes by others cannot redirect an access.
"""

import os
import re
import shutil
import stat
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct

from remit.errors import BadInput, Conflict, NotFound, Permanent
from remit.model.ids import TaskId, task_id
from remit.specialist import REPOSITORY
from remit.system.files import (
    READ,
    UNTRACKED,
    explained,
    open_below,
    replace_in,
    walk_below,
    write_atomic,
)
from remit.system.git import GitLocation

SHA: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# In Remit's repository: which worktrees are ready, and our indexes. Not `remit`: git would look for
# branches of that name there.
_NOTES: Final = "notes-of-the-house"
_ASIDE: Final = ".aside"
_LONG: Final = 64  # characters of a SHA-256 hash
_CONFIG: Final = """\
[core]
	repositoryformatversion = {version}
	filemode = true
	bare = true
	logAllRefUpdates = false
	hooksPath = /dev/null
	fsmonitor = false
[gc]
	auto = 0
[maintenance]
	auto = false
"""


class Worktree(Struct, frozen=True):
    """Where one task is worked on."""

    task_id: TaskId
    folder: str
    base: str  # the commit it began from
    repo: str  # Remit's own repository
    checkout: str  # the owner's folder it came from

    @property
    def branch(self) -> str:
        return f"remit/{self.task_id}"

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.branch}"

    @property
    def copy_ref(self) -> str:
        """Where the commit of the last copy for other machines is noted."""
        return f"refs/remit/copy/{self.task_id}"

    @property
    def own_git(self) -> GitLocation:
        """Remit's own repository, without a folder."""
        return GitLocation(self.repo, git_dir=self.repo)

    @property
    def inside(self) -> GitLocation:
        """The folder by our records, not by what its `.git` says."""
        git_dir = f"{self.repo}/worktrees/{self.task_id}"
        index = f"{self.repo}/{_NOTES}/{self.task_id}.index"
        return GitLocation(self.folder, git_dir, self.folder, index)


def aside_folder(folder: str) -> Path:
    """Return the place beside the worktree for a specialist's home and git copy."""
    return Path(f"{folder}{_ASIDE}")


def recorded_base(repo: str, task: TaskId) -> str | None:
    """The base of a worktree that was made whole."""
    try:
        base = Path(repo, _NOTES, task).read_text().strip()
    except FileNotFoundError:
        return None
    return base if SHA.fullmatch(base) else None


def record_base(tree: Worktree) -> None:
    folder = Path(tree.repo, _NOTES)
    folder.mkdir(exist_ok=True)
    write_atomic(folder / tree.task_id, tree.base)


def forget_base(tree: Worktree) -> None:
    for name in (tree.task_id, f"{tree.task_id}.index"):
        Path(tree.repo, _NOTES, name).unlink(missing_ok=True)


def is_complete(tree: Worktree) -> bool:
    return Path(tree.folder).is_dir() and Path(str(tree.inside.git_dir)).is_dir()


def list_worktrees(root: Path) -> list[Worktree]:
    """Return what is below `root`, by its folders; an incomplete one has no base."""
    found: list[Worktree] = []
    for repo in root.glob(f"*/{REPOSITORY}"):
        names = {each.name.removesuffix(_ASIDE) for each in repo.parent.iterdir()}
        for name in sorted(names):
            try:
                task = task_id(name)
            except BadInput:
                continue  # the repository itself, or nothing of ours
            base = recorded_base(str(repo), task) or ""
            found.append(Worktree(task, f"{repo.parent}/{name}", base, str(repo), ""))
    return found


def repair(tree: Worktree) -> None:
    """Restore the files that tie the folder to the repository, whatever was changed in them."""
    git_dir = Path(str(tree.inside.git_dir))
    for path, text in (
        (git_dir / "commondir", "../..\n"),
        (git_dir / "gitdir", f"{tree.folder}/.git\n"),
        (git_dir / "HEAD", f"ref: {tree.ref}\n"),
        (Path(tree.folder, ".git"), f"gitdir: {git_dir}\n"),
    ):
        _set(path, text)
    configure(Path(tree.repo), "sha256" if len(tree.base) == _LONG else "sha1")


def configure(repo: Path, form: str) -> None:
    version = 1 if form == "sha256" else 0
    more = "[extensions]\n\tobjectFormat = sha256\n" if version else ""
    _set(repo / "config", _CONFIG.format(version=version) + more)
    (repo / "config.worktree").unlink(missing_ok=True)
    (repo / "info").mkdir(exist_ok=True)
    _set(repo / "info/exclude", "".join(f"{each}\n" for each in UNTRACKED))
    (repo / _NOTES).mkdir(exist_ok=True)


def _set(path: Path, text: str) -> None:
    """Write a plain file, replacing a link or folder."""
    if path.is_file() and not path.is_symlink() and path.read_bytes() == text.encode():
        return
    if path.is_dir() and not path.is_symlink():
        _remove(path)
    write_atomic(path, text, mode=0o644)


def filled_submodules(tree: Worktree, paths: list[str]) -> list[str]:
    """Return the submodules that are not empty: we leave them empty."""
    found = [Path(tree.folder, path) for path in paths]
    return [
        path
        for path, place in zip(paths, found, strict=True)
        if place.is_symlink() or place.is_file() or (place.is_dir() and any(place.iterdir()))
    ]


def remove_locks(repo: Path) -> None:
    """Remove locks of a process that has died: no other works here since this one started."""
    for lock in repo.rglob("*.lock"):
        if "objects" not in lock.relative_to(repo).parts[:1]:
            lock.unlink(missing_ok=True)


def remove_folders(tree: Worktree) -> None:
    _remove(Path(tree.folder))
    _remove(aside_folder(tree.folder))
    _remove(Path(str(tree.inside.git_dir)))


def _remove(folder: Path) -> None:
    """Remove a folder, even with unwritable parts; links are not followed."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
        return
    for top, names, _ in os.walk(folder):
        for name in [".", *names]:
            path = os.path.join(top, name)  # noqa: PTH118 - a name may be no text
            if not os.path.islink(path):  # noqa: PTH114
                os.chmod(path, stat.S_IRWXU)  # noqa: PTH101
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise Permanent(f"{folder} cannot be removed.")


def total_size(folder: bytes, names: list[bytes]) -> int:
    total = 0
    for name in names:
        try:
            found = os.lstat(os.path.join(folder, name))  # noqa: PTH118 - a name may be no text
        except OSError:
            continue
        total += found.st_size if stat.S_ISREG(found.st_mode) else 0
    return total


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
        with _explain_missing_file(below), open_below(self._root, parts) as folder:
            walk = walk_below(folder, ".git".__eq__, _MAX_DEPTH - 1, above)
            found = [path for path, _ in islice(walk, MAX_NAMES + 1)]
        if len(found) > MAX_NAMES:
            found[-1] = f"… and more; name a folder to see less than {MAX_NAMES}"
        return found

    def read(self, path: str) -> str:
        with _explain_missing_file(path), open_below(self._root, self.parts(path), READ) as opened:
            _check_size(opened, path)
            with os.fdopen(opened, "rb", closefd=False) as file:
                return _decode_text(file.read(MAX_FILE_BYTES), path)

    def write(self, path: str, text: str) -> int:
        """Write a whole file atomically; return its size in bytes."""
        *folders, name = self.parts(path)
        content = text.encode("utf-8", "surrogatepass")
        if len(content) > MAX_FILE_BYTES:
            sentence = f"{path!r:.80} would have {len(content)} bytes; {MAX_FILE_BYTES} may be."
            raise BadInput(sentence)
        with _explain_missing_file(path), open_below(self._root, folders, make=0o777) as folder:
            mode = _mode(folder, name, path)
            try:
                replace_in(folder, name, content, mode)
            except OSError as error:
                raise Conflict(f"{name!r:.80} cannot be written: {error.strerror}.") from None
        return len(content)

    def delete(self, path: str) -> None:
        *folders, name = self.parts(path)
        with _explain_missing_file(path), open_below(self._root, folders) as folder:
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


def _explain_missing_file(path: str) -> AbstractContextManager[None]:
    return explained(path, NotFound("file", f"{path!r:.80}"))


def _check_size(opened: int, path: str) -> None:
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{path!r:.80} is no file.", field="path")
    if found.st_size > MAX_FILE_BYTES:
        raise BadInput(
            f"{path!r:.80} has {found.st_size} bytes; at most {MAX_FILE_BYTES} are read."
        )


def _decode_text(content: bytes, path: str) -> str:
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
