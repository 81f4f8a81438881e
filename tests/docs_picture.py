"""Draws a console block as in a terminal: one SVG that loads nothing from elsewhere."""

import re
from collections.abc import Iterator
from html import escape
from typing import Final

from tests.docs_terminal import Block

COLUMNS: Final = 100
ADVANCE: Final = 8.0  # of a letter
HEIGHT: Final = 19  # of a line
MARGIN: Final = 20

_STYLES: Final = """\
    rect { fill: #16181d; }
    text { font: 13px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d5d8de; }
    .prompt { fill: #6ca8ff; }
    .typed { fill: #ffffff; font-weight: bold; }
    .dim { fill: #868c98; }
    .good { fill: #7bcf8a; }
    .asks { fill: #f0c463; }"""
_PAINT: Final = (
    (re.compile(r"^\d\d:\d\d:\d\d|^Task task-\S+ was added\."), "dim"),
    (re.compile(r"(?<=  )Completed:.*"), "good"),
    (re.compile(r"(?:(?<=  )|^)(?:Waits for you|Asks you).*"), "asks"),
)


def draw(block: Block) -> str:
    """The block, line under line."""
    lines = list(_lines(block))
    width, height = COLUMNS * ADVANCE + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    tops = range(MARGIN + 14, height, HEIGHT)
    drawn = (
        f'  <text x="{MARGIN}" y="{top}" xml:space="preserve">{line}</text>'
        for top, line in zip(tops, lines, strict=False)
    )
    size = f'viewBox="0 0 {width:.0f} {height}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>',
            "  <title>Remit in a terminal</title>",
            f"  <style>\n{_STYLES}\n  </style>",
            '  <rect width="100%" height="100%" rx="8"/>',
            *drawn,
            "</svg>\n",
        )
    )


def _lines(block: Block) -> Iterator[str]:
    for command, shown in block.turns:
        for place, typed in enumerate(command.splitlines()):
            yield _span("&gt; " if place else "$ ", "prompt") + _span(escape(_cut(typed)), "typed")
        yield from (_painted(_cut(line)) for line in shown)


def _painted(line: str) -> str:
    for pattern, style in _PAINT:
        found = pattern.search(line)
        if found:
            before, after = line[: found.start()], line[found.end() :]
            return _painted(before) + _span(escape(found[0]), style) + _painted(after)
    return escape(line)


def _span(text: str, style: str) -> str:
    return f'<tspan class="{style}">{text}</tspan>'


def _cut(line: str) -> str:
    return line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…"
