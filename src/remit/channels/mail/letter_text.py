"""Renders Markdown as readable plain text without losing a word.

It is for readers without HTML, and for programs that search in mails. A text that cannot be
converted without loss stays as it was written.
"""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

_WORD: Final = re.compile(r"[^\W_]+")
_WIDEST: Final = 76  # characters under a heading, and in a drawn table
_LANGUAGE: Final = re.compile(r"[\w+#.-]*")  # language of a code block: no text
_UNDER: Final = {"h1": "=", "h2": "-"}


class _Reader(MarkdownIt):
    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the library's name
        """Leave an address as it was written; the escaped form is unreadable."""
        return url


# Without references: an unused one would vanish, and it may be the list of sources.
_READER: Final = (
    _Reader("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("reference")
)


def text(markdown: str) -> str:
    """Return plain text: underlined headings, bullets, drawn tables, `label <address>` links."""
    writer = _Writer()
    written = writer.blocks(SyntaxTreeNode(_READER.parse(markdown)).children).strip("\n") + "\n"
    there = _words(written) + writer.left_out
    whole = any(not _words(source) - there for source in (markdown, html.unescape(markdown)))
    return written if whole else markdown


def heading(markdown: str) -> str:
    """Return the words of the first heading; empty if there is none."""
    for node in SyntaxTreeNode(_READER.parse(markdown)).children:
        if node.type == "heading":
            return _Writer().blocks(node.children)
    return ""


def _words(some: str) -> Counter[str]:
    return Counter(_WORD.findall(some))


class _Writer:
    """Renders a tree. `left_out` counts the words omitted on purpose."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self._blocks: Mapping[str, Callable[[SyntaxTreeNode], str]] = {
            "paragraph": lambda node: self.blocks(node.children),
            "inline": lambda node: self._inline(node.children),
            "heading": self._heading,
            "bullet_list": self._list,
            "ordered_list": self._list,
            "blockquote": lambda node: _before("> ", self.blocks(node.children)),
            "fence": self._code,
            "code_block": self._code,
            "hr": lambda _: "-" * 24,
            "table": self._table,
        }
        self._inlines: Mapping[str, Callable[[SyntaxTreeNode], str]] = {
            "text": lambda node: node.content,
            "softbreak": lambda _: "\n",
            "hardbreak": lambda _: "\n",
            "code_inline": lambda node: node.content,
            "strong": lambda node: f"*{self._inline(node.children)}*",
            "em": lambda node: f"_{self._inline(node.children)}_",
            "s": lambda node: f"~{self._inline(node.children)}~",
            "link": lambda node: self._link(node, "href"),
            "image": lambda node: self._link(node, "src"),
        }

    def blocks(self, nodes: Iterable[SyntaxTreeNode]) -> str:
        """Render blocks below each other; a list that belongs to a line stays close to it."""
        written = ""
        for node in nodes:
            block = self._blocks[node.type](node)
            if written and block:
                written += "\n" if _clings(node) else "\n\n"
            written += block
        return written

    def _inline(self, nodes: Iterable[SyntaxTreeNode]) -> str:
        return "".join(self._inlines[node.type](node) for node in nodes)

    def _heading(self, node: SyntaxTreeNode) -> str:
        words = self.blocks(node.children).replace("\n", " ")
        sign = _UNDER.get(node.tag)
        if not words or sign is None:
            return words
        return f"{words}\n{sign * min(_width(words), _WIDEST)}"

    def _list(self, node: SyntaxTreeNode) -> str:
        first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        loose = any(not _is_tight(item) for item in node.children)
        items = (self._item(item, first, n) for n, item in enumerate(node.children))
        return ("\n\n" if loose else "\n").join(items)

    def _item(self, item: SyntaxTreeNode, first: int | None, n: int) -> str:
        sign = "-"
        if first is not None:
            sign = f"{first + n}{item.markup}"
            self.left_out.update(_words(item.info))  # items are renumbered, as Markdown does
        head, *rest = self.blocks(item.children).split("\n")
        indent = " " * (len(sign) + 1)
        lines = (f"{indent}{line}".rstrip() for line in rest)
        return "\n".join((f"{sign} {head}".rstrip(), *lines))

    def _code(self, node: SyntaxTreeNode) -> str:
        hint = node.info.strip()
        first = "" if _LANGUAGE.fullmatch(hint) else f"{hint}\n"
        if not first:
            self.left_out.update(_words(hint))
        return _before("    ", first + node.content.rstrip("\n"))

    def _table(self, node: SyntaxTreeNode) -> str:
        rows = [
            [self._cell(cell) for cell in row.children]
            for part in node.children
            for row in part.children
        ]
        widths = [max(_width(cell) for cell in column) for column in zip(*rows, strict=True)]
        if sum(widths) + 2 * len(widths) > _WIDEST:
            return _records(rows)
        head, *body = ("  ".join(_filled(row, widths)).rstrip() for row in rows)
        return "\n".join((head, "  ".join("-" * width for width in widths), *body))

    def _cell(self, cell: SyntaxTreeNode) -> str:
        return self.blocks(cell.children).replace("\n", " ")

    def _link(self, node: SyntaxTreeNode, attribute: str) -> str:
        label = self._inline(node.children)
        target = str(node.attrs.get(attribute, ""))
        title = str(node.attrs.get("title", ""))
        bare = label.strip("*_~")
        if not title and bare and target in (bare, f"mailto:{bare}"):
            if node.markup != "autolink":
                self.left_out.update(_words(target))
            return label
        inside = ": ".join(each for each in (title, f"<{target}>" if target else "") if each)
        return " ".join(each for each in (label, inside) if each)


def _clings(node: SyntaxTreeNode) -> bool:
    listed = node.parent is not None and node.parent.type == "list_item"
    return listed and (node.type.endswith("_list") or (node.type == "paragraph" and node.hidden))


def _is_tight(item: SyntaxTreeNode) -> bool:
    return all(node.hidden for node in item.children if node.type == "paragraph")


def _before(mark: str, block: str) -> str:
    return "\n".join(f"{mark}{line}".rstrip() for line in block.split("\n"))


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
