"""Renders Markdown as the two parts of a mail: HTML in our layout, and text that reads by itself.

No foreign code is in the HTML, and nothing is fetched. Styles are written on each tag because some
programs read nothing else; a style sheet adds only dark mode and phone layout. A remote picture
would reveal when and where the letter is read, so it is shown as a link.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pkgutil import get_data
from typing import Final, cast
from urllib.parse import urlsplit

import nh3
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from remit.channels.markdown import PARSER, MarkdownWriter
from remit.channels.markdown import parser as markdown_parser
from remit.language.files import read_toml

_STYLES: Final = cast("Mapping[str, str]", read_toml("letter_styles", "remit.channels.mail"))
_TAGS: Final = frozenset(_STYLES) | {"strong", "em", "br", "thead", "tbody", "tr"}
# A new paragraph may be in a script with another direction.
_TURNED: Final = frozenset(_STYLES) - {"a", "code", "pre", "hr", "div", "table", "s"}
_ALIGNED: Final = {"align": {"left", "center", "right"}}
_CLEANER: Final = nh3.Cleaner(
    tags=_TAGS,
    attributes={"a": {"href"}, "ol": {"start"}, "*": set()},
    tag_attribute_values={"th": _ALIGNED, "td": _ALIGNED},
    set_tag_attribute_values={
        tag: {"style": style, "dir": "auto"} if tag in _TURNED else {"style": style}
        for tag, style in _STYLES.items()
    },
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel="noopener noreferrer nofollow",
)
_READER: Final = markdown_parser()
_ADDRESS: Final = re.compile(r"(?:https?://|www\.)[^\s/]", re.IGNORECASE)
_PAGE: Final = (get_data("remit.channels.mail", "letter.html") or b"").decode()


def page(markdown: str, title: str) -> str:
    before, after = _PAGE.split("{letter}")
    return before.replace("{title}", html.escape(title)) + fragment(markdown) + after


def fragment(markdown: str) -> str:
    """Return the letter alone: allowed tags, links to http, https and mailto only."""
    tokens = list(_shown(_READER.parse(markdown)))
    return _CLEANER.clean(_READER.renderer.render(tokens, _READER.options, {})).strip()


def _shown(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield the blocks: wide tables can scroll, and columns keep their alignment."""
    for token in tokens:
        if token.type == "table_open":
            yield Token("div_open", "div", 1, block=True)
        if token.type in ("th_open", "td_open"):
            token.attrs = _aligned(token)
        if token.type == "inline":
            token.children = list(_inline(token.children or []))
        yield token
        if token.type == "table_close":
            yield Token("div_close", "div", -1, block=True)


def _aligned(cell: Token) -> dict[str, str | int | float]:
    side = str(cell.attrs.get("style", "")).removeprefix("text-align:")
    return {"align": side or "left"}


def _inline(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the inline tokens: line breaks kept, pictures as links, honest links."""
    link: list[Token] = []
    for token in tokens:
        if token.type == "softbreak":  # a name below a greeting stays there
            yield Token("hardbreak", "br", 0)
        elif token.type == "image":
            yield from _picture(token, within_link=bool(link))
        else:
            yield token
        if token.type == "link_open" or link:
            link.append(token)
        if token.type == "link_close":
            yield from _place(link)
            link = []


def _picture(image: Token, *, within_link: bool) -> Iterator[Token]:
    words = "".join(_words(image.children or [])).strip() or "picture"
    label = Token("text", "", 0, content=words)
    if within_link:
        yield label
        return
    yield Token("link_open", "a", 1, attrs={"href": image.attrs.get("src", "")})
    yield label
    yield Token("link_close", "a", -1)


def _words(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        yield token.content if token.type != "image" else "".join(_words(token.children or []))


def _place(link: Sequence[Token]) -> Iterator[Token]:
    """Yield a link's target if its label looks like another place."""
    label = "".join(_words(link)).strip().lower()
    target = urlsplit(str(link[0].attrs.get("href", "")))
    if _ADDRESS.match(label) and _host(label) != (target.hostname or ""):
        yield Token("text", "", 0, content=f" ({target.netloc or target.path})")


def _host(label: str) -> str:
    try:
        whole = label if "://" in label else f"https://{label}"
        return urlsplit(_READER.normalizeLink(whole.split()[0])).hostname or ""
    except ValueError:
        return ""


_WIDEST: Final = 76  # signs under a heading, and in a table that is drawn as one
_UNDER: Final = {"h1": "=", "h2": "-"}


def plain_text(markdown: str) -> str:
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
    bullet = "-"
    rule = "-" * 24

    def link(self, label: str, title: str, address: str) -> str:
        inside = ": ".join(each for each in (title, f"<{address}>" if address else "") if each)
        return " ".join(each for each in (label, inside) if each)

    def heading(self, node: SyntaxTreeNode) -> str:
        words = self.blocks(node.children).replace("\n", " ")
        sign = _UNDER.get(node.tag)
        if not words or sign is None:
            return words
        return f"{words}\n{sign * min(_width(words), _WIDEST)}"

    def list_gap(self, items: Iterable[SyntaxTreeNode]) -> str:
        paragraphs = (node for item in items for node in item.children if node.type == "paragraph")
        return "\n" if all(node.hidden for node in paragraphs) else "\n\n"

    def table(self, rows: list[SyntaxTreeNode]) -> str:
        cells = [
            [self.blocks(cell.children).replace("\n", " ") for cell in row.children] for row in rows
        ]
        widths = [max(_width(cell) for cell in column) for column in zip(*cells, strict=True)]
        if sum(widths) + 2 * len(widths) > _WIDEST:
            return _records(cells)
        head, *body = ("  ".join(_filled(row, widths)).rstrip() for row in cells)
        return "\n".join((head, "  ".join("-" * width for width in widths), *body))


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
