"""What WhatsApp's Cloud API takes and answers: a message as it is shown there, and error codes."""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from msgspec import Struct, convert
from msgspec.structs import replace

from remit.channels.markdown import PARSER, MarkdownWriter
from remit.language.files import read_toml
from remit.model.delivery import Locked, Parcel, Refused, SendRetry

_CODE: Final = "```"


def message_text(markdown: str) -> str:
    """The text for WhatsApp: *bold* headings, bullets, links as `label (address)`, rows, code."""
    tokens = PARSER.parse(markdown)
    if _is_plain(tokens):
        return markdown
    written = _MessageWriter().written(markdown, SyntaxTreeNode(tokens).children)
    return markdown if written is None else written


def _is_plain(tokens: Iterable[Token]) -> bool:
    for token in tokens:
        if token.level == 0 and token.type not in ("paragraph_open", "paragraph_close"):
            return False
        if token.type == "inline":
            written = _MessageWriter().inline(SyntaxTreeNode([token]).children[0].children)
            if _lines(written) != _lines(token.content):
                return False
    return True


def _lines(some: str) -> list[str]:
    return [line.strip() for line in some.split("\n")]


class _MessageWriter(MarkdownWriter):
    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []  # marks that are open, outermost first

    def line(self, node: SyntaxTreeNode) -> str:
        return _with_indentation(self.inline(node.children), node.content)

    def heading(self, node: SyntaxTreeNode) -> str:
        self._open.append("*")
        inner = self.blocks(node.children)
        self._open.pop()
        return f"*{inner}*" if inner else ""

    def table(self, rows: list[SyntaxTreeNode]) -> str:
        return "\n".join(" | ".join(map(self._cell, row.children)) for row in rows)

    def _cell(self, cell: SyntaxTreeNode) -> str:
        return self.heading(cell) if cell.type == "th" else self.blocks(cell.children)

    def line_break(self) -> str:
        # WhatsApp reads no mark across the end of a line.
        return "".join(reversed(self._open)) + "\n" + "".join(self._open)

    def code_block(self, code: str) -> str:
        return f"{_CODE}\n{code}\n{_CODE}"

    def code_span(self, code: str) -> str:
        tick = _CODE if "`" in code else "`"
        return tick + code + tick

    def emphasis(self, node: SyntaxTreeNode) -> str:
        # Who writes for WhatsApp means bold by *one star*; within bold it can only be the other.
        both = any(child.type == "strong" for child in node.children)
        bold = node.markup == "*" and not both and "*" not in self._open
        return self.with_mark("*" if bold else "_", node)

    def with_mark(self, mark: str, node: SyntaxTreeNode) -> str:
        if mark in self._open:
            return self.inline(node.children)
        self._open.append(mark)
        inner = self.inline(node.children)
        self._open.pop()
        return f"{mark}{inner}{mark}"


def _with_indentation(written: str, source: str) -> str:
    """Return the lines with their original indentation."""
    lines, sources = written.split("\n"), source.split("\n")
    if len(lines) != len(sources):
        return written
    edges = (each[: len(each) - len(each.lstrip(" "))] for each in sources)
    return "\n".join(edge + line for edge, line in zip(edges, lines, strict=True))


_MAX_BUTTONS: Final = 3  # beside each other


def free_message(parcel: Parcel) -> Mapping[str, object]:
    """A message within the window: a file, buttons, or plain text."""
    if parcel.uploads:
        document = {"id": parcel.uploads[0], "filename": parcel.files[0].name}
        return {"type": "document", "document": document}
    if parcel.buttons:
        return {"type": "interactive", "interactive": _interactive(parcel)}
    return {"type": "text", "text": {"body": parcel.body, "preview_url": False}}


def _interactive(parcel: Parcel) -> Mapping[str, object]:
    """A message with buttons; WhatsApp shows more than three as a list."""
    body = {"text": parcel.body}
    rows = [{"id": each.data, "title": each.label} for each in parcel.buttons]
    if len(rows) <= _MAX_BUTTONS:
        keys = [{"type": "reply", "reply": each} for each in rows]
        return {"type": "button", "body": body, "action": {"buttons": keys}}
    action = {"button": "Decide", "sections": [{"title": "Your answer", "rows": rows}]}
    return {"type": "list", "body": body, "action": action}


NotSent: TypeAlias = SendRetry | Refused | Locked
_RIGHTS: Final = range(200, 300)  # each is a missing permission, as 10 is
_MISSING_RIGHT: Final = 10


class _Meaning(Struct, frozen=True):
    codes: tuple[int, ...]
    why: str
    after: float | None = None  # seconds


def _load() -> Mapping[int, NotSent]:
    found = convert(read_toml("error_codes", "remit.channels.whatsapp"), dict[str, list[_Meaning]])
    return {
        **{code: SendRetry(each.why, each.after) for each in found["retry"] for code in each.codes},
        **{code: Locked(each.why) for each in found["locked"] for code in each.codes},
        **{code: Refused(each.why) for each in found["refused"] for code in each.codes},
    }


ANSWERS_OF_CODES: Final = _load()


def is_known_code(code: int) -> bool:
    """Whether a code alone says that the message was not sent."""
    return code in ANSWERS_OF_CODES or code in _RIGHTS


def answer_of_code(code: int, text: str, after: float | None = None) -> NotSent:
    """Return what a code means, with the provider's words and the pause that it asks for.

    Every answer here means that the message was definitely not sent.
    """
    listed = _MISSING_RIGHT if code in _RIGHTS else code
    found = ANSWERS_OF_CODES.get(listed, Refused("WhatsApp refused the message"))
    why = f"{found.why} (code {code}{f': {text}' if text else ''})."
    if isinstance(found, SendRetry) and after is not None:
        return replace(found, why=why, after=after)
    return replace(found, why=why)
