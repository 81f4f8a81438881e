"""Renders a diff for a person: by file and line, with limited length."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

MOST_LINES: Final = 3_000  # of all files; the folder has the rest
MOST_OF_FILE: Final = 800
LONGEST: Final = 400  # characters of a line
_FILE: Final = re.compile(r'diff --git "?a/(.*?)"? "?b/(.*?)"?')
_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_KINDS: Final = {"+": "ins", "-": "del"}
_HEADS: Final = (
    ("new file", "new"),
    ("deleted file", "deleted"),
    ("rename from", "renamed"),
    ("Binary files", "binary"),
    ("GIT binary patch", "binary"),
)


class PatchLine(Struct, frozen=True):
    kind: str  # ins, del, hunk or same
    text: str


class PatchFile(Struct, frozen=True):
    """The changes of one file; `left` is how many lines are not shown."""

    path: str
    lines: tuple[PatchLine, ...]
    added: int
    removed: int
    word: str = ""  # new, deleted, renamed, binary
    left: int = 0


class PatchView(Struct, frozen=True):
    files: tuple[PatchFile, ...]
    cut: bool  # whether more was changed than is shown

    @property
    def added(self) -> int:
        return sum(each.added for each in self.files)

    @property
    def removed(self) -> int:
        return sum(each.removed for each in self.files)


def read(text: str) -> PatchView | None:
    """Return the files of a diff; None if it is none."""
    parts = list(_parts(text))
    if not parts:
        return None
    files, room, broken = list[PatchFile](), MOST_LINES, False
    for part in parts:
        made, whole = _file(part, min(room, MOST_OF_FILE))
        files.append(made)
        room, broken = room - len(made.lines), broken or not whole
    return PatchView(tuple(files), broken or any(each.left for each in files))


def _parts(text: str) -> Iterator[list[str]]:
    """Yield the lines of each file: a hunk's line never begins with a letter."""
    part = list[str]()
    for line in text.split("\n"):
        if line.startswith("diff --git "):
            if part:
                yield part
            part = [line]
        elif part:
            part.append(line)
    if part:
        yield part


def _file(part: list[str], room: int) -> tuple[PatchFile, bool]:
    """Return one file, and whether its last hunk is complete."""
    named, word = _FILE.fullmatch(part[0]), ""
    path = named[2] if named else part[0].removeprefix("diff --git ")
    lines, old, new = list[PatchLine](), 0, 0
    for text in part[1:]:
        if old > 0 or new > 0:
            kind = _KINDS.get(text[:1], "same")
            old -= kind != "ins" and not text.startswith("\\")
            new -= kind != "del" and not text.startswith("\\")
            lines.append(PatchLine(kind, _short(text[1:] if not text.startswith("\\") else text)))
        elif hunk := _HUNK.match(text):
            old, new = int(hunk[1] or 1), int(hunk[2] or 1)
            lines.append(PatchLine("hunk", _short(text)))
        elif not lines:
            word = next((prefix for head, prefix in _HEADS if text.startswith(head)), word)
    added = sum(each.kind == "ins" for each in lines)
    removed = sum(each.kind == "del" for each in lines)
    left = max(0, len(lines) - room)
    return PatchFile(path, tuple(lines[:room]), added, removed, word, left), old <= 0 and new <= 0


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
