"""Sends one encrypted notice to a browser's push service, once, and reports the answer.

A browser named the address, so it is treated as hostile: resolved once, checked, and never inside
the own network. This module loads `cryptography` and the HTTP client.
"""

import hashlib
import json
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from remit.channels.push import encryption
from remit.store.push import PushSubscription
from remit.system import http_client, safe_http
from remit.system.http_client import HttpFailure, HttpReply
from remit.system.safe_http import Resolve, ResolvedAddress

TTL: Final = 86_400  # seconds that a service keeps it for an absent browser
PATIENCE: Final = 20.0
_GONE: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_TOPIC: Final = 24  # bytes; 32 characters, the most a service accepts


class PushMessage(Struct, frozen=True):
    """What a browser shows. A later message with the same `about` replaces it."""

    title: str
    body: str
    href: str
    about: str
    urgent: bool

    def packed(self) -> bytes:
        told = {"title": self.title, "body": self.body, "href": self.href, "tag": self.about}
        return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()

    @property
    def topic(self) -> str:
        """A name for its subject that reveals nothing to the service."""
        return encryption.encoded(hashlib.sha256(self.about.encode()).digest()[:_TOPIC])


class PushSender(Struct, frozen=True):
    """Who pushes, and to which networks."""

    key: str
    contact: str
    private: bool
    resolve: Resolve = safe_http.system


class PushResult(StrEnum):
    """The result of a push."""

    TAKEN = "taken"
    GONE = "gone"  # the subscription is gone
    LATER = "later"  # not accepted; may be retried
    LOST = "lost"  # not accepted, or unknown


async def send(
    sender: PushSender, to: PushSubscription, note: PushMessage, now: datetime
) -> tuple[PushResult, float | None]:
    """Post it once; also return how long the service asks to wait, if it does."""
    place = await safe_http.find(to.endpoint, private=sender.private, resolve=sender.resolve)
    if not isinstance(place, ResolvedAddress):
        return (
            PushResult.LATER if isinstance(place, safe_http.UnresolvedAddress) else PushResult.LOST
        ), None
    parts = urlsplit(to.endpoint)
    origin = f"{parts.scheme}://{parts.netloc}"
    headers = {
        "authorization": encryption.signature(sender.key, origin, sender.contact, now),
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        "ttl": str(TTL),
        "urgency": "high" if note.urgent else "normal",
        "topic": note.topic,
    }
    body = encryption.sealed(note.packed(), to.p256dh, to.auth)
    async with safe_http.open_client(place) as client:
        said = await http_client.post_bytes(client, to.endpoint, headers, body, PATIENCE)
    return _came(said), http_client.wait_of(said, now) if isinstance(said, HttpReply) else None


def _came(said: HttpReply | HttpFailure) -> PushResult:
    if isinstance(said, HttpFailure):
        # What may have arrived is not sent again.
        return PushResult.LOST if said.left else PushResult.LATER
    if said.status // 100 == 2:  # noqa: PLR2004 - as the codes are grouped
        return PushResult.TAKEN
    if said.status in _GONE:
        return PushResult.GONE
    patience = said.status == HTTPStatus.TOO_MANY_REQUESTS
    return PushResult.LATER if patience or said.status // 100 == 5 else PushResult.LOST  # noqa: PLR2004 - same
