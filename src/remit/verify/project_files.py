"""The files of a project: read through git or from a folder, and copied for the sandbox.

Whoever worked there may have changed git's configuration, which can name programs. So git only
lists and outputs stored objects, and files are read and compared here. Only tracked and trackable
files are copied, with those that judge the work as they were; ignored ones stay out, and with them
keys and caches. Installed folders (`.venv`, `node_modules`) and what a program needs outside the
system are mounted read-only; never a home or a folder above one.
"""

import hashlib
import io
import os
import pwd
import stat
import subprocess
import tarfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from msgspec import Struct

from remit.errors import BadInput
from remit.system.files import READ, UNTRACKED, open_below
from remit.system.git import safe_environ
from remit.verify.sandbox import HOME, MB, ReadOnlyFolder

MAX_COMPARED_BYTES: Final = 16 * 1024 * 1024  # bytes of a file that are compared
_GIT_TIMEOUT_SECONDS: Final = 60
_GIT_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_MODULE: Final = "160000"


def is_repository(workspace: Path) -> bool:
    """Whether a folder lies in a git repository."""
    return any((folder / ".git").exists() for folder in (workspace, *workspace.parents))


def list_files(workspace: Path) -> tuple[str, ...]:
    """Return tracked and trackable files: without ignored or installed ones."""
    apart = (f"--exclude={each}" for each in UNTRACKED)
    output = _git(workspace, "ls-files", "-z", "--others", "--exclude-standard", *apart)
    # A repository within the folder ends with a slash.
    new = (name for name in _names(output) if not name.endswith("/"))
    return tuple(sorted({*new, *_tracked(workspace, modules=False)}))


def _tracked(workspace: Path, *, modules: bool) -> Iterator[str]:
    """Yield the files that git tracks, or the submodules."""
    for line in _names(_git(workspace, "ls-files", "-z", "--stage")):
        head, _, name = line.partition("\t")
        if head.startswith(_MODULE) is modules:
            yield name


def _in_submodules(workspace: Path) -> Iterator[str]:
    """Yield the files of submodules that are checked out; git keeps only their commit."""
    for name in _tracked(workspace, modules=True):
        if (workspace / name / ".git").exists():
            yield from (f"{name}/{each}" for each in names_to_pack(workspace / name))


def resolve_commit(workspace: Path, named: str) -> str:
    """The commit that a name means now."""
    if not is_repository(workspace):
        raise BadInput(f"{workspace} is not under git, so it has no commit {named}.")
    try:
        output = _git(workspace, "rev-parse", "--verify", "--end-of-options", f"{named}^{{commit}}")
    except BadInput:
        sentence = f"{workspace} has no commit {named!r:.60}; name one that `git log` shows."
        raise BadInput(sentence) from None
    return output.decode().strip()


def files_at_commit(workspace: Path, at: str) -> Mapping[str, str]:
    """Return each file at a commit with its hash; a link's content is its target."""
    found: dict[str, str] = {}
    for line in _names(_git(workspace, "ls-tree", "-r", "-z", at)):
        head, _, name = line.partition("\t")
        mode, _, held = head.split(" ")
        if mode != _MODULE:
            found[name] = held
    return found


def read_blob(workspace: Path, held: str) -> bytes:
    return _git(workspace, "cat-file", "blob", held)


def changed_files(workspace: Path, before: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that were added, changed or removed."""
    now = list_files(workspace)
    paths = ((name, workspace / name) for name in now)
    there = {name for name, path in paths if path.is_symlink() or path.is_file()}
    touched = {name for name in there if not has_content(workspace / name, before.get(name))}
    return tuple(sorted(touched | (before.keys() - there)))


def has_content(path: Path, held: str | None) -> bool:
    """Whether a file has the stored content; line ends may be the system's."""
    if held is None:
        return False
    try:
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
    except OSError:
        return False
    return held in (_name_of(content, held), _name_of(content.replace(b"\r\n", b"\n"), held))


def git_hash(path: Path, like: str) -> str:
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
            env=safe_environ(_GIT_PATH),
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


def text_diff(workspace: Path, before: Mapping[str, str], names: Sequence[str], most: int) -> str:
    """Return what changed as a text diff, limited in length."""
    import difflib  # noqa: PLC0415 - only who drafts from a diff needs it

    pieces: list[str] = []
    for name in names:
        was = _diff_text(read_blob(workspace, before[name])) if name in before else ""
        path = workspace / name
        now = _diff_text(path.read_bytes()) if path.is_file() and not path.is_symlink() else ""
        lines = difflib.unified_diff(
            was.splitlines(), now.splitlines(), f"a/{name}", f"b/{name}", n=0, lineterm=""
        )
        pieces += lines
        if sum(map(len, pieces)) > most:
            break
    return "\n".join(pieces)[:most]


def _diff_text(content: bytes) -> str:
    is_text = b"\0" not in content and len(content) <= MAX_COMPARED_BYTES
    return content.decode("utf-8", "replace") if is_text else ""


INSTALLED: Final = (".venv", "venv", "node_modules", "vendor/bundle")
_NEVER: Final = frozenset({".git", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
_MODE_BITS: Final = 0o755  # no setuid, nothing that only an owner may read


def pack(workspace: Path, into: Path, *, instead: Mapping[str, bytes | None], room: int) -> None:
    """Write the workspace as an archive.

    `instead` holds files with other content, or None for removed ones; `room` is the limit in MB.
    """
    left, workspace = room * MB, workspace.resolve()
    with tarfile.open(into, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted({*names_to_pack(workspace), *instead}):
            if name in instead:
                left -= _add(archive, name, instead[name])
            else:
                left -= _copy(archive, workspace, name)
            if left < 0:
                raise BadInput(
                    f"{workspace} has more than the {room:,} MB of files that a check may have. "
                    "Ignore what is not needed, in .gitignore."
                )


def names_to_pack(workspace: Path) -> Collection[str]:
    """The files that are laid in, relative to the workspace."""
    every: Iterable[str] = _walk_files(workspace)
    if is_repository(workspace):
        every = (*list_files(workspace), *_in_submodules(workspace))
    return [name for name in every if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    parts = Path(name).parts
    return ".git" in parts or any(name.startswith(f"{folder}/") for folder in INSTALLED)


def _walk_files(workspace: Path) -> Iterator[str]:
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

    def __init__(self, place: Path, environ: Mapping[str, str], folder: str = "") -> None:
        self._place, self._environ = place, environ
        real = pwd.getpwuid(os.geteuid()).pw_dir
        self._home = Path(environ.get("HOME") or real)
        self._homes = (self._home, Path(real))
        path = (Path(each) for each in environ.get("PATH", "").split(":") if each)
        own = (at / each for at in dict.fromkeys((place / folder, place)) for each in _OWN)
        # A shim would search for the real program where the sandbox has none.
        self._folders = (*own, *(each for each in path if each.name != "shims"))

    def within(self, folder: str) -> "Toolchain":
        """Return the same for a project within the project: its own programs come first."""
        return Toolchain(self._place, self._environ, folder)

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


def installed_folders(place: Path, folders: tuple[str, ...]) -> tuple[ReadOnlyFolder, ...]:
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


_MAX_CHARACTERS: Final = 1_000_000


class ProjectFiles(Struct, frozen=True):
    names: frozenset[str]
    content: Callable[[str], bytes]

    def text(self, name: str) -> str:
        """Return a file's text; empty if it does not exist."""
        if name not in self.names:
            return ""
        return self.content(name).decode("utf-8", "replace")[:_MAX_CHARACTERS]

    def below(self, folder: str) -> "ProjectFiles":
        """Return the files of a folder, named from there."""
        start = f"{folder}/"
        inside = (name.removeprefix(start) for name in self.names if name.startswith(start))
        return ProjectFiles(frozenset(inside), lambda name: self.content(start + name))

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

    return ProjectFiles(frozenset(names_to_pack(root)), content)


def at_commit(root: Path, commit: str) -> ProjectFiles:
    held: Mapping[str, str] = files_at_commit(root, commit)
    return ProjectFiles(frozenset(held), lambda name: read_blob(root, held[name]))
