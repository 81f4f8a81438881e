"""Parses bounce reports from the bytes of a mail. It never raises.

Anybody who received a letter knows its id and could forge a report. So a report is believed only
about a delivery that is unknown, and never causes a second send without asking.
"""

import email
import re
from collections.abc import Iterator
from email.message import Message
from typing import Final, TypeAlias

from msgspec import Struct

from remit.channels.mail import letter_head
from remit.model.delivery import Refused
from remit.model.ids import DeliveryId
from remit.system.http_client import clean

MOST: Final = 262_144  # bytes of a report that are read
_MOST_PARTS: Final = 50
_STATUS: Final = re.compile(r"[245]\.[0-9]{1,3}\.[0-9]{1,3}")
_Mail: TypeAlias = "Message[str, str]"


class BouncedMail(Struct, frozen=True):
    """A letter that was sent and did not arrive."""

    delivery_id: DeliveryId
    why: str
    recipient: str | None = None  # as in the report
    for_good: bool = True  # the status begins with 5, not 4

    @property
    def answer(self) -> Refused:
        """Return what it means for the delivery."""
        return Refused(f"The letter came back: {self.why}.")


def read(raw: bytes, domain: str) -> BouncedMail | None:
    """Return what a mail reports about our letter from this domain; None if nothing."""
    try:
        return _read(email.message_from_bytes(raw[:MOST]), domain)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None  # an unreadable mail reports nothing


def is_report(content_type: str) -> bool:
    """Whether a mail of this type may report a failure."""
    kind = content_type.lower()
    return "multipart/report" in kind and "delivery-status" in kind


def _read(mail: _Mail, domain: str) -> BouncedMail | None:
    if not is_report(_text(mail, "Content-Type")):
        return None
    parts = [part for _, part in zip(range(_MOST_PARTS), mail.walk(), strict=False)]
    blocks = [block for part in parts for block in _blocks(part)]
    failed = next((each for each in blocks if _text(each, "Action").lower() == "failed"), None)
    key = _key(mail, parts, blocks, domain)
    if failed is None or key is None:
        return None
    status = _STATUS.search(_text(failed, "Status"))
    reason = _after(_text(failed, "Diagnostic-Code")) or "the report gives no reason"
    return BouncedMail(
        DeliveryId(key),
        clean(f"{status[0]} {reason}" if status and status[0] not in reason else reason, ""),
        clean(_after(_text(failed, "Final-Recipient")), "") or None,
        not (status and status[0].startswith("4")),
    )


def _blocks(part: _Mail) -> Iterator[_Mail]:
    """Yield the groups of fields in the machine-readable part."""
    if part.get_content_type() == "message/delivery-status":
        payload = part.get_payload()
        yield from (block for block in payload if isinstance(block, Message))


def _key(mail: _Mail, parts: list[_Mail], blocks: list[_Mail], domain: str) -> str | None:
    """Return the delivery it is about: by envelope, returned letter, or thread."""
    envelopes = [f"<{_text(block, 'Original-Envelope-Id').strip()}@{domain}>" for block in blocks]
    originals = [each for part in parts[1:] for each in _originals(part)]
    thread = [_text(mail, "In-Reply-To"), _text(mail, "References")]
    for text in (*envelopes, *originals, *thread):
        for found in letter_head.ids_in(text):
            key = letter_head.key_in(found, domain)
            if key is not None:
                return key
    return None


def _originals(part: _Mail) -> Iterator[str]:
    """Yield the ids of the returned letter or its header."""
    yield _text(part, "Message-ID")
    if part.get_content_type() == "text/rfc822-headers":
        content = part.get_payload(decode=True)
        if isinstance(content, bytes):
            yield _text(email.message_from_bytes(content), "Message-ID")


def _text(mail: _Mail, name: str) -> str:
    return str(mail.get(name, ""))


def _after(typed: str) -> str:
    """Return the value of a field like `rfc822; nina@example.org`."""
    return typed.partition(";")[2].strip()
