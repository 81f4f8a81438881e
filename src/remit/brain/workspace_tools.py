"""A folder for each task that no path can leave, and the tools to list, read and write its files.

Each part of a path is opened relative to its parent, and links are not followed, so changes by
others cannot redirect an access. Only plain text is written.
"""

import asyncio
import base64
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

from remit.brain import outside
from remit.brain.tools import TOOLS, OwnTool, number_argument, text_argument
from remit.errors import BadInput, Conflict
from remit.files import checks, reader
from remit.files.kept_files import KeptFiles
from remit.model.ids import TaskId, task_id
from remit.model.reply import Picture, Policy, ToolCall, ToolResult
from remit.model.task import Taint, Task
from remit.model.task_file import TaskFile
from remit.system.files import READ, explained, open_below, replace_in, walk_below

MAX_FILE_BYTES: Final = 1_000_000
MAX_TOTAL_BYTES: Final = 20_000_000
MAX_FILES: Final = 200
MAX_DEPTH: Final = 8
_MAX_READ_CHARACTERS: Final = 40_000  # at once
_MAX_PICTURE_BYTES: Final = 3_000_000
_MAX_NAME_BYTES: Final = 120
_MAX_PATH_CHARACTERS: Final = 500


class Workspace:
    """The files of one task."""

    def __init__(self, root: Path, task: TaskId) -> None:
        self._root = root
        self._task = task_id(task)

    def files(self) -> list[tuple[str, int]]:
        """Every file with its size, sorted by path."""
        with self._folder([]) as folder:
            return sorted(walk_below(folder, lambda name: name.startswith("."), MAX_DEPTH))

    def read_bytes(self, path: str, most: int = MAX_FILE_BYTES) -> bytes:
        with self._folder([]), _explain_missing_file(path):
            way = (self._task, *path_parts(path))
            with open_below(self._root, way, READ) as opened:
                return _bytes(opened, path, most)

    def write(self, path: str, text: str) -> int:
        """Write a whole file atomically; return its size in bytes."""
        *folders, name = path_parts(path)
        content = _content(text, path)
        self._check_room(path, len(content))
        with self._folder(folders) as folder:
            _check_target(folder, name, path)
            try:
                replace_in(folder, name, content)
            except OSError as error:
                raise Conflict(f"{name!r:.60} cannot be written: {error.strerror}.") from None
        return len(content)

    @contextmanager
    def _folder(self, names: list[str]) -> Iterator[int]:
        """A folder of this task, open; what is missing of it is made."""
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        way = (self._task, *names)
        with (
            _explain_missing_file("/".join(names)),
            open_below(self._root, way, make=0o700) as folder,
        ):
            yield folder

    def _check_room(self, path: str, size: int) -> None:
        others = [had for name, had in self.files() if name != "/".join(path_parts(path))]
        if len(others) >= MAX_FILES:
            raise Conflict(f"A task keeps at most {MAX_FILES} files; write into one of those.")
        if sum(others) + size > MAX_TOTAL_BYTES:
            most = MAX_TOTAL_BYTES // 1_000_000
            raise Conflict(f"A task keeps at most {most} MB of files; {path!r:.60} is too much.")


def path_parts(path: str) -> list[str]:
    """Return the parts of a path; one that could lead elsewhere is refused."""
    if path.startswith("/"):
        sentence = f"{path!r:.60} begins with a slash; paths begin in the task's own folder."
        raise BadInput(sentence, field="path")
    names = path.split("/")
    if len(path) > _MAX_PATH_CHARACTERS or len(names) > MAX_DEPTH:
        sentence = (
            f"The path has more than {_MAX_PATH_CHARACTERS} characters, or {MAX_DEPTH} names."
        )
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
    if len(name.encode()) > _MAX_NAME_BYTES:
        raise BadInput(f"{name!r:.60} is longer than {_MAX_NAME_BYTES} bytes.", field="path")


def _explain_missing_file(path: str) -> AbstractContextManager[None]:
    missing = f"There is no file {path!r:.60}; list_files says which are."
    return explained(path, BadInput(missing))


def _bytes(opened: int, path: str, most: int) -> bytes:
    found = os.fstat(opened)
    # A hard link of a file may be anywhere.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise BadInput(f"{path!r:.60} is no file of this task.")
    with os.fdopen(opened, "rb", closefd=False) as file:
        if found.st_size > most:
            sentence = f"{path!r:.60} has {found.st_size} bytes; at most {most} are read."
            raise BadInput(sentence)
        return file.read(most)


def _content(text: str, path: str) -> bytes:
    try:
        content = text.encode()
    except UnicodeEncodeError:
        content = b"\0"
    if b"\0" in content:
        raise BadInput(f"What is to stand in {path!r:.60} is not text; only such is written.")
    if len(content) > MAX_FILE_BYTES:
        sentence = (
            f"{path!r:.60} would have {len(content)} bytes; at most {MAX_FILE_BYTES} are written."
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


def list_files(policy: Policy, root: Path) -> OwnTool:
    async def look(task: Task, call: ToolCall) -> ToolResult:
        found = await asyncio.to_thread(Workspace(root, task.id).files)
        received = [each for each in task.files if not each.made]
        lines = [f"{path} ({size} bytes)" for path, size in found]
        lines += [f"{each.name} ({each.type}, {each.size} bytes, came in)" for each in received]
        return ToolResult(call.id, "\n".join(lines) or "There are no files yet.", taint=task.taint)

    return OwnTool(TOOLS["list_files"], policy, look)


def read_file(
    policy: Policy, root: Path, kept: KeptFiles, sees: Callable[[], bool] = lambda: False
) -> OwnTool:
    """`sees`: whether the model takes pictures."""

    async def read(task: Task, call: ToolCall) -> ToolResult:
        path, start = text_argument(call, "path"), max(number_argument(call, "start", 0), 0)
        received, content = await asyncio.to_thread(
            _find, Workspace(root, task.id), kept, task, path
        )
        kind = checks.detect(path, content)
        # Its writer had read no more than the task has by now; of what came in nothing is believed.
        taint = Taint(received.taint).joined(task.taint) if received else task.taint
        if kind in checks.IMAGES:
            return _picture(call, path, kind, content, taint, sees=sees())
        whole = await reader.text_of(path, kind, content)
        words = whole[start : start + _MAX_READ_CHARACTERS]
        if len(whole) > start + _MAX_READ_CHARACTERS:
            words += f"\n(It has {len(whole)} characters; go on with start {start + len(words)}.)"
        if received and taint is Taint.OWNER:  # what is less trusted is marked for every tool
            words = outside.mark(words, f"the file {path}")
        return ToolResult(call.id, words, taint=taint)

    return OwnTool(TOOLS["read_file"], policy, read)


def _find(
    workspace: Workspace, kept: KeptFiles, task: Task, path: str
) -> tuple[TaskFile | None, bytes]:
    """Return a file of the workspace, or one that came in with the task."""
    try:
        return None, workspace.read_bytes(path, checks.MAX_BYTES)
    except BadInput:
        received = next((each for each in task.files if each.name == path), None)
        content = kept.read(received.sha256) if received else None
        if content is None:
            raise
        return received, content


def _picture(
    call: ToolCall, path: str, kind: str, content: bytes, taint: Taint, *, sees: bool
) -> ToolResult:
    if not sees:
        raise BadInput(f"{path!r:.60} is a picture, and your model is shown none.")
    if len(content) > _MAX_PICTURE_BYTES:
        sentence = f"{path!r:.60} has {len(content)} bytes; you are shown {_MAX_PICTURE_BYTES}."
        raise BadInput(sentence)
    picture = Picture(kind, base64.b64encode(content).decode())
    words = f"{path} is shown to you. {outside.SAYS}"
    return ToolResult(call.id, words, taint=taint, picture=picture)


def write_file(policy: Policy, root: Path) -> OwnTool:
    async def write(task: Task, call: ToolCall) -> ToolResult:
        path = text_argument(call, "path")
        size = await asyncio.to_thread(
            Workspace(root, task.id).write, path, text_argument(call, "text")
        )
        return ToolResult(call.id, f"{path} is written, {size} bytes.")

    return OwnTool(TOOLS["write_file"], policy, write)
