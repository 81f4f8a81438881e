"""Composes a letter: the exact bytes of one delivery to one address.

The same delivery gives the same bytes, except for the date. Nothing is added to the text that
passed the gate but a title, a layout, and the same text as plain text.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from email.utils import format_datetime
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from remit.channels.mail import letter_head, letter_html
from remit.channels.mail.letter_head import MailAddress
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
    """What a letter is made from."""

    key: str
    to: MailAddress
    body: str  # markdown
    thread: MailThread = MailThread()
    files: tuple[FileContent, ...] = ()


def compose(note: MailContent, sender: MailSender, now: datetime) -> OutgoingMail:
    """Return the letter; BadInput if it cannot be written without changing its text."""
    made = letter_head.message_id(note.key, sender.address.domain)
    utf8 = not (sender.is_ascii and note.to.is_ascii)
    words = letter_html.plain_text(note.body)
    title = _subject(note, words)
    plain = _part("text/plain", words)
    rich = _part("text/html", letter_html.page(note.body, title))
    kind, parts = _joined("alternative", (plain, rich))
    if note.files:
        text = letter_head.head((("Content-Type", kind),)) + parts.rstrip()
        kind, parts = _joined("mixed", (text, *map(_file_part, note.files)))
    fields = [
        ("Date", format_datetime(now)),
        ("From", letter_head.mailbox(sender.address)),
        *([("Reply-To", letter_head.mailbox(sender.reply_to))] if sender.reply_to else []),
        ("To", letter_head.mailbox(note.to)),
        ("Subject", letter_head.written(title, len("Subject: "))),
        ("Message-ID", made),
        *_earlier(note.thread),
        ("Auto-Submitted", "auto-generated"),
        ("MIME-Version", "1.0"),
        ("Content-Type", kind),
    ]
    return OutgoingMail(
        made, sender.address, note.to, letter_head.head(fields, utf8=utf8) + parts, utf8
    )


def _joined(kind: str, parts: Sequence[bytes]) -> tuple[str, bytes]:
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
    words = letter_html.plain_text(body) if words is None else words
    made = letter_head.subject(letter_html.heading(body))
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
    fields = (
        ("Content-Type", f"{kind}; charset=utf-8"),
        ("Content-Transfer-Encoding", encoding),
    )
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
