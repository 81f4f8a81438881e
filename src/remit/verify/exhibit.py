"""What a critic is shown: the changed files, or the text, with line numbers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from remit.model.contract import Evidence

MAX_SHOWN_CHARACTERS: Final = 24_000  # characters that are shown at once
MAX_SHEETS: Final = 12
_MAX_FILE_BYTES: Final = 1_000_000


class NumberedLine(Struct, frozen=True):
    number: int
    text: str


class ExhibitSheet(Struct, frozen=True):
    """Consecutive lines of one file, as many as can be reviewed at once."""

    name: str
    lines: tuple[NumberedLine, ...]

    def says(self, number: int) -> str | None:
        return next((line.text for line in self.lines if line.number == number), None)


class NotShowable(Struct, frozen=True):
    """Why something cannot be shown to a critic."""

    why: str


def sheets(evidence: Evidence) -> tuple[ExhibitSheet, ...] | NotShowable:
    """Return everything to judge, or why it cannot be shown. Nothing unshown passes."""
    made: list[ExhibitSheet] = []
    for name, text in _texts(evidence):
        if isinstance(text, NotShowable):
            return text
        made += _cut(name, text)
    if len(made) > MAX_SHEETS:
        most = MAX_SHOWN_CHARACTERS * MAX_SHEETS
        return NotShowable(f"it is too long for a critic, who reads at most {most} characters")
    return tuple(made)


def _texts(evidence: Evidence) -> Iterator[tuple[str, str | NotShowable]]:
    if evidence.workspace is None:
        yield "the text", evidence.text
        return
    folder = Path(evidence.workspace).resolve()
    for name in evidence.changed:
        file = folder / name
        if file.exists() or file.is_symlink():  # otherwise it was deleted
            yield name, _read(folder, file, name)


def _read(folder: Path, file: Path, name: str) -> str | NotShowable:
    """Read a file of the workspace; a link out of it is not followed."""
    if not file.resolve().is_relative_to(folder) or not file.is_file():
        return NotShowable(f"{name} is no file of the workspace")
    if file.stat().st_size > _MAX_FILE_BYTES:
        return NotShowable(f"{name} is too large for a critic")
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""  # a picture has no lines


def _cut(name: str, text: str) -> Iterator[ExhibitSheet]:
    lines: list[NumberedLine] = []
    size = 0
    for number, line in enumerate(text.splitlines(), 1):
        if lines and size + len(line) > MAX_SHOWN_CHARACTERS:
            yield ExhibitSheet(name, tuple(lines))
            lines, size = [], 0
        lines.append(NumberedLine(number, line[:MAX_SHOWN_CHARACTERS]))
        size += len(line)
    if lines:
        yield ExhibitSheet(name, tuple(lines))


def number_lines(sheet: ExhibitSheet) -> str:
    """The lines with their numbers."""
    return "\n".join(f"{line.number:>5}| {line.text}" for line in sheet.lines)
