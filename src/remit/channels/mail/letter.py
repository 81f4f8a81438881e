"""Composes a letter: the exact bytes of one delivery to one address.

The same delivery gives the same bytes, except for the date. Nothing is added to the text that
passed the gate but a title, a layout, and the same text as plain text.

No foreign code is in the HTML, and nothing is fetched. Styles are written on each tag because some
programs read nothing else; a style sheet adds only dark mode and phone layout. A remote picture
would reveal when and where the letter is read, so it is shown as a link.
"""

import base64
import hashlib
import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from email.utils import format_datetime
from pkgutil import get_data
from typing import Final, cast
from urllib.parse import quote, urlsplit

import nh3
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from msgspec import Struct

from remit.channels.mail import letter_head
from remit.channels.mail.letter_head import MailAddress
from remit.channels.markdown import PARSER, MarkdownWriter
from remit.channels.markdown import parser as markdown_parser
from remit.language.files import read_toml
from remit.model.task_file import FileContent

_LINE: Final = 76
_PLAIN: Final = frozenset(range(0x21, 0x7F)) - {ord("=")}
_MEDIA: Final = re.compile(r"[a-z0-9]+/[a-z0-9.+-]+")
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9._ -]{1,60}")
_NAME_PIECE: Final = re.compile(r"(?:%[0-9A-F]{2}|[^%]){1,20}")  # never within a character's code
_MARKED: Final = re.compile(r"(?<!\w)([*_~])(?=\S)([^*_~\n]+)(?<=\S)\1(?!\w)")  # emphasis
_BREAK: Final = re.compile(r"\r\n|\r|\n")
# A dot ends a letter, and From starts one in a mailbox file.
_AT_START: Final = {b".": b"=2E", b"F": b"=46"}


class MailThread(Struct, frozen=True):
    """The thread of a letter: its title, and the ids of earlier letters."""

    title: str | None = None
    earlier: tuple[str, ...] = ()  # oldest first


class MailSender(Struct, frozen=True):
    """The sender, and who gets replies."""

    address: MailAddress
    reply_to: MailAddress | None = None

    @property
    def is_ascii(self) -> bool:
        return self.address.is_ascii and (self.reply_to is None or self.reply_to.is_ascii)


class OutgoingMail(Struct, frozen=True):
    """A letter. `wire` ends with a line break; all its lines are short and none ends it early."""

    message_id: str
    sender: MailAddress
    to: MailAddress
    wire: bytes
    utf8: bool  # an address is not ASCII: only an SMTPUTF8 server can take it


class MailContent(Struct, frozen=True):
    """The recipient, text, thread and files of a letter."""

    key: str
    to: MailAddress
    body: str  # markdown
    thread: MailThread = MailThread()
    files: tuple[FileContent, ...] = ()


def compose(note: MailContent, sender: MailSender, now: datetime) -> OutgoingMail:
    """Return the letter; BadInput if it cannot be written without changing its text."""
    made = letter_head.message_id(note.key, sender.address.domain)
    utf8 = not (sender.is_ascii and note.to.is_ascii)
    words = plain_text(note.body)
    title = _subject(note, words)
    plain = _part("text/plain", words)
    rich = _part("text/html", page(note.body, title))
    kind, parts = _join_mime_parts("alternative", (plain, rich))
    if note.files:
        text = letter_head.head((("Content-Type", kind),)) + parts.rstrip()
        kind, parts = _join_mime_parts("mixed", (text, *map(_file_part, note.files)))
    fields = [
        ("Date", format_datetime(now)),
        ("From", letter_head.mailbox(sender.address)),
        *([("Reply-To", letter_head.mailbox(sender.reply_to))] if sender.reply_to else []),
        ("To", letter_head.mailbox(note.to)),
        ("Subject", letter_head.header_value(title, len("Subject: "))),
        ("Message-ID", made),
        *_earlier(note.thread),
        ("Auto-Submitted", "auto-generated"),
        ("MIME-Version", "1.0"),
        ("Content-Type", kind),
    ]
    return OutgoingMail(
        made, sender.address, note.to, letter_head.head(fields, utf8=utf8) + parts, utf8
    )


def _join_mime_parts(kind: str, parts: Sequence[bytes]) -> tuple[str, bytes]:
    """Return the type and the bytes of several parts as one."""
    # Neither quoted-printable nor base64 contains "=_", so no part can end itself.
    border = "=_" + hashlib.sha256(b"".join(parts)).hexdigest()[:32]
    line = f"--{border}".encode("ascii")
    lines = (piece for part in parts for piece in (line, part))
    body = b"\r\n".join((*lines, line + b"--", b""))
    return f'multipart/{kind};\r\n boundary="{border}"', body


def _file_part(file: FileContent) -> bytes:
    """Return a file as a part; a name that is not plain is written as RFC 2231 has it."""
    named = [f'filename="{file.name}"']
    if not _PLAIN_NAME.fullmatch(file.name):
        pieces = _NAME_PIECE.findall("UTF-8''" + quote(file.name, safe=""))
        named = [f"filename*{n}*={piece}" for n, piece in enumerate(pieces)]
    fields = (
        ("Content-Type", file.type if _MEDIA.fullmatch(file.type) else "application/octet-stream"),
        ("Content-Transfer-Encoding", "base64"),
        ("Content-Disposition", ";\r\n ".join(("attachment", *named))),
    )
    packed = base64.encodebytes(file.content).replace(b"\n", b"\r\n").rstrip()
    return letter_head.head(fields) + packed


def subject_of(body: str, words: str | None = None) -> str:
    """Return the subject that a text gives by itself; may be empty.

    `words` is the plain text, if the caller has it.
    """
    words = plain_text(body) if words is None else words
    made = letter_head.subject(heading(body))
    return made or letter_head.subject(letter_head.opening(_MARKED.sub(r"\2", words)))


def _subject(note: MailContent, words: str) -> str:
    """Return the given title, or the first heading, or the first words."""
    made = letter_head.subject(note.thread.title or "") or subject_of(note.body, words)
    if not made:
        return "(no subject)"
    # Some programs show a thread only if later subjects begin with Re.
    again = bool(note.thread.earlier) and not made.lower().startswith("re:")
    return letter_head.subject(f"Re: {made}") if again else made


def _earlier(thread: MailThread) -> list[tuple[str, str]]:
    ids = letter_head.earlier(thread.earlier)
    if not ids:
        return []
    return [("In-Reply-To", ids[-1]), ("References", "\r\n ".join(ids))]


def _part(kind: str, text: str) -> bytes:
    """Encode a text as a part that survives any server."""
    lines = [line.encode() for line in _BREAK.split(text)]
    printed = b"\r\n".join(_printable(line) for line in lines)
    packed = base64.encodebytes(b"\r\n".join(lines)).replace(b"\n", b"\r\n").rstrip()
    # Most stay readable in the source; another script would grow threefold.
    readable = len(printed) <= len(packed)
    encoding = "quoted-printable" if readable else "base64"
    fields = (("Content-Type", f"{kind}; charset=utf-8"), ("Content-Transfer-Encoding", encoding))
    return letter_head.head(fields) + (printed if readable else packed)


def _printable(line: bytes) -> bytes:
    """Encode one line as quoted-printable, wrapped."""
    signs = [bytes((byte,)) if byte in _PLAIN else b"=%02X" % byte for byte in line]
    for at, byte in enumerate(line):
        if byte in b" \t" and at < len(line) - 1:
            signs[at] = bytes((byte,))
    if line.startswith((b".", b"From ")):
        signs[0] = _AT_START[signs[0]]
    lines, current = [], b""
    for sign in signs:
        if len(current) + len(sign) > _LINE - 1:
            lines.append(current + b"=")
            current = _AT_START.get(sign, sign)
        else:
            current += sign
    return b"\r\n".join((*lines, current))


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
    tokens = list(_shown_blocks(_READER.parse(markdown)))
    return _CLEANER.clean(_READER.renderer.render(tokens, _READER.options, {})).strip()


def _shown_blocks(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield the blocks: wide tables can scroll, and columns keep their alignment."""
    for token in tokens:
        if token.type == "table_open":
            yield Token("div_open", "div", 1, block=True)
        if token.type in ("th_open", "td_open"):
            side = str(token.attrs.get("style", "")).removeprefix("text-align:")
            token.attrs = {"align": side or "left"}
        if token.type == "inline":
            token.children = list(_inline(token.children or []))
        yield token
        if token.type == "table_close":
            yield Token("div_close", "div", -1, block=True)


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
        filled = [
            [cell + " " * (most - _width(cell)) for cell, most in zip(row, widths, strict=True)]
            for row in cells
        ]
        head, *body = ("  ".join(row).rstrip() for row in filled)
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


def _width(some: str) -> int:
    """Return the width of a text in fixed-width columns."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in some)
    return len(some) + wide - sum(unicodedata.combining(char) > 0 for char in some)
