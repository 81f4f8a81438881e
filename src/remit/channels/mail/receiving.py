"""Parses a mail: who wrote it, what it says, what it replies to. It never raises.

Only what was fetched is read, and only a few parts of it, so that a mail built to be slow is not
read at all. Attachments are handed on as they are, and never opened.
"""

import email
import hashlib
import re
from collections.abc import Iterator
from email.message import Message
from typing import Final, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from remit.channels.mail import body_text, quote_shapes, quoted_text, sender_authentication
from remit.channels.mail.body_text import MailBody
from remit.channels.mail.quoted_text import SplitMail
from remit.channels.mail.sender_authentication import VerifiedSender
from remit.language import outside_text
from remit.model.codec import Json, JsonMap
from remit.model.task_file import FileContent

MAX_HEAD_BYTES: Final = 65_536  # bytes of a header that are fetched
MAX_BYTES: Final = 524_288  # bytes of a mail that are fetched if its attachments are not wanted
MAX_BYTES_WITH_FILES: Final = 25_000_000
_MAX_FILES: Final = 10
_MAX_BORDERS: Final = 8  # in a mail with large attachments: each costs time for each line
_MAX_PARTS: Final = 30
_MAX_THREADS: Final = 20
_ID: Final = re.compile(r"<[\x21-\x3b\x3d\x3f-\x7e]{1,250}>")
_PLAIN: Final = "text/plain"
_HTML: Final = "text/html"
_TOO_MANY: Final = "[This mail has too many parts to be read.]"
_UNREADABLE: Final = "[This mail cannot be read.]"
_BULK: Final = frozenset({"bulk", "list", "junk"})
_ROBOTS: Final = re.compile(r"(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply)(?:\+.*)?@.*")
_Mail: TypeAlias = "Message[str, str]"


class MailHead(Struct, frozen=True):
    """A parsed header. `robot`: why the mail counts as automatic."""

    sender: VerifiedSender | None
    message_id: str
    subject: str = ""
    threads: tuple[str, ...] = ()  # the ids of its thread, oldest first, its own last
    robot: str = ""

    @property
    def is_answer(self) -> bool:
        """Whether it continues an earlier mail, by its thread or its subject."""
        return len(self.threads) > 1 or quote_shapes.has_prefix(self.subject)


class IncomingMail(Struct, frozen=True):
    """A mail as far as it was read."""

    head: MailHead
    text: str = ""
    words: SplitMail = field(default_factory=SplitMail)
    attachments: tuple[JsonMap, ...] = ()
    files: tuple[FileContent | None, ...] = ()  # of each attachment; None if it is not whole


def head(raw: bytes, authserv_id: str) -> MailHead:
    """Parse the header; `raw` may contain more."""
    first, _, _ = raw[:MAX_HEAD_BYTES].replace(b"\r\n", b"\n").partition(b"\n\n")
    try:
        found = email.message_from_bytes(first + b"\n\n")
        return _head(found, raw, authserv_id)
    except Exception:  # noqa: BLE001 - a stranger may have written anything there
        return MailHead(None, _id_of_bytes(raw), robot="its head cannot be read")


def letter(raw: bytes, authserv_id: str) -> IncomingMail:
    """Parse the whole mail, as far as it was fetched."""
    top = head(raw, authserv_id)
    borders = raw.lower().count(b"boundary")
    if borders > (_MAX_PARTS if len(raw) <= MAX_BYTES else _MAX_BORDERS):
        return IncomingMail(top, _TOO_MANY, SplitMail(quoted=_TOO_MANY, certain=False))
    try:
        found = email.message_from_bytes(raw[:MAX_BYTES_WITH_FILES])
        parts = list(_parts(found))
        read = [each for each in parts if _is_read(each)]
        text, split = _words(read, is_answer=top.is_answer)
        attached = [each for each in parts if not _is_read(each)]
        cut = len(raw) >= MAX_BYTES_WITH_FILES
        files = (None if cut else _file(part) for part in attached[:_MAX_FILES])
        return IncomingMail(top, text, split, tuple(_attachments(attached)), tuple(files))
    except Exception:  # noqa: BLE001 - as above
        return IncomingMail(top, _UNREADABLE, SplitMail(quoted=_UNREADABLE, certain=False))


def _head(found: _Mail, raw: bytes, authserv_id: str) -> MailHead:
    every: dict[str, list[str]] = {name: [] for name in _READ}
    for name, value in found.raw_items():
        # Some programs write UTF-8 into a header as it is.
        text = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        every.setdefault(name.lower(), []).append(text)
    sender = sender_authentication.sender(
        every["from"], every["authentication-results"], authserv_id
    )
    own = _ID.findall(" ".join(every["message-id"]))
    earlier = (" ".join(every[name])[:20_000] for name in ("references", "in-reply-to"))
    before = [each for text in earlier for each in _ID.findall(text)]
    ident = own[0] if len(own) == 1 else _id_of_bytes(raw)
    threads = list(dict.fromkeys([*before, ident]))
    return MailHead(
        sender=sender,
        message_id=ident,
        subject=_decode_header_words(" ".join(every["subject"])),
        threads=tuple(threads[:1] + threads[1:][-_MAX_THREADS:]),
        robot=_robot(every, found.get_content_type(), sender),
    )


def _robot(every: dict[str, list[str]], kind: str, sender: VerifiedSender | None) -> str:
    """Return why a mail counts as automatic: a reply could loop for ever."""
    text = {name: " ".join(values).strip().lower() for name, values in every.items()}
    auto = text["auto-submitted"].split(";")[0].strip()
    marks = (
        (auto not in ("", "no"), "a program sent it"),
        (bool(text["list-id"] or text["list-unsubscribe"]), "it came over a list"),
        (text["precedence"] in _BULK, "it was sent to many"),
        (text["return-path"] == "<>" or kind == "multipart/report", "it is a report"),
        (bool(text["x-autoreply"] or text["x-autorespond"]), "a program answered"),
        (sender is not None and bool(_ROBOTS.fullmatch(sender.address)), "a program sent it"),
    )
    return next((why for holds, why in marks if holds), "")


def _id_of_bytes(raw: bytes) -> str:
    """Return an id for a mail that has none, or more than one."""
    return f"<sha256-{hashlib.sha256(raw).hexdigest()[:32]}@nowhere>"


def _decode_header_words(header: str) -> str:
    """Decode a header's words to one line."""
    from email.header import decode_header, make_header  # noqa: PLC0415 - only mail has them

    try:
        return outside_text.one_line(str(make_header(decode_header(header[:2000]))), 300)
    except (ValueError, LookupError, UnicodeError):
        return outside_text.one_line(header, 300)


def _parts(found: _Mail) -> Iterator[_Mail]:
    """Yield every part of a mail; an attached mail is one part and is not opened."""
    waits = [found]
    for _ in range(_MAX_PARTS):
        if not waits:
            return
        part = waits.pop(0)
        within = part.get_payload() if part.get_content_maintype() == "multipart" else None
        if isinstance(within, list):
            waits = [*(each for each in within if isinstance(each, Message)), *waits]
        else:
            yield part


def _words(read: list[_Mail], *, is_answer: bool) -> tuple[str, SplitMail]:
    """Return all words of a mail and whose they are; two parts of one kind are uncertain."""
    bodies = [(each.get_content_type(), _body(each)) for each in read]
    plain = next((body for kind, body in bodies if kind == _PLAIN and body.text), None)
    html = next((body for kind, body in bodies if kind == _HTML and body.text), None)
    split = quoted_text.split(plain, html, is_answer=is_answer)
    rest = [body.text for _, body in bodies if body.text and body is not plain and body is not html]
    if rest:
        others = "\n\n".join(filter(None, [split.quoted, *rest]))
        split = replace(split, quoted=others, certain=False)
    text = "\n\n".join([*(body.text for body in (plain or html,) if body), *rest])
    own = tuple(filter(None, map(outside_text.bound_text, split.own)))
    return outside_text.bound_text(text), replace(
        split, own=own, quoted=outside_text.bound_text(split.quoted)
    )


def _body(part: _Mail) -> MailBody:
    if part.get_content_type() == _HTML:
        return body_text.read_html(_part_text(part))
    flowed = str(part.get_param("format", "")).lower() == "flowed"
    delsp = str(part.get_param("delsp", "")).lower() == "yes"
    return body_text.read_plain(_part_text(part), flowed=flowed, delsp=delsp)


def _is_read(part: _Mail) -> bool:
    attached = part.get_content_disposition() == "attachment" or bool(part.get_filename())
    return part.get_content_type() in (_PLAIN, _HTML) and not attached


def _part_text(part: _Mail) -> str:
    raw = part.get_payload(decode=True)
    raw = raw[:MAX_BYTES] if isinstance(raw, bytes) else b""
    try:
        return raw.decode(part.get_content_charset("utf-8"), "replace")
    except LookupError:
        return raw.decode("utf-8", "replace")


def _attachments(parts: list[_Mail]) -> Iterator[JsonMap]:
    for part in parts:
        name: Json = (
            outside_text.one_line(_decode_header_words(str(part.get_filename() or ""))) or None
        )
        yield {"name": name, "type": outside_text.one_line(part.get_content_type(), 100)}


def _file(part: _Mail) -> FileContent | None:
    content, kind = part.get_payload(decode=True), part.get_content_type()
    name = _decode_header_words(str(part.get_filename() or ""))
    return FileContent(name, kind, content) if isinstance(content, bytes) else None


_READ: Final = (
    *("from", "authentication-results", "message-id", "references", "in-reply-to", "subject"),
    *("auto-submitted", "list-id", "list-unsubscribe", "precedence", "return-path"),
    *("x-autoreply", "x-autorespond"),
)
