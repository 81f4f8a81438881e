"""Markdown as plain text: one parser and one writer; a channel gives it the marks of its own.

No word is lost on the way. A text that could not be turned without losing a word stays as it was
written: better a stray sign than a sentence that never arrived.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

_WORD: Final = re.compile(r"[^\W_]+")
_LEADS: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+|www\.\S+", re.IGNORECASE)
# Markdown and HTML markup characters become harmless ones.
_INERT: Final = str.maketrans("*`~[]<>\\|", "·'-()()//")
_MAX_READ: Final = 1_000  # characters of a text that becomes one line
_LANGUAGE: Final = re.compile(r"[\w+#.-]*")  # of a code block: a hint to who colours it, not text

NodeWriter = Callable[[SyntaxTreeNode], str]


def parser(kind: type[MarkdownIt] = MarkdownIt) -> MarkdownIt:
    """Return a parser for Markdown of others: no HTML, and no reference.

    A reference that nothing points to would vanish, and it may be the list of sources.
    """
    made = kind("commonmark", {"html": False})
    return made.enable(["table", "strikethrough"]).disable("reference")


class _PlainLinks(MarkdownIt):
    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the library's name
        """Leave an address as it was written; an escaped one is the same place, but unreadable."""
        return url


PARSER: Final = parser(_PlainLinks)


class MarkdownWriter:
    """Writes a tree down. `left_out` counts the words that it leaves out on purpose."""

    bullet = "•"
    rule = "———"

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self._writers: Mapping[str, NodeWriter] = {
            "paragraph": lambda node: self.blocks(node.children),
            "inline": self.line,
            "heading": self.heading,
            "bullet_list": self._list,
            "ordered_list": self._list,
            "blockquote": lambda node: prefix_lines("> ", self.blocks(node.children)),
            "fence": self._code,
            "code_block": self._code,
            "hr": lambda _: self.rule,
            "table": lambda node: self.table(
                [row for part in node.children for row in part.children]
            ),
            "softbreak": lambda _: self.line_break(),
            "hardbreak": lambda _: self.line_break(),
            "code_inline": lambda node: self.code_span(node.content),
            "strong": lambda node: self.with_mark("*", node),
            "em": self.emphasis,
            "s": lambda node: self.with_mark("~", node),
            "link": lambda node: self._link(node, "href"),
            "image": lambda node: self._link(node, "src"),
        }

    # What a channel may write in its own way.

    def line(self, node: SyntaxTreeNode) -> str:
        return self.inline(node.children)

    def heading(self, node: SyntaxTreeNode) -> str:
        return self.blocks(node.children)

    def table(self, rows: list[SyntaxTreeNode]) -> str:
        raise NotImplementedError

    def list_gap(self, items: Iterable[SyntaxTreeNode]) -> str:  # noqa: ARG002 - for who looks
        return "\n"

    def line_break(self) -> str:
        return "\n"

    def code_block(self, code: str) -> str:
        return prefix_lines("    ", code)

    def code_span(self, code: str) -> str:
        return code

    def with_mark(self, mark: str, node: SyntaxTreeNode) -> str:
        return f"{mark}{self.inline(node.children)}{mark}"

    def emphasis(self, node: SyntaxTreeNode) -> str:
        return self.with_mark("_", node)

    def link(self, label: str, title: str, address: str) -> str:
        inside = ": ".join(each for each in (title, address) if each)
        return f"{label} ({inside})" if label and inside else label or inside

    # What is the same everywhere.

    def written(self, markdown: str, nodes: Iterable[SyntaxTreeNode]) -> str | None:
        """The text of a whole tree; None if a word of its source were lost."""
        text = self.blocks(nodes).strip("\n")
        there = _words(text) + self.left_out
        sources = (markdown, html.unescape(markdown))
        return text if any(not _words(source) - there for source in sources) else None

    def blocks(self, nodes: Iterable[SyntaxTreeNode]) -> str:
        """Join blocks by empty lines; a list stays close to the line above it."""
        written = ""
        for node in nodes:
            block = self._write_node(node)
            if written and block:
                written += "\n" if _is_close(node) else "\n\n"
            written += block
        return written

    def inline(self, nodes: Iterable[SyntaxTreeNode]) -> str:
        return "".join(map(self._write_node, nodes))

    def _write_node(self, node: SyntaxTreeNode) -> str:
        # Text as it is, and so whatever else the library may come to know.
        writer = self._writers.get(node.type)
        return writer(node) if writer else node.content

    def _list(self, node: SyntaxTreeNode) -> str:
        first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        items = (self._item(item, first, n) for n, item in enumerate(node.children))
        return self.list_gap(node.children).join(items)

    def _item(self, item: SyntaxTreeNode, first: int | None, n: int) -> str:
        sign = self.bullet
        if first is not None:
            sign = f"{first + n}{item.markup}"
            self.left_out.update(_words(item.info))  # it is numbered anew, as markdown has it
        head, *rest = self.blocks(item.children).split("\n")
        lines = prefix_lines(" " * (len(sign) + 1), "\n".join(rest))
        return "\n".join((f"{sign} {head}".rstrip(), *([lines] if rest else [])))

    def _code(self, node: SyntaxTreeNode) -> str:
        hint, code = node.info.strip(), node.content.rstrip("\n")
        if code and _LANGUAGE.fullmatch(hint):
            self.left_out.update(_words(hint))
        elif hint:
            code = f"{hint}\n{code}".rstrip()
        return self.code_block(code)

    def _link(self, node: SyntaxTreeNode, attribute: str) -> str:
        label = self.inline(node.children)
        address, title = (str(node.attrs.get(name, "")) for name in (attribute, "title"))
        bare = label.strip("`*_~")
        if not title and bare and address in (bare, f"mailto:{bare}"):
            if node.markup != "autolink":
                self.left_out.update(_words(address))
            return label
        return self.link(label, title, address)


def prefix_lines(mark: str, block: str) -> str:
    return "\n".join(f"{mark}{line}".rstrip() for line in block.split("\n"))


def _words(some: str) -> Counter[str]:
    return Counter(_WORD.findall(some))


def _is_close(node: SyntaxTreeNode) -> bool:
    listed = node.parent is not None and node.parent.type == "list_item"
    return listed and (node.type.endswith("_list") or (node.type == "paragraph" and node.hidden))


def plain(text: str, most: int) -> str:
    """Return a text as plain words on one line, shortened to `most`: it marks up nothing."""
    # Remove invisible characters first: they may split an address.
    seen = "".join(char for char in text[:_MAX_READ] if char.isprintable() or char.isspace())
    line = _LEADS.sub("(link)", " ".join(seen.split())).translate(_INERT)
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
