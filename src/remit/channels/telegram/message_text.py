"""Markdown as Telegram's text and entities, computed by code: no sign in a text can break it.

The writer puts private characters around what is marked; they are counted and taken out. An
address always stays visible, so nobody follows a link whose target was not shown.
"""

import re
from collections.abc import Mapping
from typing import Final

from markdown_it.tree import SyntaxTreeNode
from msgspec import Struct

from remit.channels import parts
from remit.channels.markdown import PARSER, MarkdownWriter
from remit.model.codec import JsonMap

MAX_UNITS: Final = 4096  # UTF-16 units of one message
_FIRST: Final = 0xE000  # of the private characters that stand around a mark
_KINDS: Final = ("bold", "italic", "strikethrough", "code", "pre")
_OPEN: Final[Mapping[str, str]] = {kind: chr(_FIRST + n) for n, kind in enumerate(_KINDS)}
_CLOSE: Final = chr(_FIRST + len(_KINDS))
_PRIVATE: Final = re.compile(f"[{chr(_FIRST)}-{_CLOSE}]")
_IN_A_WORD: Final = re.compile(r"\w[*_~]+\w")  # 2*3*4 and file_name_here are no marks
_CODE: Final = re.compile(r"(`+)[^`]+\1|https?://\S+", re.DOTALL)
_MARKS: Final = {"*": "bold", "_": "italic", "~": "strikethrough"}


class MarkedText(Struct, frozen=True):
    text: str
    entities: tuple[JsonMap, ...] = ()


def units(text: str) -> int:
    """How long Telegram takes a text to be."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split(text: str) -> tuple[str, ...]:
    """The exact messages that a text is sent as; none is longer than Telegram takes."""
    return tuple(
        piece
        for part in parts.split(text, MAX_UNITS)
        for piece in ((part,) if units(part) <= MAX_UNITS else parts.split(part, MAX_UNITS // 2))
    )


def render(markdown: str) -> MarkedText:
    """The text that is shown, with its marks; in doubt, and if a word were lost, as it is."""
    if _PRIVATE.search(markdown) or _IN_A_WORD.search(_CODE.sub("", markdown)):
        return MarkedText(markdown)
    written = _EntityWriter().written(markdown, SyntaxTreeNode(PARSER.parse(markdown)).children)
    made = _counted(written) if written is not None else MarkedText(markdown)
    fits = made.text.strip() and units(made.text) <= MAX_UNITS
    return made if fits else MarkedText(markdown)


class _EntityWriter(MarkdownWriter):
    bullet = "•"
    rule = "———"

    def heading(self, node: SyntaxTreeNode) -> str:
        return _marked("bold", self.blocks(node.children))

    def table(self, rows: list[SyntaxTreeNode]) -> str:
        return "\n".join(
            " | ".join(self.blocks(cell.children) for cell in row.children) for row in rows
        )

    def code_block(self, code: str) -> str:
        return _marked("pre", code)

    def code_span(self, code: str) -> str:
        return _marked("code", code)

    def marked(self, mark: str, node: SyntaxTreeNode) -> str:
        return _marked(_MARKS[mark], self.inline(node.children))

    def link(self, label: str, title: str, address: str) -> str:
        inside = ": ".join(each for each in (title, address) if each)
        return f"{label} ({inside})" if label and inside else label or inside


def _marked(kind: str, text: str) -> str:
    return f"{_OPEN[kind]}{text}{_CLOSE}" if text.strip() else text


def _counted(written: str) -> MarkedText:
    """Take the private characters out, and say where each mark begins and ends."""
    pieces: list[str] = []
    marks: list[tuple[int, int, str]] = []
    open_marks: list[tuple[str, int]] = []
    at = last = 0
    for found in _PRIVATE.finditer(written):
        piece = written[last : found.start()]
        pieces.append(piece)
        at, last = at + units(piece), found.end()
        if found[0] != _CLOSE:
            open_marks.append((_KINDS[ord(found[0]) - _FIRST], at))
        elif open_marks:
            kind, begin = open_marks.pop()
            marks.append((begin, at - begin, kind))
    pieces.append(written[last:])
    entities: list[JsonMap] = [
        {"type": kind, "offset": begin, "length": length}
        for begin, length, kind in sorted(marks)
        if length
    ]
    return MarkedText("".join(pieces), tuple(entities))
