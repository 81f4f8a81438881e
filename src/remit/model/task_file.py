"""A file of a task, and the lines by which a message names the files that it carries.

The brain writes `[file: report.pdf]` on a line of its own. When the gate has passed the text, code
freezes the file and writes what it is and its hash into the line, at the end of the message. So
whatever covers the text (an approval, the ledger, an edit) also covers the files.
"""

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from remit.model.codec import Json, JsonMap

ATTACHMENTS: Final = "attachments"  # in the context of a task: what came in with it
_NAMES_ONE: Final = r"(?im)^[ \t]*\[[ \t]*file[ \t]*:.*$"
_ASKED: Final = r"\[file: ([^|\[\]\n]+)\]"
_FROZEN: Final = (
    r"\[file: ([^|\[\]\n]+) \| ([a-z0-9.+/-]+) \| (\d{1,12}) bytes \| sha256 ([0-9a-f]{64})\]"
)


class TaskFile(Struct, frozen=True):
    """A file: what it is called, what it is, and the hash under which its bytes are kept."""

    name: str
    type: str  # by its content
    size: int
    sha256: str
    made: bool = False  # by the work; else it came in
    taint: str = "owner"  # whose it is: a value of `model.task.Taint`

    @property
    def line(self) -> str:
        """The line of a message that carries it."""
        return f"[file: {self.name} | {self.type} | {self.size} bytes | sha256 {self.sha256}]"

    @property
    def size_text(self) -> str:
        if self.size < 1000:  # noqa: PLR2004 - bytes are shown as they are
            return f"{self.size} bytes"
        return f"{self.size / 1000:.0f} KB" if self.size < 1e6 else f"{self.size / 1e6:.1f} MB"  # noqa: PLR2004


class FileContent(Struct, frozen=True):
    """A file on its way to a recipient."""

    name: str
    type: str
    content: bytes


class FileLimits(Struct, frozen=True):
    """What files a channel carries. `apart`: each goes as a message of its own."""

    each: int  # bytes
    total: int
    apart: bool = False
    count: int = 10


def has_files(text: str) -> bool:
    """Whether a text has a line that names a file, in whatever spelling."""
    return re.search(_NAMES_ONE, text) is not None


def split_lines(text: str) -> tuple[str, list[str]]:
    """Return the words of a text, and its lines that name files."""
    lines = [found.group().strip() for found in re.finditer(_NAMES_ONE, text)]
    return (re.sub(_NAMES_ONE, "", text).strip(), lines) if lines else (text, [])


def asked_path(line: str) -> str | None:
    """Return the path that a line asks for; None if it is not spelt exactly."""
    found = re.fullmatch(_ASKED, line)
    return found[1].strip() if found else None


def frozen_file(line: str) -> TaskFile | None:
    """Return the file that a frozen line names."""
    found = re.fullmatch(_FROZEN, line)
    return TaskFile(found[1], found[2], int(found[3]), found[4], made=True) if found else None


def is_frozen(text: str) -> bool:
    """Whether every line of a text that names a file is frozen."""
    return all(frozen_file(line) is not None for line in split_lines(text)[1])


def split_body(body: str) -> tuple[str, tuple[TaskFile, ...]]:
    """Return the words of a message, and the files that its last lines name."""
    if "[file: " not in body:
        return body, ()
    rest, files = body, list[TaskFile]()
    while (found := frozen_file(rest.rpartition("\n")[2])) is not None:
        files.insert(0, found)
        rest = rest.rpartition("\n")[0].rstrip("\n")
    return (rest, tuple(files)) if files else (body, ())


def join_body(words: str, files: Iterable[TaskFile]) -> str:
    lines = "\n".join(each.line for each in files)
    return "\n\n".join(filter(None, (words, lines)))


def files_in(context: JsonMap) -> tuple[TaskFile, ...]:
    """Return the kept files that came with a message, as its context lists them."""
    listed = context.get(ATTACHMENTS)
    found = (_file_from_json(each) for each in listed) if isinstance(listed, list) else ()
    return tuple(each for each in found if each is not None)


def _file_from_json(some: Json) -> TaskFile | None:
    match some:
        case {
            "name": str(name),
            "type": str(kind),
            "size": int(size),
            "sha256": str(digest),
            **more,
        }:
            return TaskFile(name, kind, size, digest, taint=str(more.get("taint") or "public"))
        case _:
            return None


def to_context(file: TaskFile) -> JsonMap:
    """Return a file as the context of a task lists it."""
    return {
        "name": file.name,
        "type": file.type,
        "size": file.size,
        "sha256": file.sha256,
        "taint": file.taint,
    }
