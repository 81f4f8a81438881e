"""Renders Markdown as WhatsApp text without losing a word.

A text without Markdown, or with only marks that WhatsApp understands, stays exactly as it is. So
does one that could not be converted without losing a word.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

_WORD: Final = re.compile(r"[^\W_]+")
_LANGUAGE: Final = re.compile(r"[\w+#.-]*")  # language of a code block: no text
_CODE: Final = "```"


class _Reader(MarkdownIt):
    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the library's name
        """Leave an address as it was written; the escaped form is unreadable."""
        return url


# Without references: an unused one would vanish, and it may be the list of sources.
_READER: Final = (
    _Reader("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("reference")
)


def text(markdown: str) -> str:
    """Return WhatsApp text: *bold* headings, bullets, `label (address)` links, rows, code."""
    tokens = _READER.parse(markdown)
    if _is_plain(tokens):
        return markdown
    writer = _Writer()
    written = writer.blocks(SyntaxTreeNode(tokens).children).strip("\n")
    return written if _nothing_lost(markdown, written, writer.left_out) else markdown


def _is_plain(tokens: Iterable[Token]) -> bool:
    for token in tokens:
        if token.level == 0 and token.type not in ("paragraph_open", "paragraph_close"):
            return False
        if token.type == "inline":
            written = _Writer().inline(SyntaxTreeNode([token]).children[0].children)
            if _lines(written) != _lines(token.content):
                return False
    return True


def _lines(some: str) -> list[str]:
    return [line.strip() for line in some.split("\n")]


def _nothing_lost(markdown: str, written: str, left_out: Counter[str]) -> bool:
    there = _words(written) + left_out
    return any(not _words(source) - there for source in (markdown, html.unescape(markdown)))


def _words(some: str) -> Counter[str]:
    return Counter(_WORD.findall(some))


class _Writer:
    """Renders a tree. `left_out` counts the words omitted on purpose."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self._open: list[str] = []  # open marks, outermost first
        self._blocks: Mapping[str, Callable[[SyntaxTreeNode], str]] = {
            "paragraph": lambda node: self.blocks(node.children),
            "inline": lambda node: _placed(self.inline(node.children), node.content),
            "heading": self._heading,
            "bullet_list": self._list,
            "ordered_list": self._list,
            "blockquote": self._quote,
            "fence": self._code,
            "code_block": self._code,
            "hr": lambda _: "———",
            "table": self._table,
        }
        self._inlines: Mapping[str, Callable[[SyntaxTreeNode], str]] = {
            "softbreak": lambda _: self._break(),
            "hardbreak": lambda _: self._break(),
            "code_inline": lambda node: _tick(node.content) + node.content + _tick(node.content),
            "strong": lambda node: self._marked("*", node),
            "em": self._emphasis,
            "s": lambda node: self._marked("~", node),
            "link": lambda node: self._link(node, "href"),
            "image": lambda node: self._link(node, "src"),
        }

    def blocks(self, nodes: Iterable[SyntaxTreeNode]) -> str:
        """Render blocks below each other; a list that belongs to a line stays close to it."""
        written = ""
        for node in nodes:
            block = self._blocks.get(node.type, _content)(node)
            if written and block:
                written += "\n" if _clings(node) else "\n\n"
            written += block
        return written

    def inline(self, nodes: Iterable[SyntaxTreeNode]) -> str:
        return "".join(self._inlines.get(node.type, _content)(node) for node in nodes)

    def _heading(self, node: SyntaxTreeNode) -> str:
        self._open.append("*")
        inner = self.blocks(node.children)
        self._open.pop()
        return f"*{inner}*" if inner else ""

    def _list(self, node: SyntaxTreeNode) -> str:
        first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        return "\n".join(self._item(item, first, n) for n, item in enumerate(node.children))

    def _item(self, item: SyntaxTreeNode, first: int | None, n: int) -> str:
        sign = "•"
        if first is not None:
            sign = f"{first + n}{item.markup}"
            self.left_out.update(_words(item.info))  # items are renumbered, as Markdown does
        head, *rest = self.blocks(item.children).split("\n")
        indent = " " * (len(sign) + 1)
        return "\n".join([f"{sign} {head}".rstrip(), *(_indented(line, indent) for line in rest)])

    def _quote(self, node: SyntaxTreeNode) -> str:
        return "\n".join(f"> {line}".rstrip() for line in self.blocks(node.children).split("\n"))

    def _code(self, node: SyntaxTreeNode) -> str:
        hint, code = node.info.strip(), node.content.rstrip()
        if code and _LANGUAGE.fullmatch(hint):
            self.left_out.update(_words(hint))
        elif hint:
            code = f"{hint}\n{code}".rstrip()
        return f"{_CODE}\n{code}\n{_CODE}"

    def _table(self, node: SyntaxTreeNode) -> str:
        rows = [row for part in node.children for row in part.children]
        return "\n".join(" | ".join(self._cell(cell) for cell in row.children) for row in rows)

    def _cell(self, cell: SyntaxTreeNode) -> str:
        return self._heading(cell) if cell.type == "th" else self.blocks(cell.children)

    def _break(self) -> str:
        # WhatsApp reads no mark across a line end.
        return "".join(reversed(self._open)) + "\n" + "".join(self._open)

    def _emphasis(self, node: SyntaxTreeNode) -> str:
        # In text for WhatsApp one star means bold; within bold it can only be italic.
        both = any(child.type == "strong" for child in node.children)
        bold = node.markup == "*" and not both and "*" not in self._open
        return self._marked("*" if bold else "_", node)

    def _marked(self, mark: str, node: SyntaxTreeNode) -> str:
        if mark in self._open:
            return self.inline(node.children)
        self._open.append(mark)
        inner = self.inline(node.children)
        self._open.pop()
        return f"{mark}{inner}{mark}"

    def _link(self, node: SyntaxTreeNode, attribute: str) -> str:
        label = self.inline(node.children)
        address = str(node.attrs.get(attribute, ""))
        title = str(node.attrs.get("title", ""))
        bare = label.strip("`*_~")
        if not title and bare and address in (bare, f"mailto:{bare}"):
            if node.markup != "autolink":
                self.left_out.update(_words(address))
            return label
        inside = ": ".join(each for each in (title, address) if each)
        return f"{label} ({inside})" if label and inside else label or inside


def _content(node: SyntaxTreeNode) -> str:
    """Return text as it is; also for node types that are not known yet."""
    return node.content


def _placed(written: str, source: str) -> str:
    """Return the lines with their original indentation."""
    lines, sources = written.split("\n"), source.split("\n")
    if len(lines) != len(sources):
        return written
    edges = (each[: len(each) - len(each.lstrip(" "))] for each in sources)
    return "\n".join(edge + line for edge, line in zip(edges, lines, strict=True))


def _clings(node: SyntaxTreeNode) -> bool:
    listed = node.parent is not None and node.parent.type == "list_item"
    hidden = bool(node.children) and node.type == "paragraph" and node.hidden
    return listed and (hidden or node.type.endswith("_list"))


def _tick(code: str) -> str:
    return _CODE if "`" in code else "`"


def _indented(line: str, indent: str) -> str:
    return indent + line if line else line
