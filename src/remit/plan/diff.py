"""A unified diff: which files it touches, and which lines it adds or takes away."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from remit.plan.files import normal

_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_GIT: Final = re.compile(r'diff --git "?a/(.*?)"? "?b/(.*?)"?$')
_BINARY: Final = re.compile(r'Binary files "?(?:a/)?(.*?)"? and "?(?:b/)?(.*?)"? differ$')
_MOVED: Final = ("rename from ", "rename to ", "copy from ", "copy to ")
_OCTAL: Final = re.compile(r"((?:\\[0-3][0-7]{2})+)")
_NOWHERE: Final = "dev/null"


@dataclass(frozen=True, slots=True)
class Diff:
    """Lines that changed, by file; what cannot be placed stands under the empty name."""

    lines: Mapping[str, Sequence[str]]
    removed: frozenset[str] = frozenset()

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(name for name in self.lines if name)


def parse(text: str) -> Diff:
    """Read a diff. Nothing is dropped: a line that is neither head nor hunk counts as changed.

    So what is not a diff at all is looked at whole.
    """
    state = _State()
    for line in text.split("\n"):
        state.take(line.removesuffix("\r"))
    return Diff(state.lines, frozenset(state.removed))


@dataclass(slots=True)
class _State:
    lines: dict[str, list[str]] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    name: str = ""
    gone: int = 0  # lines of a hunk that are still to come, of the old file
    come: int = 0  # and of the new one

    def take(self, line: str) -> None:
        if self.gone > 0 or self.come > 0:
            self._inside(line)
        elif (hunk := _HUNK.match(line)) is not None:
            self.gone, self.come = (int(each[:9]) if each else 1 for each in hunk.groups())
        elif not self._heads(line):
            self.lines.setdefault(self.name, []).append(line)

    def _inside(self, line: str) -> None:
        """A hunk says how long it is, so that no line of it passes for the head of a file."""
        mark = line[:1]
        self.gone -= mark in ("-", " ", "")
        self.come -= mark in ("+", " ", "")
        if mark in ("+", "-"):
            self.lines.setdefault(self.name, []).append(line[1:])
        elif mark not in (" ", "", "\\"):  # it ended early
            self.gone = self.come = 0
            self.take(line)

    def _heads(self, line: str) -> bool:
        if (found := _GIT.match(line) or _BINARY.match(line)) is not None:
            self._name(found.group(1))
            self._name(found.group(2))
        elif line.startswith(("--- ", "+++ ")):
            self._name(_bare(line[4:]))
        elif line.startswith(_MOVED):
            self._name(line.split(" ", 2)[2])
        elif line.startswith("deleted file mode "):
            self.removed.add(self.name)
        else:
            return not line.strip() or line.startswith(_SILENT)
        return True

    def _name(self, raw: str) -> None:
        path = normal(_unquoted(raw))
        if path not in (_NOWHERE, "."):
            self.name = path
            self.lines.setdefault(path, [])


_SILENT: Final = (  # heads that say nothing of what changed
    "index ",
    "similarity index ",
    "dissimilarity index ",
    "new file mode ",
    "old mode ",
    "new mode ",
    "GIT binary patch",
    "\\ No newline",
)


def _bare(path: str) -> str:
    """Without the a/ or b/ that git puts before, and the time that diff puts behind."""
    name = path.split("\t", 1)[0].strip().strip('"')
    return name[2:] if name.startswith(("a/", "b/")) else name


def _unquoted(path: str) -> str:
    """Git writes letters that are not ASCII as octal numbers."""
    return _OCTAL.sub(_letters, path.strip('"'))


def _letters(found: re.Match[str]) -> str:
    numbers = found.group().split("\\")[1:]
    return bytes(int(each, 8) for each in numbers).decode("utf-8", "replace")


def says(phrase: str, text: str) -> bool:
    """Whether lines say a phrase: whole words at its ends, `*` for anything within a line.

    Both are in small letters. Each piece is looked for once, so the time grows with the text alone.
    """
    first, *rest = (piece.strip() for piece in phrase.split("*"))
    at = _find(first, text, 0, ends=not rest)
    while at >= 0:
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        if _follow(rest, text[at + len(first) : end]):
            return True
        at = _find(first, text, end, ends=not rest) if end < len(text) else -1
    return False


def _follow(pieces: Sequence[str], line: str) -> bool:
    at = 0
    for n, piece in enumerate(pieces, 1):
        found = _find(piece, line, at, ends=n == len(pieces))
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _find(piece: str, text: str, start: int, *, ends: bool) -> int:
    """Where a piece stands as a word of its own, or as the beginning of one."""
    at = text.find(piece, start)
    while at >= 0:
        end = at + len(piece)
        begun = piece[:1].isalnum() and text[at - 1 : at].isalnum()
        goes_on = ends and piece[-1:].isalnum() and text[end : end + 1].isalnum()
        if not begun and not goes_on:
            return at
        at = text.find(piece, end)
    return -1
