"""`remit --help`: every command, drawn as the help of one command is, without its libraries."""

import os
from collections.abc import Iterator
from textwrap import wrap
from typing import Final

from remit.cli import out
from remit.cli.commands import ABOUT, COMMANDS, HOUSE, QUESTIONS, START, TASKS
from remit.cli.out import Piece, StyledText

_DEFAULT_WIDTH: Final = 80
_LEAST_WIDTH: Final = 40
_OPTIONS: Final = (
    ("--help (-h)", "Display this message and exit."),
    ("--version", "Display application version."),
)


def show() -> None:
    wide = max(_LEAST_WIDTH, _width())
    out.line(StyledText("Usage: remit COMMAND", "bold"))
    for line in ("", *wrap(ABOUT, wide), ""):
        out.line(line)
    for section in (TASKS, QUESTIONS, HOUSE):
        for pieces in _panel(section, wide):
            out.line(*pieces)
    for line in ("", *wrap(START.replace("`", ""), wide)):
        out.line(line)


def _panel(section: str, wide: int) -> Iterator[list[Piece]]:
    rows = [
        (_shown_names(names), help_text)
        for each, names, _, help_text in COMMANDS
        if each == section
    ]
    rows += _OPTIONS if section == HOUSE else ()
    first = max(len(name) for name, _ in rows)
    room = wide - first - 6
    yield ["╭─ ", section, " ", "─" * (wide - len(section) - 5), "╮"]
    for name, help_text in rows:
        for number, text in enumerate(wrap(help_text.replace("`", ""), room)):
            left = StyledText(("" if number else name).ljust(first), "cyan")
            yield ["│ ", left, "  ", text.ljust(room), " │"]
    yield ["╰", "─" * (wide - 2), "╯"]


def _shown_names(names: str | tuple[str, ...]) -> str:
    if isinstance(names, str):
        return names
    first, *others = names
    return f"{first} ({', '.join(others)})"


def _width() -> int:
    """Return the columns of the terminal, or those that the environment tells a pipe."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() else out.terminal_width() or _DEFAULT_WIDTH
