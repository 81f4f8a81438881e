"""A mail, read from its bytes: who wrote, what it says, what it answers. It never raises.

Only as much is read as was fetched, and only a few parts of it: what is built to be long to read is
not read at all. Attachments are noted and never opened.
"""

import email
import hashlib
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from typing import Final, TypeAlias

import nh3

from remit.model.codec import Json, JsonMap
from remit.trigger import mail_auth, words
from remit.trigger.mail_auth import Sender

MOST_HEAD: Final = 65_536  # bytes of a head that are fetched
MOST: Final = 524_288  # bytes of a mail that are fetched
_MOST_PARTS: Final = 30
_MOST_THREADS: Final = 20
_ID: Final = re.compile(r"<[\x21-\x3b\x3d\x3f-\x7e]{1,250}>")
_BLOCK: Final = re.compile(r"(?i)<(?:br|/p|/div|/tr|/li|/h[1-6]|/blockquote)\b[^>]{0,200}>")
_WORDS: Final = ("text/plain", "text/html")
_BULK: Final = frozenset({"bulk", "list", "junk"})
_ROBOTS: Final = re.compile(r"(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply)(?:\+.*)?@.*")
_Mail: TypeAlias = "Message[str, str]"


@dataclass(frozen=True, slots=True)
class Head:
    """What the head of a mail says. `robot` is why nobody is taken to have written it."""

    sender: Sender | None
    message_id: str
    subject: str = ""
    threads: tuple[str, ...] = ()  # the ids of what it goes on with, oldest first, its own last
    robot: str = ""


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail as far as it was read."""

    head: Head
    text: str = ""
    attachments: tuple[JsonMap, ...] = ()


def head(raw: bytes, authserv_id: str) -> Head:
    """What the head says; `raw` may go on behind it."""
    first, _, _ = raw[:MOST_HEAD].replace(b"\r\n", b"\n").partition(b"\n\n")
    try:
        found = email.message_from_bytes(first + b"\n\n")
        return _head(found, raw, authserv_id)
    except Exception:  # noqa: BLE001 - whatever a stranger wrote there, it is his fault, not ours
        return Head(None, _named(raw), robot="its head cannot be read")


def letter(raw: bytes, authserv_id: str) -> Letter:
    """The whole of it, as far as it was fetched."""
    top = head(raw, authserv_id)
    if raw[:MOST].lower().count(b"boundary") > _MOST_PARTS:
        return Letter(top, "[This mail has too many parts to be read.]")
    try:
        found = email.message_from_bytes(raw[:MOST])
        parts = list(_parts(found))
        text = next(filter(None, map(_text, parts)), "")
        return Letter(top, text, tuple(_attachments(parts)))
    except Exception:  # noqa: BLE001 - as above
        return Letter(top, "[This mail cannot be read.]")


def _head(found: _Mail, raw: bytes, authserv_id: str) -> Head:
    every = {name: [str(each) for each in found.get_all(name, [])] for name in _READ}
    sender = mail_auth.sender(every["from"], every["authentication-results"], authserv_id)
    own = _ID.findall(" ".join(every["message-id"]))
    before = [each for name in ("references", "in-reply-to") for each in _ids(every[name])]
    ident = own[0] if len(own) == 1 else _named(raw)
    threads = list(dict.fromkeys([*before, ident]))
    return Head(
        sender=sender,
        message_id=ident,
        subject=_decoded(" ".join(every["subject"])),
        threads=tuple(threads[:1] + threads[1:][-_MOST_THREADS:]),
        robot=_robot(every, found.get_content_type(), sender),
    )


def _robot(every: dict[str, list[str]], kind: str, sender: Sender | None) -> str:
    """Why nobody is taken to have written a mail: an answer to it might go round for ever."""
    said = {name: " ".join(values).strip().lower() for name, values in every.items()}
    marks = (
        (said["auto-submitted"].split(";")[0].strip() not in ("", "no"), "a program sent it"),
        (bool(said["list-id"] or said["list-unsubscribe"]), "it came over a list"),
        (said["precedence"] in _BULK, "it was sent to many"),
        (said["return-path"] == "<>" or kind == "multipart/report", "it is a report"),
        (bool(said["x-autoreply"] or said["x-autorespond"]), "a program answered"),
        (sender is not None and bool(_ROBOTS.fullmatch(sender.address)), "a program sent it"),
    )
    return next((why for holds, why in marks if holds), "")


def _ids(headers: list[str]) -> list[str]:
    return _ID.findall(" ".join(headers)[:20_000])


def _named(raw: bytes) -> str:
    """A name for a mail that has none of its own, or more than one."""
    return f"<sha256-{hashlib.sha256(raw).hexdigest()[:32]}@nowhere>"


def _decoded(header: str) -> str:
    """A header's words, with whatever was encoded in them, on one line."""
    from email.header import decode_header, make_header  # noqa: PLC0415 - only mail has them

    try:
        return words.one_line(str(make_header(decode_header(header[:2000]))), 300)
    except (ValueError, LookupError, UnicodeError):
        return words.one_line(header, 300)


def _parts(found: _Mail) -> Iterator[_Mail]:
    for n, part in enumerate(found.walk()):
        if n >= _MOST_PARTS:
            return
        if not part.is_multipart():
            yield part


def _text(part: _Mail) -> str:
    """The words of a part, if it is one to be read."""
    kind = part.get_content_type()
    if kind not in _WORDS or _is_attached(part):
        return ""
    text = _unpacked(part)
    if kind == "text/html":
        text = html.unescape(nh3.clean(_BLOCK.sub("\n", text), tags=set()))
    return words.bounded(text)


def _unpacked(part: _Mail) -> str:
    raw = part.get_payload(decode=True)
    raw = raw if isinstance(raw, bytes) else b""
    try:
        return raw.decode(part.get_content_charset("utf-8"), "replace")
    except LookupError:
        return raw.decode("utf-8", "replace")


def _attachments(parts: list[_Mail]) -> Iterator[JsonMap]:
    for part in parts:
        if _is_attached(part) or part.get_content_type() not in _WORDS:
            name: Json = words.one_line(str(part.get_filename() or "")) or None
            yield {"name": name, "type": words.one_line(part.get_content_type(), 100)}


def _is_attached(part: _Mail) -> bool:
    return part.get_content_disposition() == "attachment" or bool(part.get_filename())


_READ: Final = (
    *("from", "authentication-results", "message-id", "references", "in-reply-to", "subject"),
    *("auto-submitted", "list-id", "list-unsubscribe", "precedence", "return-path"),
    *("x-autoreply", "x-autorespond"),
)
