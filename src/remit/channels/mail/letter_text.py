"""Markdown to plain text that reads well by itself.

It is what is read by who has no pictures and colours, and by every program that looks for words in
a letter.
"""

import unicodedata
from collections.abc import Iterable
from typing import Final

from markdown_it.tree import SyntaxTreeNode

from remit.channels.markdown import PARSER, MarkdownWriter

_WIDEST: Final = 76  # signs under a heading, and in a table that is drawn as one
_UNDER: Final = {"h1": "=", "h2": "-"}


def text(markdown: str) -> str:
    """The plain text: underlined headings, bullets, drawn tables, links as `label <address>`."""
    nodes = SyntaxTreeNode(PARSER.parse(markdown)).children
    written = _LetterWriter().written(markdown, nodes)
    return markdown if written is None else written + "\n"


def heading(markdown: str) -> str:
    """The words of the first heading; empty if there is none."""
    for node in SyntaxTreeNode(PARSER.parse(markdown)).children:
        if node.type == "heading":
            return _LetterWriter().blocks(node.children)
    return ""


class _LetterWriter(MarkdownWriter):
    def heading(self, node: SyntaxTreeNode) -> str:
        words = self.blocks(node.children).replace("\n", " ")
        sign = _UNDER.get(node.tag)
        if not words or sign is None:
            return words
        return f"{words}\n{sign * min(_width(words), _WIDEST)}"

    def list_gap(self, items: Iterable[SyntaxTreeNode]) -> str:
        return "\n" if all(map(_is_tight, items)) else "\n\n"

    def table(self, rows: list[SyntaxTreeNode]) -> str:
        cells = [
            [self.blocks(cell.children).replace("\n", " ") for cell in row.children] for row in rows
        ]
        widths = [max(_width(cell) for cell in column) for column in zip(*cells, strict=True)]
        if sum(widths) + 2 * len(widths) > _WIDEST:
            return _records(cells)
        head, *body = ("  ".join(_filled(row, widths)).rstrip() for row in cells)
        return "\n".join((head, "  ".join("-" * width for width in widths), *body))


def _is_tight(item: SyntaxTreeNode) -> bool:
    return all(node.hidden for node in item.children if node.type == "paragraph")


def _records(rows: list[list[str]]) -> str:
    """Render a table that is too wide as one paragraph per row."""
    head, *body = rows
    if not body:
        return " / ".join(head)
    paragraphs = (
        "\n".join(f"{name}: {cell}".strip() for name, cell in zip(head, row, strict=True))
        for row in body
    )
    return "\n\n".join(paragraphs)


def _filled(row: list[str], widths: list[int]) -> Iterable[str]:
    for cell, width in zip(row, widths, strict=True):
        yield cell + " " * (width - _width(cell))


def _width(some: str) -> int:
    """Return the width of a text in fixed-width columns."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in some)
    return len(some) + wide - sum(unicodedata.combining(char) > 0 for char in some)
